/** `Headers`: names without case, values joined as the standard says. */

import { refuseToClone } from "./clone-refusals.ts";
import type { Pair } from "./form-encoding.ts";
import { add, apply, createList, each, isPrototypeOf, sort, toText, uncurry } from "./intrinsics.ts";
import type { List } from "./intrinsics.ts";
import { toPairs } from "./search-params-init.ts";

const toLowerCase = uncurry<string, [], string>(String.prototype.toLowerCase);
const trim = uncurry<string, [], string>(String.prototype.trim);

let read: (headers: Headers) => List<Pair>;

/** The host checks names and values; this only keeps them. */
export class Headers {
  #pairs: List<Pair> = createList();

  static {
    read = (headers) => headers.#pairs;
  }

  constructor(init?: unknown) {
    if (init === undefined || init === null) return;
    if (typeof init !== "object") throw new TypeError("Headers takes an object or a list of pairs");
    const given = isHeaders(init) ? read(init) : toPairs(init);
    each(given, ({ name, value }) => this.append(name, value));
  }

  append(name: unknown, value: unknown): void {
    const key = toLowerCase(toText(name));
    const before = this.get(key);
    const text = trim(toText(value));
    if (before === null) add(this.#pairs, { name: key, value: text });
    else this.set(key, before + ", " + text);
  }

  set(name: unknown, value: unknown): void {
    const key = toLowerCase(toText(name));
    this.delete(key);
    add(this.#pairs, { name: key, value: trim(toText(value)) });
  }

  delete(name: unknown): void {
    const key = toLowerCase(toText(name));
    const kept: List<Pair> = createList();
    each(this.#pairs, (pair) => {
      if (pair.name !== key) add(kept, pair);
    });
    this.#pairs = kept;
  }

  get(name: unknown): string | null {
    const key = toLowerCase(toText(name));
    for (let index = 0; index < this.#pairs.length; index += 1) {
      const pair = this.#pairs[index];
      if (pair?.name === key) return pair.value;
    }
    return null;
  }

  has(name: unknown): boolean {
    return this.get(name) !== null;
  }

  forEach(visit: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    if (typeof visit !== "function") throw new TypeError("forEach needs a function");
    each(sorted(this.#pairs), ({ name, value }) => apply(visit, self, [value, name, this]));
  }

  *entries(): Generator<[string, string]> {
    const pairs = sorted(this.#pairs);
    for (let index = 0; index < pairs.length; index += 1) {
      const pair = pairs[index];
      if (pair !== undefined) yield [pair.name, pair.value];
    }
  }

  *keys(): Generator<string> {
    const pairs = sorted(this.#pairs);
    for (let index = 0; index < pairs.length; index += 1) yield pairs[index]?.name ?? "";
  }

  *values(): Generator<string> {
    const pairs = sorted(this.#pairs);
    for (let index = 0; index < pairs.length; index += 1) yield pairs[index]?.value ?? "";
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return "Headers";
  }
}
refuseToClone(Headers.prototype, "Headers");

const HEADERS = Headers.prototype;

function isHeaders(value: object): value is Headers {
  return isPrototypeOf(HEADERS, value);
}

/** The pairs behind it, in the order of their names. */
export function pairsOf(headers: Headers): List<Pair> {
  return sorted(read(headers));
}

function sorted(pairs: List<Pair>): List<Pair> {
  const copy: List<Pair> = createList();
  each(pairs, (pair) => add(copy, pair));
  sort(copy, (a, b) => (a.name < b.name ? -1 : 1));
  return copy;
}
