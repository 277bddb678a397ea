/**
 * The interface to kept results: large values, and files that calls returned. Each belongs to one principal and expires.
 * The result of an execution has a sample of a large value and the handle by which the rest is read.
 */

import { GloveboxError, describeError, isJsonObject } from "../domain/index.ts";
import type {
  ExecutionId,
  ExecutionResult,
  Json,
  LabelSource,
  Limits,
  PrincipalId,
  ResultId,
  ResultQuery,
} from "../domain/index.ts";
import type { ResultSummary } from "../store/index.ts";
import type { RunSlice } from "../timing/index.ts";

/** Whose result it is, and where it came from. */
export interface ResultOwner {
  readonly principal: PrincipalId;
  readonly execution: ExecutionId;
  /** What the session that made it had read. */
  readonly labels: readonly LabelSource[];
}

/** Bytes that are not JSON. */
export interface KeptFile {
  readonly mimeType: string;
  readonly body: Uint8Array;
}

/** A part of a result. */
export interface ResultPart {
  readonly value: Json;
  /** The total number of items, entries, characters, bytes or matches, when a page of them was read. */
  readonly total?: number;
  /** The offset of the next page, if there is one. */
  readonly next?: number;
}

/** A part of a result, with the description of the whole. */
export interface KeptResultPart extends ResultPart {
  readonly summary: ResultSummary;
}

export interface Results {
  keepValue(owner: ResultOwner, value: Json): Promise<NonNullable<ExecutionResult["truncated"]>>;
  keepFile(owner: ResultOwner, file: KeptFile): Promise<ResultId>;
  /**
   * Throws `REQUEST_NOT_FOUND` for an invalid handle, an expired result or another principal's; `REQUEST_INVALID` for a
   * path that does not exist or a page of a value without parts. `spend` runs and counts the work of this thread; by
   * default nothing is counted.
   */
  read(principal: PrincipalId, rawHandle: unknown, query: ResultQuery, spend?: RunSlice): Promise<KeptResultPart>;
  /** Describes it without reading it. Throws like `read`. */
  summarize(principal: PrincipalId, rawHandle: unknown): Promise<ResultSummary>;
  /** The file of a handle; `undefined` for a kept value and for what `read` would not find. */
  findFile(principal: PrincipalId, handle: ResultId): Promise<(KeptFile & Pick<ResultSummary, "labels">) | undefined>;
}

/** A value that fits into `outputBytes` together with its logs is unchanged. One that cannot be stored is a failure. */
export async function keepLarge(
  result: ExecutionResult,
  { outputBytes }: Limits,
  keep: (value: Json) => Promise<NonNullable<ExecutionResult["truncated"]>>,
): Promise<ExecutionResult> {
  const { value, ...rest } = result;
  if (value === undefined || result.stats.outputBytes <= outputBytes) return result;
  try {
    return { ...rest, value: sampleValue(value), truncated: await keep(value) };
  } catch (thrown) {
    if (!(thrown instanceof GloveboxError) || thrown.code !== "LIMIT_SIZE") throw thrown;
    return { ...rest, state: "failed", error: describeError(thrown) };
  }
}

/** The largest sample. */
export const MAX_SAMPLE_BYTES = 2_000;

interface SampleSize {
  readonly items: number;
  readonly keys: number;
  readonly chars: number;
  readonly depth: number;
}

/** From large to small; the first whose sample fits is used, and the last always fits. */
const MEASURES: readonly SampleSize[] = [
  { items: 10, keys: 30, chars: 1_000, depth: 4 },
  { items: 5, keys: 20, chars: 200, depth: 4 },
  { items: 3, keys: 10, chars: 80, depth: 3 },
  { items: 2, keys: 5, chars: 30, depth: 2 },
  { items: 1, keys: 3, chars: 10, depth: 1 },
];
const KEY_CHARS = 100;
const LEFT_OUT = "…";

/** A small part of a value that is still JSON: first items, first keys, first characters. `…` marks what was left out. */
export function sampleValue(value: Json): Json {
  for (const measure of MEASURES) {
    const sample = take(value, measure);
    if (Buffer.byteLength(JSON.stringify(sample)) <= MAX_SAMPLE_BYTES) return sample;
  }
  return LEFT_OUT;
}

function take(value: Json, measure: SampleSize): Json {
  if (typeof value === "string") return takeText(value, measure.chars);
  if (typeof value !== "object" || value === null) return value;
  if (measure.depth === 0) return LEFT_OUT;
  const inner = { ...measure, depth: measure.depth - 1 };
  if (!isJsonObject(value)) return value.slice(0, measure.items).map((item) => take(item, inner));
  const entries = Object.entries(value).slice(0, measure.keys);
  return Object.fromEntries(entries.map(([key, item]) => [takeText(key, KEY_CHARS), take(item, inner)]));
}

/** Half of a surrogate pair at the cut becomes U+FFFD. */
function takeText(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}${LEFT_OUT}`;
}
