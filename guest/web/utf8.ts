/** UTF-8 in both directions, following the WHATWG Encoding standard; used by the classes that programs see. */

import { Bytes, charCodeAt } from "../intrinsics.ts";
import { typedArrayLength } from "./buffer-source.ts";
import { TextBuilder } from "./text-builder.ts";

const REPLACEMENT = 0xfffd;

/** How far an encoding got: code units read, bytes written. */
export interface Progress {
  readonly read: number;
  readonly written: number;
}

/** The bytes of a string; a lone surrogate becomes U+FFFD. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Bytes(countUtf8(text));
  encodeUtf8Into(text, bytes);
  return bytes;
}

/** Writes as many whole characters as fit and returns how far it got. */
export function encodeUtf8Into(text: string, target: Uint8Array): Progress {
  const room = typedArrayLength(target) ?? 0;
  let read = 0;
  let written = 0;
  while (read < text.length) {
    const scalar = scalarAt(text, read);
    const end = written + widthOf(scalar);
    if (end > room) break;
    writeScalar(target, written, scalar);
    written = end;
    read += scalar > 0xffff ? 2 : 1;
  }
  return { read, written };
}

function countUtf8(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length;) {
    const scalar = scalarAt(text, index);
    count += widthOf(scalar);
    index += scalar > 0xffff ? 2 : 1;
  }
  return count;
}

function scalarAt(text: string, index: number): number {
  const unit = charCodeAt(text, index);
  if ((unit & 0xf800) !== 0xd800) return unit;
  if (unit >= 0xdc00) return REPLACEMENT;
  const next = charCodeAt(text, index + 1);
  if ((next & 0xfc00) !== 0xdc00) return REPLACEMENT;
  return 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00);
}

function widthOf(scalar: number): number {
  if (scalar < 0x80) return 1;
  if (scalar < 0x800) return 2;
  return scalar < 0x10000 ? 3 : 4;
}

function writeScalar(target: Uint8Array, at: number, scalar: number): void {
  if (scalar < 0x80) {
    target[at] = scalar;
    return;
  }
  const width = widthOf(scalar);
  const lead = width === 2 ? 0xc0 : width === 3 ? 0xe0 : 0xf0;
  target[at] = lead | (scalar >> (6 * (width - 1)));
  for (let index = 1; index < width; index += 1)
    target[at + index] = 0x80 | ((scalar >> (6 * (width - 1 - index))) & 0x3f);
}

/** A decoder that keeps an unfinished character between chunks. */
export class Utf8Decoder {
  readonly #fatal: boolean;
  #needed = 0;
  #scalar = 0;
  #lower = 0x80;
  #upper = 0xbf;

  /** `fatal` makes malformed bytes a TypeError instead of U+FFFD. */
  constructor(fatal: boolean) {
    this.#fatal = fatal;
  }

  /** Decodes one chunk; `last` also ends the text. A TypeError leaves the decoder as new. */
  decode(bytes: Uint8Array, last: boolean): string {
    const out = new TextBuilder();
    const length = typedArrayLength(bytes) ?? 0;
    for (let index = 0; index < length;) {
      const byte = bytes[index] ?? 0;
      if (this.#needed > 0 && (byte < this.#lower || byte > this.#upper)) {
        this.#reject(out); // the byte is looked at again: it may begin a character of its own
        continue;
      }
      index += 1;
      if (this.#needed > 0) this.#continue(byte, out);
      else if (byte < 0x80) out.add(byte);
      else this.#begin(byte, out);
    }
    if (last && this.#needed > 0) this.#reject(out);
    return out.finish();
  }

  /** Reads a lead byte. The bounds exclude overlong forms, surrogates and values above U+10FFFF. */
  #begin(byte: number, out: TextBuilder): void {
    if (byte < 0xc2 || byte > 0xf4) return this.#reject(out);
    this.#needed = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    this.#scalar = byte & (0x3f >> this.#needed);
    if (byte === 0xe0) this.#lower = 0xa0;
    if (byte === 0xed) this.#upper = 0x9f;
    if (byte === 0xf0) this.#lower = 0x90;
    if (byte === 0xf4) this.#upper = 0x8f;
    return undefined;
  }

  #continue(byte: number, out: TextBuilder): void {
    this.#scalar = (this.#scalar << 6) | (byte & 0x3f);
    this.#lower = 0x80;
    this.#upper = 0xbf;
    this.#needed -= 1;
    if (this.#needed === 0) out.addScalar(this.#scalar);
  }

  #reject(out: TextBuilder): void {
    this.#needed = 0;
    this.#lower = 0x80;
    this.#upper = 0xbf;
    if (this.#fatal) throw new TypeError("The bytes are not valid UTF-8");
    out.add(REPLACEMENT);
  }
}
