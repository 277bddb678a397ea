/** The only hash of the product: SHA-256, with its name as prefix. */

import { hash } from "node:crypto";

import { canonicalJson, parseDigest } from "../domain/index.ts";
import type { Digest, Json } from "../domain/index.ts";

/**
 * Hashes a string and bytes as they are, any other value as canonical JSON, independent of the order of keys. So `'{"a":1}'` and `{
 * a: 1 }` have one digest: hash each kind of value in one way only.
 */
export function digestOf(value: string | Uint8Array | Json): Digest {
  const data = typeof value === "string" || value instanceof Uint8Array ? value : canonicalJson(value);
  const digest = parseDigest(`sha256:${hash("sha256", data, "hex")}`);
  if (!digest) throw new TypeError("SHA-256 gave no digest");
  return digest;
}
