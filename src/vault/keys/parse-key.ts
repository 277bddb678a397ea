/** Parses 64 hex digits as a key and refuses weak ones. Messages never contain the key. */

import { GloveboxError } from "../../domain/index.ts";

const HEX = /^[0-9a-fA-F]{64}$/;
/** Random keys have about 30 different bytes; fewer than this occur less than once in 10¹⁰ keys. */
const DIFFERENT_BYTES = 16;

const REMEDY = "Use 64 random hex digits, for example from `openssl rand -hex 32`";

/** `source` names the origin in messages. */
export function parseKey(text: string, source: string): Uint8Array {
  if (!HEX.test(text)) {
    const what =
      text.length === 64 ? "has characters that are not hex digits" : `has ${text.length} characters, not 64`;
    throw new GloveboxError("CONFIG_INVALID", `${source} is not a key: it ${what}`, { hint: REMEDY });
  }
  const bytes = Uint8Array.from(Buffer.from(text, "hex"));
  if (isWeak(bytes)) {
    throw new GloveboxError("CONFIG_INVALID", `${source} is too weak: its bytes follow a pattern`, { hint: REMEDY });
  }
  return bytes;
}

/** True for repetitions such as `00…` or `0123…0123…` and for even steps such as `000102…`. */
function isWeak(bytes: Uint8Array): boolean {
  if (new Set(bytes).size < DIFFERENT_BYTES) return true;
  const steps = bytes.slice(1).map((byte, index) => byte - (bytes[index] ?? 0));
  return new Set(steps).size === 1;
}
