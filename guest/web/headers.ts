/** `Headers`: names without case, values joined as the standard says. */

import {
  add,
  apply,
  createList,
  each,
  filter,
  isPrototypeOf,
  sort,
  toDomString,
  toLowerCase,
  trim,
} from "../intrinsics.ts";
import type { List } from "../intrinsics.ts";
import { refuseToClone } from "./clone-refusals.ts";
import type { Pair } from "./form-encoding.ts";
import { toPairs } from "./url-search-params.ts";

/** The pairs of a `Headers`, in the order of their names. */
export let pairsOf: (headers: Headers) => List<Pair>;

/** The host checks names and values; this only keeps them. */
export class Headers {
  #pairs: List<Pair> = createList();

  static {
    pairsOf = (headers) => headers.#sorted();
  }

  constructor(init?: unknown) {
    if (init === undefined || init === null) return;
    if (typeof init !== "object") throw new TypeError("Headers takes an object or a list of pairs");
    const pairs = isHeaders(init) ? init.#pairs : toPairs(init);
    each(pairs, ({ name, value }) => this.append(name, value));
  }

  append(name: unknown, value: unknown): void {
    const key = toKey(name);
    const before = this.get(key);
    const text = trim(toDomString(value));
    if (before === null) add(this.#pairs, { name: key, value: text });
    else this.set(key, before + ", " + text);
  }

  set(name: unknown, value: unknown): void {
    const key = toKey(name);
    this.delete(key);
    add(this.#pairs, { name: key, value: trim(toDomString(value)) });
  }

  delete(name: unknown): void {
    const key = toKey(name);
    this.#pairs = filter(this.#pairs, (pair) => pair.name !== key);
  }

  get(name: unknown): string | null {
    const key = toKey(name);
    return filter(this.#pairs, (pair) => pair.name === key)[0]?.value ?? null;
  }

  has(name: unknown): boolean {
    return this.get(name) !== null;
  }

  forEach(visit: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    if (typeof visit !== "function") throw new TypeError("forEach needs a function");
    each(this.#sorted(), ({ name, value }) => apply(visit, self, [value, name, this]));
  }

  entries(): Generator<[string, string]> {
    return iterate(this.#sorted(), ({ name, value }) => [name, value]);
  }

  keys(): Generator<string> {
    return iterate(this.#sorted(), ({ name }) => name);
  }

  values(): Generator<string> {
    return iterate(this.#sorted(), ({ value }) => value);
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return "Headers";
  }

  #sorted(): List<Pair> {
    const copy = filter(this.#pairs, () => true);
    sort(copy, (a, b) => (a.name < b.name ? -1 : 1));
    return copy;
  }
}
refuseToClone(Headers.prototype, "Headers");

const HEADERS = Headers.prototype;

function isHeaders(value: object): value is Headers {
  return isPrototypeOf(HEADERS, value);
}

function toKey(name: unknown): string {
  return toLowerCase(toDomString(name));
}

function* iterate<Item>(pairs: List<Pair>, toItem: (pair: Pair) => Item): Generator<Item> {
  for (let index = 0; index < pairs.length; index += 1) yield toItem(pairs[index] as Pair);
}
