/** Builds long strings from code units without one concatenation per character. */

import { apply, createList, fromCharCode } from "../intrinsics.ts";
import type { List } from "../intrinsics.ts";

/** A chunk becomes the arguments of one call, on the stack; small enough for a program with a deep stack. */
const CHUNK_UNITS = 4096;

/** Collects UTF-16 code units in order; `finish` ends its use. */
export class TextBuilder {
  readonly #units: List<number> = createList();
  #text = "";

  add(unit: number): void {
    this.#units[this.#units.length] = unit;
    if (this.#units.length >= CHUNK_UNITS) this.#flush();
  }

  /** Adds one scalar value, as a surrogate pair when it lies above U+FFFF. */
  addScalar(scalar: number): void {
    if (scalar <= 0xffff) return this.add(scalar);
    this.add(0xd7c0 + (scalar >> 10));
    return this.add(0xdc00 + (scalar & 0x3ff));
  }

  finish(): string {
    this.#flush();
    return this.#text;
  }

  #flush(): void {
    this.#text += apply(fromCharCode, undefined, this.#units);
    this.#units.length = 0;
  }
}
