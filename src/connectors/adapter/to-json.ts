/** Holds what an operator's function returned to JSON: only JSON crosses the wall, and nothing is changed in silence. */

import { GloveboxError } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";

/**
 * A copy. Nothing returned is `null`, a property that is undefined is left out, and what has `toJSON` (a date) is what
 * that returns. `source` is named in the error. A circle, a BigInt, a function, a symbol or a number that is none throws `UPSTREAM_RESULT_INVALID`.
 */
export function toJson(value: unknown, source: string): Json {
  if (value === undefined) return null;
  try {
    const text = JSON.stringify(value, refuseForeign);
    return JSON.parse(text) as Json;
  } catch (cause) {
    const why = cause instanceof NotJson ? cause.message : "it is circular, too deep or cannot be written";
    throw new GloveboxError("UPSTREAM_RESULT_INVALID", `${source}: the result is no JSON: ${why}`, {
      hint: "The adapter is at fault: it may return text, numbers, booleans, null, lists and plain objects",
      cause,
    });
  }
}

class NotJson extends Error {}

function refuseForeign(key: string, value: unknown): unknown {
  const kind = typeof value;
  if (kind === "bigint" || kind === "function" || kind === "symbol") throw new NotJson(`${place(key)} is a ${kind}`);
  if (kind === "number" && !Number.isFinite(value)) throw new NotJson(`${place(key)} is ${String(value)}`);
  if (value instanceof Map || value instanceof Set) throw new NotJson(`${place(key)} is a Map or a Set`);
  return value;
}

function place(key: string): string {
  return key === "" ? "the value" : JSON.stringify(key.slice(0, 60));
}
