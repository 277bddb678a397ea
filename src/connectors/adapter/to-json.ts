/** Checks that an adapter's result is JSON: only JSON enters the sandbox, and nothing is changed silently. */

import { GloveboxError } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";

/**
 * Returns a copy. `undefined` becomes `null`, undefined properties are dropped, and `toJSON` is applied (dates).
 * `source` is named in the error. Throws `UPSTREAM_RESULT_INVALID` for circular values, BigInt, functions, symbols, NaN
 * and infinities.
 */
export function toJson(value: unknown, source: string): Json {
  if (value === undefined) return null;
  try {
    const copy: Json = JSON.parse(JSON.stringify(value, refuseForeign));
    return copy;
  } catch (cause) {
    const why = cause instanceof NotJson ? cause.message : "it is circular, too deep or cannot be serialized";
    throw new GloveboxError("UPSTREAM_RESULT_INVALID", `${source}: the result is not JSON: ${why}`, {
      hint: "Fix the adapter: it may return strings, numbers, booleans, null, arrays and plain objects",
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
