/** Steps that turn what an upstream answered into the JSON that enters the isolate. */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Json, Limits, ResultId, Tool } from "../../domain/index.ts";
import { findExcess, writeJson } from "../../text/index.ts";
import type { SlicedWork } from "../../timing/index.ts";

import { checkSchema } from "../check-schema.ts";
import { startInSlices } from "../crossing.ts";
import type { AttachedFile, BridgeState, Crossing, CallAnswer } from "../crossing.ts";

/** The schema of a larger result is checked in another turn. */
const LARGE_BYTES = 64 * 1024;
const MAX_FILES = 100;
const BASE64_CHARS = 4;
const BASE64_BYTES = 3;

/** Shapes are shared by all sessions, and a tool can return what it is given: so none is learned beside labeled data. */
export function learnShape({ bridge, tool, seq, target, value, call }: Crossing): void {
  const { learn, flow } = bridge.options;
  const labels = flow?.sourcesWith(tool, seq) ?? [];
  if (!target.answer && labels.length === 0) learn?.(tool, call.args, value);
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
  const { bridge, target, tool, value } = crossing;
  const take = (json: string): void => void (crossing.reply = { ok: true, json });
  const { isLenient, limits } = bridge.options;
  // A builtin has no upstream that could be lenient.
  const mayDiffer = target.answer === undefined && isLenient?.(tool) === true;
  const onProblems = mayDiffer ? (problems: readonly string[]) => note(bridge, tool, problems) : undefined;
  return startInSlices(parseResult(tool, value, limits, onProblems), bridge.hostTime.spend, take);
}

/** More findings do not help. */
const MAX_MISMATCHES = 20;
const MAX_PROBLEM_CHARS = 200;

/** Once for each tool and place: the items of an array are one place. */
function note({ mismatches }: BridgeState, { address }: Tool, problems: readonly string[]): void {
  for (const problem of problems) {
    const place = problem.replaceAll(/\[\d+\]/g, "[]").slice(0, MAX_PROBLEM_CHARS);
    const key = `${address} ${place}`;
    if (mismatches.size < MAX_MISMATCHES && !mismatches.has(key))
      mismatches.set(key, { tool: address, problem: place });
  }
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

/**
 * The JSON text of a result within the limits; a declared output schema is held against the server. With `onProblems`, a
 * result that does not match the schema is passed on.
 */
export function* parseResult(
  tool: Tool,
  value: Json,
  limits: Limits,
  onProblems?: (problems: readonly string[]) => void,
): SlicedWork<string> {
  const excess = yield* findExcess(value, limits.depth);
  if (excess) {
    const deep = `nests deeper than ${limits.depth} levels (depth)`;
    const problem = excess.of === "depth" ? deep : `has an object with more than ${excess.most} keys`;
    throw new GloveboxError("LIMIT_SIZE", `The result of ${tool.address} ${problem}`);
  }
  const json = yield* writeJson(value);
  const bytes = Buffer.byteLength(json);
  if (bytes > limits.resultBytes) {
    const message = `The result of ${tool.address} has ${bytes} bytes; the limit is ${limits.resultBytes} (resultBytes)`;
    throw new GloveboxError("LIMIT_SIZE", message, { hint: "Ask the tool for less: a filter, a page, fewer fields" });
  }
  if (bytes > LARGE_BYTES) yield;
  const problems = tool.output ? yield* checkSchema(tool.output, value, "result") : [];
  if (problems.length > 0 && onProblems) onProblems(problems);
  else if (problems.length > 0) {
    const message = `${tool.address} returned a result that does not fit its own output schema: ${problems.join("; ")}`;
    const hint = "The server is at fault; report it to its operator";
    throw new GloveboxError("UPSTREAM_RESULT_INVALID", message, { hint });
  }
  return json;
}
