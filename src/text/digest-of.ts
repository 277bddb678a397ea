/** The only hash of the product: SHA-256, with its name as prefix. */

import { createHash, hash } from "node:crypto";
import type { Hash } from "node:crypto";

import { canonicalJson, isJsonObject, parseDigest } from "../domain/index.ts";
import type { Digest, Json, JsonObject } from "../domain/index.ts";

import { isLarge } from "./large-json.ts";
import type { Pieces } from "./large-json.ts";

/** About a millisecond of work. */
const PIECE_BYTES = 512 * 1024;
const PIECE_ITEMS = 64;

/**
 * Hashes a string and bytes as they are, any other value as canonical JSON, independent of the order of keys. So `'{"a":1}'` and `{
 * a: 1 }` have one digest: hash each kind of value in one way only.
 */
export function digestOf(value: string | Uint8Array | Json): Digest {
  const data = typeof value === "string" || value instanceof Uint8Array ? value : canonicalJson(value);
  return toDigest(hash("sha256", data, "hex"));
}

/** The same digest of a string or an object, with pauses if it is large. */
export function* digestLarge(value: string | JsonObject): Pieces<Digest> {
  const sum = createHash("sha256");
  if (typeof value !== "string") {
    yield* addCanonical(sum, value);
    return toDigest(sum.digest("hex"));
  }
  if (value.length <= PIECE_BYTES) return digestOf(value);
  const bytes = Buffer.from(value);
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield;
    sum.update(bytes.subarray(start, start + PIECE_BYTES));
  }
  return toDigest(sum.digest("hex"));
}

/** Adds the canonical JSON of a value. */
function* addCanonical(sum: Hash, value: Json): Pieces<void> {
  if (typeof value !== "object" || value === null || !isLarge(value)) {
    sum.update(canonicalJson(value));
    return;
  }
  yield;
  const keys = isJsonObject(value) ? Object.keys(value).toSorted() : undefined;
  const items: readonly Json[] = isJsonObject(value) ? (keys ?? []).map((key) => value[key] ?? null) : value;
  for (const [at, item] of items.entries()) {
    const key = keys?.[at];
    sum.update(`${at > 0 ? "," : keys ? "{" : "["}${key === undefined ? "" : `${JSON.stringify(key)}:`}`);
    yield* addCanonical(sum, item);
    if (at % PIECE_ITEMS === PIECE_ITEMS - 1) yield;
  }
  sum.update(keys ? "}" : "]");
}

function toDigest(hex: string): Digest {
  const digest = parseDigest(`sha256:${hex}`);
  if (!digest) throw new TypeError("SHA-256 gave no digest");
  return digest;
}
