/** Stores a large value: the result keeps a sample and the handle by which the rest is read. */

import { GloveboxError, describeError, isJsonObject } from "../domain/index.ts";
import type { ExecutionResult, Json, JsonObject, Limits } from "../domain/index.ts";

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
  if (Array.isArray(value)) return value.slice(0, measure.items).map((item: Json) => take(item, inner));
  return isJsonObject(value) ? takeEntries(value, inner) : LEFT_OUT;
}

function takeEntries(value: JsonObject, inner: SampleSize): JsonObject {
  const entries = Object.entries(value).slice(0, inner.keys);
  return Object.fromEntries(entries.map(([key, item]) => [takeText(key, KEY_CHARS), take(item, inner)]));
}

/** Half of a surrogate pair at the cut becomes U+FFFD. */
function takeText(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}${LEFT_OUT}`;
}
