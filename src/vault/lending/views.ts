/**
 * Decoded views of the same bytes: without escapes, without invisible characters, without the separators of encoded
 * text. Each byte of a view maps to a range of the original. Pure.
 */

import { ESCAPE_STARTS, HIDDEN_STARTS, readEscape, readHidden } from "./read-units.ts";
import type { ReadUnit, Unit } from "./read-units.ts";

/** Byte `i` represents the original from `starts[i]` to before `ends[i]`. */
export interface View {
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** The deepest nesting of escapes that is decoded. */
const MOST_PASSES = 4;

/** The bytes unchanged. */
export function viewOf(bytes: Buffer): View {
  const starts = new Uint32Array(bytes.length).map((_, at) => at);
  return { bytes, starts, ends: starts.map((at) => at + 1) };
}

/** Returns the view itself, then without its escapes, then without the escapes that this produced, until there are none. */
export function toUnescaped(view: View): readonly [View, ...View[]] {
  const views: [View, ...View[]] = [view];
  let last = view;
  while (views.length <= MOST_PASSES) {
    const next = rewrite(last, ESCAPED);
    if (next.bytes.length === last.bytes.length) return views;
    views.push(next);
    last = next;
  }
  return views;
}

/** Without control characters, terminal escapes and invisible characters. */
export function toVisible(view: View): View {
  return rewrite(view, HIDDEN);
}

/** Without spaces, in the standard alphabet of base64. */
export function toBase64Text(view: View): View {
  return rewrite(view, BASE64);
}

/** Without the separators of a hex dump, in lower case. */
export function toHexText(view: View): View {
  return rewrite(view, HEX);
}

/** A list of numbers as bytes; everything else is dropped or zero. */
export function toListedBytes(view: View): View {
  return rewrite(view, LIST);
}

/** Lower-cases letters, and unifies what URLs and forms treat alike: plus and space, both slashes. */
export function fold(bytes: Buffer): Buffer {
  const folded = Buffer.alloc(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) folded[at] = FOLDED[bytes[at] ?? 0] ?? 0;
  return folded;
}

const codeOf = (sign: string): number => sign.charCodeAt(0);
const [ZERO, X, SMALL] = [codeOf("0"), codeOf("x"), 0x20];
const DIGITS = Array.from("0123456789", codeOf);
const DROPPED: Unit = { length: 1, bytes: [] };
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => {
  const sign = String.fromCharCode(byte);
  if (sign === "+") return codeOf(" ");
  if (sign === "\\") return codeOf("/");
  return /[A-Z]/.test(sign) ? byte | SMALL : byte;
});

/** How bytes are decoded: by `plain`, and where `special` has a 1, by `read` first. */
interface Reading {
  readonly plain: Uint8Array;
  readonly special: Uint8Array;
  readonly read: ReadUnit;
}

function createReading(special: Iterable<number>, read: ReadUnit, plainOf = (byte: number): number => byte): Reading {
  const places = new Set(special);
  return {
    plain: Uint8Array.from({ length: 256 }, (_, byte) => plainOf(byte)),
    special: Uint8Array.from({ length: 256 }, (_, byte) => (places.has(byte) ? 1 : 0)),
    read,
  };
}

const ESCAPED = createReading(ESCAPE_STARTS, readEscape);
const HIDDEN = createReading(HIDDEN_STARTS, readHidden);
const BASE64 = createReading(
  [codeOf(" ")],
  () => DROPPED,
  (byte) => ({ "-": codeOf("+"), _: codeOf("/") })[String.fromCharCode(byte)] ?? byte,
);
const HEX = createReading(Array.from(" :-,0", codeOf), readBetweenHex, (byte) =>
  codeOf(String.fromCharCode(byte).toLowerCase()),
);
const LIST = createReading([...Array.from(" ,\t\r\n", codeOf), ...DIGITS], readNumber, () => 0);

function readBetweenHex(bytes: Buffer, at: number): Unit | undefined {
  if (bytes[at] !== ZERO) return DROPPED;
  return ((bytes[at + 1] ?? 0) | SMALL) === X ? { length: 2, bytes: [] } : undefined;
}

function readNumber(bytes: Buffer, at: number): Unit {
  let end = at;
  while (isDigit(bytes[end] ?? 0)) end += 1;
  if (end === at) return DROPPED;
  const number = end - at <= 3 ? Number(bytes.toString("latin1", at, end)) : Number.NaN;
  return { length: end - at, bytes: [number <= 255 ? number : 0] };
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte < ZERO + 10;
}

/** No unit grows, so the buffers are large enough. */
function rewrite(view: View, { plain, special, read }: Reading): View {
  const { bytes } = view;
  const written = Buffer.alloc(bytes.length);
  const starts = new Uint32Array(bytes.length);
  const ends = new Uint32Array(bytes.length);
  let size = 0;
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at] ?? 0;
    const unit = special[byte] === 1 ? read(bytes, at) : undefined;
    const length = unit ? unit.length : 1;
    const count = unit ? unit.bytes.length : 1;
    for (let i = 0; i < count; i += 1) {
      written[size] = (unit ? unit.bytes[i] : plain[byte]) ?? 0;
      starts[size] = view.starts[at] ?? 0;
      ends[size] = view.ends[at + length - 1] ?? 0;
      size += 1;
    }
    at += length;
  }
  return { bytes: written.subarray(0, size), starts: starts.subarray(0, size), ends: ends.subarray(0, size) };
}
