/** `atob` and `btoa`, following the forgiving-base64 rules of the WHATWG Infra standard. */

import { charCodeAt, toDomString } from "../intrinsics.ts";
import { createNamedError } from "./named-error.ts";
import { TextBuilder } from "./text-builder.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PADDING = 0x3d;

const NO_DIGIT = 0xff;
/** Six-bit value by character code. */
const VALUES = new Uint8Array(256).fill(NO_DIGIT);
for (let index = 0; index < ALPHABET.length; index += 1) VALUES[ALPHABET.charCodeAt(index)] = index;

/** Encodes a string of bytes (code units up to 0xFF) as padded base64; anything above is refused. */
export function btoa(data: unknown): string {
  const text = toDomString(data);
  const out = new TextBuilder();
  for (let index = 0; index < text.length; index += 3) {
    const left = text.length - index;
    const bits = (byteAt(text, index) << 16) | (byteAt(text, index + 1) << 8) | byteAt(text, index + 2);
    out.add(charCodeAt(ALPHABET, bits >> 18));
    out.add(charCodeAt(ALPHABET, (bits >> 12) & 63));
    out.add(left > 1 ? charCodeAt(ALPHABET, (bits >> 6) & 63) : PADDING);
    out.add(left > 2 ? charCodeAt(ALPHABET, bits & 63) : PADDING);
  }
  return out.finish();
}

/** Decodes base64 to a string of bytes; skips ASCII whitespace, and takes complete padding or none. */
export function atob(data: unknown): string {
  const text = toDomString(data);
  const out = new TextBuilder();
  let bits = 0;
  let heldBits = 0;
  let digits = 0;
  let padding = 0;
  let isForeign = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = charCodeAt(text, index);
    if (isAsciiSpace(code)) continue;
    if (code === PADDING) {
      padding += 1;
      continue;
    }
    const value = VALUES[code] ?? NO_DIGIT;
    // Padding before a digit is a character outside the alphabet.
    isForeign ||= value === NO_DIGIT || padding > 0;
    digits += 1 + padding;
    padding = 0;
    bits = ((bits << 6) | value) & 0xffffff;
    heldBits += 6;
    if (heldBits < 8) continue;
    heldBits -= 8;
    out.add((bits >> heldBits) & 0xff);
  }
  const fits = padding === 0 ? digits % 4 !== 1 : padding <= 2 && (digits + padding) % 4 === 0;
  if (!fits) throw createNamedError("InvalidCharacterError", "The string is not correctly encoded base64");
  if (isForeign) throw createNamedError("InvalidCharacterError", "The string has a character outside base64");
  return out.finish();
}

function isAsciiSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0c || unit === 0x0d;
}

/** The byte at an index; 0 past the end, where `btoa` pads. */
function byteAt(text: string, index: number): number {
  if (index >= text.length) return 0;
  const unit = charCodeAt(text, index);
  if (unit <= 0xff) return unit;
  const message = "The string has a character above U+00FF; encode it as UTF-8 first";
  throw createNamedError("InvalidCharacterError", message);
}
