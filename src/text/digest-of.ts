/** The one hash of the product: SHA-256, written so that its kind can be read off the value. */

import { hash } from "node:crypto";

import { canonicalJson, parseDigest } from "../domain/index.ts";
import type { Digest, Json } from "../domain/index.ts";

/**
 * A string is hashed as it is, any other value as canonical JSON; equal values have equal digests,
 * whatever the order of their keys. So `'{"a":1}'` and `{ a: 1 }` share one: hash a kind of thing one way only.
 */
export function digestOf(value: string | Json): Digest {
  const text = typeof value === "string" ? value : canonicalJson(value);
  const digest = parseDigest(`sha256:${hash("sha256", text, "hex")}`);
  if (!digest) throw new TypeError("SHA-256 gave no digest");
  return digest;
}
