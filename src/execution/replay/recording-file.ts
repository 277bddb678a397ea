/**
 * A past execution as one document, to be shown again on another machine: the request, the program, where chance and
 * time began, everything that it was given, and how it ended. Its digest tells damage; it is no signature.
 */

import { z } from "zod";

import { digestOf } from "../../text/index.ts";
import { GloveboxError, depthOf, isJsonObject, mapTexts } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

import { CALL_RECORD, DELIVERY, REQUEST, START } from "../journal-schema.ts";
import type { KeptExecution } from "./kept.ts";

export const RECORDING_KIND = "glovebox.recording";
const FORMAT = 1;
/** More than an input, a result or a program's calls may have, and what stands around them. */
const DEEPEST = 1_000;

export interface RecordingFacts {
  /** Of this product. */
  readonly version: string;
  /** Takes known secrets out of a text. */
  readonly hide: (text: string) => string;
}

/** Secrets are taken out first; where that changed something, `masked` says so. */
export function toRecordingFile(kept: KeptExecution, { version, hide }: RecordingFacts): JsonObject {
  const { execution, recording, result } = kept;
  const { request, started: begun, deliveries: given } = recording;
  const { session: _, ...principal } = request.principal;
  const asked = { ...request, principal };
  const whole: Json = JSON.parse(
    JSON.stringify({ execution, request: asked, begun, given, ...(result && { result }) }),
  );
  const hidden = mapTexts(whole, hide);
  const masked = JSON.stringify(hidden) !== JSON.stringify(whole);
  if (!isJsonObject(hidden)) throw new TypeError("A recording is an object");
  const body = { kind: RECORDING_KIND, format: FORMAT, version, engine: begun.engine, masked, ...hidden };
  return { ...body, digest: digestOf(body) };
}

const TEXT = z.string();

const RECORDING = z.object({
  execution: z.object({ id: TEXT, principal: TEXT, source: TEXT, startedAt: z.number() }),
  request: REQUEST,
  begun: START,
  given: z.array(DELIVERY),
  masked: z.boolean(),
  result: z
    .object({ state: TEXT, logs: z.array(z.object({ level: TEXT, text: TEXT })), calls: z.array(CALL_RECORD) })
    .loose()
    .optional(),
});

/** Throws `REQUEST_INVALID` for what is no such document, was made by a newer version, or does not fit its digest. */
export function parseRecordingFile(raw: unknown): KeptExecution {
  if (!isJsonObject(raw) || raw["kind"] !== RECORDING_KIND) throw invalid("It is no export of an execution");
  if (raw["format"] !== FORMAT)
    throw invalid(`Its format is ${JSON.stringify(raw["format"])}, and this version knows ${FORMAT}`);
  if (depthOf(raw, DEEPEST) > DEEPEST) throw invalid(`It nests deeper than ${DEEPEST} levels`);
  const { digest, ...body } = raw;
  if (digest !== digestOf(body))
    throw invalid("It was changed after it was written: its digest is that of another text");
  const parsed = RECORDING.safeParse(body);
  if (!parsed.success) throw invalid(`It is not whole: ${parsed.error.issues[0]?.path.join(".") ?? ""}`);
  const { execution, request, begun, given, result } = body;
  return {
    execution,
    recording: { request, started: begun, deliveries: given, isWhole: true },
    ...(result !== undefined && { result }),
    isMasked: parsed.data.masked,
  } as unknown as KeptExecution;
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", message, {
    hint: "Give it a file that `glovebox executions export` has written",
  });
}
