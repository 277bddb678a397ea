/**
 * Other readings of the same bytes: without escapes, without what cannot be seen, without the separators of encoded
 * texts. Each byte of a reading knows which run of the original it stands for. Pure.
 */

import { readEscape, readHidden } from "./read-units.ts";
import type { ReadUnit, Unit } from "./read-units.ts";

/** Byte `i` stands for the original from `starts[i]` to before `ends[i]`. */
export interface View {
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** As often as texts are escaped within escaped texts. */
const MOST_PASSES = 4;

/** The bytes as they are. */
export function viewOf(bytes: Buffer): View {
  const starts = new Uint32Array(bytes.length).map((_, at) => at);
  return { bytes, starts, ends: starts.map((at) => at + 1) };
}

/** The reading itself, then without its escapes, then without the escapes that this made, until there are none. */
export function toUnescaped(view: View): readonly [View, ...View[]] {
  const views: [View, ...View[]] = [view];
  let last = view;
  while (views.length <= MOST_PASSES) {
    const next = rewrite(last, readEscape);
    if (next.bytes.length === last.bytes.length) return views;
    views.push(next);
    last = next;
  }
  return views;
}

/** Without control characters, terminal escapes and invisible characters. */
export function toVisible(view: View): View {
  return rewrite(view, readHidden);
}

/** Without blanks, in the usual one of the two alphabets of base64. */
export function toBase64Text(view: View): View {
  return rewrite(view, (bytes, at) => BASE64.get(bytes[at] ?? 0));
}

/** Without what stands between the bytes of a dump, in small letters. */
export function toHexText(view: View): View {
  return rewrite(view, (bytes, at) => {
    const byte = bytes[at] ?? 0;
    if (byte === ZERO && ((bytes[at + 1] ?? 0) | SMALL) === X) return { length: 2, bytes: [] };
    return HEX.get(byte);
  });
}

/** A list of numbers as the bytes that they are; nothing else in the text stands for itself. */
export function toListedBytes(view: View): View {
  return rewrite(view, (bytes, at) => {
    const byte = bytes[at] ?? 0;
    if (BETWEEN_NUMBERS.has(byte)) return DROPPED;
    if (!isDigit(byte)) return NO_NUMBER;
    let end = at + 1;
    while (isDigit(bytes[end] ?? 0)) end += 1;
    const number = end - at <= 3 ? Number(bytes.toString("latin1", at, end)) : Number.NaN;
    return { length: end - at, bytes: [number <= 255 ? number : 0] };
  });
}

/** Letters in one case, and alike what addresses and forms take for each other: plus and space, both slashes. */
export function fold(bytes: Buffer): Buffer {
  const folded = Buffer.alloc(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) folded[at] = FOLDED[bytes[at] ?? 0] ?? 0;
  return folded;
}

const codeOf = (sign: string): number => sign.charCodeAt(0);
const [ZERO, X, SMALL] = [codeOf("0"), codeOf("x"), 0x20];
const DROPPED: Unit = { length: 1, bytes: [] };
const NO_NUMBER: Unit = { length: 1, bytes: [0] };
const BETWEEN_NUMBERS = new Set(Array.from(" ,\t\r\n", codeOf));
const BASE64 = new Map<number, Unit>([
  [codeOf(" "), DROPPED],
  [codeOf("-"), { length: 1, bytes: [codeOf("+")] }],
  [codeOf("_"), { length: 1, bytes: [codeOf("/")] }],
]);
const HEX = new Map<number, Unit>([
  ...Array.from(" :-,", (sign) => [codeOf(sign), DROPPED] as const),
  ...Array.from("ABCDEF", (sign) => [codeOf(sign), { length: 1, bytes: [codeOf(sign) | SMALL] }] as const),
]);
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => {
  const sign = String.fromCharCode(byte);
  if (sign === "+") return codeOf(" ");
  if (sign === "\\") return codeOf("/");
  return /[A-Z]/.test(sign) ? byte | SMALL : byte;
});

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte < ZERO + 10;
}

/** What `read` does not know stays one byte. No unit grows, so there is room for all. */
function rewrite(view: View, read: ReadUnit): View {
  const { bytes } = view;
  const written = Buffer.alloc(bytes.length);
  const starts = new Uint32Array(bytes.length);
  const ends = new Uint32Array(bytes.length);
  let size = 0;
  let at = 0;
  const write = (byte: number, length: number): void => {
    written[size] = byte;
    starts[size] = view.starts[at] ?? 0;
    ends[size] = view.ends[at + length - 1] ?? 0;
    size += 1;
  };
  while (at < bytes.length) {
    const unit = read(bytes, at);
    if (unit) for (const byte of unit.bytes) write(byte, unit.length);
    else write(bytes[at] ?? 0, 1);
    at += unit?.length ?? 1;
  }
  return { bytes: written.subarray(0, size), starts: starts.subarray(0, size), ends: ends.subarray(0, size) };
}
