/**
 * A past execution as one document, for a replay on another machine: the request, the program, its seed and clock, every
 * delivery and the result. Its digest detects damage; it is not a signature.
 */

import { z } from "zod";

import { digestOf } from "../../text/index.ts";
import { GloveboxError, defined, depthOf, isJsonObject, mapTexts } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

import { CALL_RECORD, DELIVERY, REQUEST, START } from "../journal-schema.ts";
import type { KeptExecution } from "./kept.ts";

export const RECORDING_KIND = "glovebox.recording";
const FORMAT = 1;
/** Deeper than any input, result or call with its surroundings. */
const DEEPEST = 1_000;

/** `hide` removes secrets first; `masked` is true when that changed something. `version` is that of Glovebox. */
export function toRecordingFile(
  { execution, recording, result }: KeptExecution,
  { version, hide }: { readonly version: string; readonly hide: (text: string) => string },
): JsonObject {
  const { request, started: begun, deliveries: given } = recording;
  const { session: _, passesLabels: __, ...principal } = request.principal;
  const whole: Json = JSON.parse(
    JSON.stringify({ execution, request: { ...request, principal }, begun, given, result }),
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

/** Throws `REQUEST_INVALID` for another document, one of a newer version, or one whose digest does not match. */
export function parseRecordingFile(raw: unknown): KeptExecution {
  if (!isJsonObject(raw) || raw["kind"] !== RECORDING_KIND) throw invalid("This is not an export of an execution");
  if (raw["format"] !== FORMAT)
    throw invalid(`The export has format ${JSON.stringify(raw["format"])}; this version reads ${FORMAT}`);
  if (depthOf(raw, DEEPEST) > DEEPEST) throw invalid(`The export nests deeper than ${DEEPEST} levels`);
  const { digest, ...body } = raw;
  if (digest !== digestOf(body))
    throw invalid("The export was changed after it was written: its digest does not match");
  const parsed = RECORDING.safeParse(body);
  if (!parsed.success) throw invalid(`The export is incomplete: ${parsed.error.issues[0]?.path.join(".") ?? ""}`);
  const { execution, request, begun, given, result } = body;
  const { engine = "isolate" } = parsed.data.begun;
  const started = { ...(isJsonObject(begun) ? begun : {}), engine };
  const recording = { request, started, deliveries: given, isWhole: true };
  return { execution, recording, ...defined({ result }), isMasked: parsed.data.masked } as unknown as KeptExecution;
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", message, {
    hint: "Use a file that `glovebox executions export` has written",
  });
}
