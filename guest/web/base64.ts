/** `atob` and `btoa`, following the forgiving-base64 rules of the WHATWG Infra standard. */

import { isAsciiSpace } from "./ascii.ts";
import { charCodeAt, toText } from "./intrinsics.ts";
import { createNamedError } from "./named-error.ts";
import { TextBuilder } from "./text-builder.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PADDING = 0x3d;

/** Six-bit value by character code; 0xFF marks everything outside the alphabet. */
const VALUES = new Uint8Array(256).fill(0xff);
for (let index = 0; index < ALPHABET.length; index += 1) VALUES[ALPHABET.charCodeAt(index)] = index;

/** Encodes a string of bytes (code units up to 0xFF) as padded base64; anything above is refused. */
export function btoa(data: unknown): string {
  const text = toText(data);
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

/** Decodes base64 to a string of bytes; ignores ASCII whitespace, and takes padding or its absence, but not half of it. */
export function atob(data: unknown): string {
  const text = toText(data);
  const end = endOfData(text);
  const out = new TextBuilder();
  let bits = 0;
  let held = 0;
  for (let index = 0; index < end; index += 1) {
    const code = charCodeAt(text, index);
    if (isAsciiSpace(code)) continue;
    bits = ((bits << 6) | valueOf(code)) & 0xffffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out.add((bits >> held) & 0xff);
  }
  return out.finish();
}

/** Where the alphabet part ends, after the length and the padding were found to fit each other. */
function endOfData(text: string): number {
  let end = text.length;
  let padding = 0;
  for (; end > 0 && padding <= 2; end -= 1) {
    const code = charCodeAt(text, end - 1);
    if (code === PADDING) padding += 1;
    else if (!isAsciiSpace(code)) break;
  }
  const count = countDigits(text, end);
  const fits = padding === 0 ? count % 4 !== 1 : padding <= 2 && (count + padding) % 4 === 0;
  if (!fits) throw createNamedError("InvalidCharacterError", "The string is not correctly encoded base64");
  return end;
}

function countDigits(text: string, end: number): number {
  let count = 0;
  for (let index = 0; index < end; index += 1) if (!isAsciiSpace(charCodeAt(text, index))) count += 1;
  return count;
}

function valueOf(code: number): number {
  const value = VALUES[code] ?? 0xff;
  if (value === 0xff) throw createNamedError("InvalidCharacterError", "The string has a character outside base64");
  return value;
}

/** The byte at an index; 0 past the end, where `btoa` pads. */
function byteAt(text: string, index: number): number {
  if (index >= text.length) return 0;
  const unit = charCodeAt(text, index);
  if (unit > 0xff)
    throw createNamedError(
      "InvalidCharacterError",
      "The string has a character above U+00FF; encode it as UTF-8 first",
    );
  return unit;
}
