/** The only hash of the product: SHA-256, with its name as prefix. */

import { createHash, hash } from "node:crypto";

import { canonicalJson, parseDigest } from "../domain/index.ts";
import type { Digest, Json } from "../domain/index.ts";

import type { Pieces } from "./large-json.ts";

/** About a millisecond of work. */
const PIECE_BYTES = 512 * 1024;

/**
 * Hashes a string and bytes as they are, any other value as canonical JSON, independent of the order of keys. So `'{"a":1}'` and `{
 * a: 1 }` have one digest: hash each kind of value in one way only.
 */
export function digestOf(value: string | Uint8Array | Json): Digest {
  const data = typeof value === "string" || value instanceof Uint8Array ? value : canonicalJson(value);
  return toDigest(hash("sha256", data, "hex"));
}

/** The same digest of a string, with pauses if it is large. */
export function* digestLarge(text: string): Pieces<Digest> {
  if (text.length <= PIECE_BYTES) return digestOf(text);
  const bytes = Buffer.from(text);
  const sum = createHash("sha256");
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield;
    sum.update(bytes.subarray(start, start + PIECE_BYTES));
  }
  return toDigest(sum.digest("hex"));
}

function toDigest(hex: string): Digest {
  const digest = parseDigest(`sha256:${hex}`);
  if (!digest) throw new TypeError("SHA-256 gave no digest");
  return digest;
}
