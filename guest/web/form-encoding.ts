/** `application/x-www-form-urlencoded`, both ways, following the WHATWG URL standard. */

import { add, charCodeAt, createList, each, indexOf, slice, toDomString, toWellFormed } from "../intrinsics.ts";
import type { List } from "../intrinsics.ts";
import { firstBytes, typedArrayLength } from "./buffer-source.ts";
import { TextBuilder } from "./text-builder.ts";
import { encodeUtf8, Utf8Decoder } from "./utf8.ts";

/** A name and its value, both without lone surrogates. */
export interface Pair {
  readonly name: string;
  readonly value: string;
}

const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;
const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const HEX_DIGITS = "0123456789ABCDEF";

/** Converts as the standards do for a `USVString`: to a string, with U+FFFD for lone surrogates. Symbols throw. */
export function toUsvString(value: unknown): string {
  return toWellFormed(toDomString(value));
}

/** Reads a query without its `?`. Empty pieces are skipped; malformed escapes stay as they are. */
export function parseQuery(query: string): List<Pair> {
  const pairs: List<Pair> = createList();
  for (let start = 0; start <= query.length;) {
    const end = indexOrEnd(query, "&", start);
    if (end > start) add(pairs, parsePair(slice(query, start, end)));
    start = end + 1;
  }
  return pairs;
}

/** Writes pairs as a query without `?`. */
export function toQuery(pairs: List<Pair>): string {
  const out = new TextBuilder();
  let isFirst = true;
  each(pairs, (pair) => {
    if (!isFirst) out.add(AMPERSAND);
    isFirst = false;
    escape(pair.name, out);
    out.add(EQUALS);
    escape(pair.value, out);
  });
  return out.finish();
}

function parsePair(piece: string): Pair {
  const middle = indexOrEnd(piece, "=", 0);
  return { name: unescape(slice(piece, 0, middle)), value: unescape(slice(piece, middle + 1)) };
}

function indexOrEnd(text: string, mark: string, from: number): number {
  const index = indexOf(text, mark, from);
  return index === -1 ? text.length : index;
}

/** Decodes in place, because escapes only shrink. A byte order mark is kept, as the standard asks. */
function unescape(text: string): string {
  if (indexOf(text, "%") === -1 && indexOf(text, "+") === -1) return text;
  const bytes = encodeUtf8(text);
  const length = typedArrayLength(bytes) ?? 0;
  let written = 0;
  for (let read = 0; read < length; read += 1) {
    const byte = bytes[read] ?? 0;
    const escaped = byte === PERCENT ? hexValue(bytes[read + 1]) * 16 + hexValue(bytes[read + 2]) : Number.NaN;
    if (escaped >= 0) read += 2;
    bytes[written] = escaped >= 0 ? escaped : byte === PLUS ? SPACE : byte;
    written += 1;
  }
  return new Utf8Decoder(false).decode(firstBytes(bytes, written), true);
}

/** The value of a hexadecimal digit's code; NaN for every other byte and past the end. */
function hexValue(code: number | undefined): number {
  if (code === undefined) return Number.NaN;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

/** Letters, digits and `*-._` stay, a space becomes `+`, every other byte an escape. */
function escape(text: string, out: TextBuilder): void {
  const bytes = encodeUtf8(text);
  const length = typedArrayLength(bytes) ?? 0;
  for (let index = 0; index < length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === SPACE) out.add(PLUS);
    else if (isPlain(byte)) out.add(byte);
    else {
      out.add(PERCENT);
      out.add(charCodeAt(HEX_DIGITS, byte >> 4));
      out.add(charCodeAt(HEX_DIGITS, byte & 15));
    }
  }
}

function isPlain(byte: number): boolean {
  if (byte >= 0x30 && byte <= 0x39) return true;
  const letter = byte | 0x20;
  if (letter >= 0x61 && letter <= 0x7a) return byte >= 0x41;
  return byte === 0x2a || byte === 0x2d || byte === 0x2e || byte === 0x5f;
}
