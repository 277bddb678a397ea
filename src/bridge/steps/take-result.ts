/** Steps that turn what an upstream answered into the JSON that enters the isolate. */

import { GloveboxError, depthOf, isJsonObject } from "../../domain/index.ts";
import type { Json, Limits, ResultId, Tool } from "../../domain/index.ts";
import { writeJson } from "../../text/index.ts";
import { runInSlices } from "../../timing/index.ts";
import type { SlicedWork } from "../../timing/index.ts";

import { checkSchema } from "../check-schema.ts";
import type { AttachedFile, Crossing, CallAnswer } from "../crossing.ts";

/** The schema of a larger result is checked in another turn. */
const LARGE_BYTES = 64 * 1024;
const MAX_FILES = 100;
const BASE64_CHARS = 4;
const BASE64_BYTES = 3;

/** Shapes are shared by all sessions, and a tool can return what it is given: so none is learned beside labeled data. */
export function learnShape({ bridge, tool, seq, target, value }: Crossing): void {
  const { learn, flow } = bridge.options;
  const labels = flow?.sourcesWith(tool, seq) ?? [];
  if (!target.answer && labels.length === 0) learn?.(tool, value);
}

/** Files never enter an isolate: the program gets the handle of each in its place. */
export function storeAttachments(crossing: Crossing): Promise<void> | undefined {
  const { bridge, tool, seq, value, attachments } = crossing;
  const { keepFile, limits, flow } = bridge.options;
  if (attachments.length === 0 || !keepFile) return undefined;
  const labels = flow?.sourcesWith(tool, seq) ?? [];
  const keep = (file: AttachedFile): Promise<ResultId> => keepFile(file, labels);
  return keepAttachments({ value, attachments }, limits.resultBytes, keep).then((kept) => void (crossing.value = kept));
}

/** A large result is written in slices. */
export function takeResult(crossing: Crossing): Promise<void> | undefined {
  const { bridge, tool, value } = crossing;
  const take = (json: string): undefined => void (crossing.reply = { ok: true, json });
  const work = parseResult(tool, value, bridge.options.limits);
  const first = work.next();
  return first.done === true ? take(first.value) : runInSlices(work, bridge.hostTime.spend).then(take);
}

/** `maxBytes` bounds all files of the call together; more throws `LIMIT_SIZE` before any is kept. */
export async function keepAttachments(
  { value, attachments }: CallAnswer,
  maxBytes: number,
  keep: (file: AttachedFile) => Promise<ResultId>,
): Promise<Json> {
  const chars = attachments.reduce((sum, { base64 }) => sum + base64.length, 0);
  if (attachments.length > MAX_FILES || (chars / BASE64_CHARS) * BASE64_BYTES > maxBytes) throw tooManyFiles(maxBytes);
  let kept = value;
  for (const { path, kind, mimeType, base64 } of attachments) {
    const body = Buffer.from(base64, "base64");
    const description = { type: kind, mimeType, bytes: body.byteLength, handle: await keep({ mimeType, body }) };
    kept = placeAt(kept, path, description);
  }
  return kept;
}

/** Replaces the placeholder and copies what leads to it; a path that leads nowhere changes nothing. */
function placeAt(value: Json, [step, ...rest]: readonly (string | number)[], description: Json): Json {
  if (step === undefined)
    return isJsonObject(value) && isJsonObject(description) ? { ...value, ...description } : description;
  if (Array.isArray(value))
    return value.map((item: Json, at) => (at === step ? placeAt(item, rest, description) : item));
  if (!isJsonObject(value) || !Object.hasOwn(value, String(step))) return value;
  return { ...value, [step]: placeAt(value[String(step)] ?? null, rest, description) };
}

function tooManyFiles(maxBytes: number): GloveboxError {
  const message = `The call brought more than ${MAX_FILES} files or more than ${maxBytes} bytes of them (resultBytes)`;
  return new GloveboxError("LIMIT_SIZE", message, { hint: "Ask the tool for fewer or smaller files" });
}

/** The JSON text of a result within the limits; a declared output schema is held against the server. */
export function* parseResult(tool: Tool, value: Json, limits: Limits): SlicedWork<string> {
  if (depthOf(value, limits.depth) > limits.depth) {
    const message = `The result of ${tool.address} nests deeper than ${limits.depth} levels (depth)`;
    throw new GloveboxError("LIMIT_SIZE", message);
  }
  const json = yield* writeJson(value);
  const bytes = Buffer.byteLength(json);
  if (bytes > limits.resultBytes) {
    const message = `The result of ${tool.address} has ${bytes} bytes; the limit is ${limits.resultBytes} (resultBytes)`;
    throw new GloveboxError("LIMIT_SIZE", message, { hint: "Ask the tool for less: a filter, a page, fewer fields" });
  }
  if (bytes > LARGE_BYTES) yield;
  const problems = tool.output ? checkSchema(tool.output, value, "result") : [];
  if (problems.length > 0) {
    const message = `${tool.address} returned a result that does not fit its own output schema: ${problems.join("; ")}`;
    const hint = "The server is at fault; report it to its operator";
    throw new GloveboxError("UPSTREAM_RESULT_INVALID", message, { hint });
  }
  return json;
}
