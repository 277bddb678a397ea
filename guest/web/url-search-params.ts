/** `URLSearchParams`, following the WHATWG URL standard; complete, and live when it belongs to a `URL`. */

import { refuseToClone } from "./clone-refusals.ts";
import type { Pair } from "./form-encoding.ts";
import { parseQuery, toQuery, toUsvString } from "./form-encoding.ts";
import type { List } from "./intrinsics.ts";
import { add, apply, createList, defineOwn, each, sort } from "./intrinsics.ts";
import { toPairs } from "./search-params-init.ts";

/** What only `URL` may do; assigned inside the class, where the private fields are in reach. */
let link: (params: URLSearchParams, onChange: () => void) => void;
let replace: (params: URLSearchParams, query: string) => void;
let write: (params: URLSearchParams) => string;

/** An ordered list of names and values, both of them strings without lone surrogates. */
export class URLSearchParams {
  #pairs: List<Pair>;
  #onChange: (() => void) | undefined;

  static {
    link = (params, onChange) => {
      params.#onChange = onChange;
    };
    replace = (params, query) => {
      params.#pairs = parseQuery(query);
    };
    write = (params) => toQuery(params.#pairs);
  }

  /** From a query (with or without `?`), a record, pairs, or another `URLSearchParams`. */
  constructor(init?: unknown) {
    this.#pairs = toPairs(init);
  }

  /** The number of pairs. */
  get size(): number {
    return this.#pairs.length;
  }

  /** Adds a pair at the end, beside those of the same name. */
  append(name: unknown, value: unknown): void {
    requireArguments(arguments.length, 2);
    add(this.#pairs, { name: toUsvString(name), value: toUsvString(value) });
    this.#onChange?.();
  }

  /** Removes the pairs of a name, or only those that have this value too. */
  delete(name: unknown, value?: unknown): void {
    requireArguments(arguments.length, 1);
    const matches = toMatcher(name, value);
    this.#keep((pair) => (matches(pair) ? undefined : pair));
    this.#onChange?.();
  }

  /** The first value of a name. */
  get(name: unknown): string | null {
    requireArguments(arguments.length, 1);
    return this.#find(toMatcher(name))?.value ?? null;
  }

  /** All values of a name. */
  getAll(name: unknown): string[] {
    requireArguments(arguments.length, 1);
    const matches = toMatcher(name);
    const values: string[] = [];
    each(this.#pairs, (pair) => {
      if (matches(pair)) defineOwn(values, values.length, pair.value, true);
    });
    return values;
  }

  /** Whether a pair of this name, and of this value if one is given, exists. */
  has(name: unknown, value?: unknown): boolean {
    requireArguments(arguments.length, 1);
    return this.#find(toMatcher(name, value)) !== undefined;
  }

  /** Puts the value where the name first stands and removes its other pairs, or appends. */
  set(name: unknown, value: unknown): void {
    requireArguments(arguments.length, 2);
    const next: Pair = { name: toUsvString(name), value: toUsvString(value) };
    const first = this.#find((pair) => pair.name === next.name);
    if (first === undefined) add(this.#pairs, next);
    else this.#keep((pair) => (pair === first ? next : pair.name === next.name ? undefined : pair));
    this.#onChange?.();
  }

  /** Orders by name, in UTF-16 code units; pairs of one name keep their order. */
  sort(): void {
    sort(this.#pairs, (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    this.#onChange?.();
  }

  /** Visits the pairs, those added meanwhile too. */
  forEach(visit: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void {
    if (typeof visit !== "function") throw new TypeError("forEach needs a function");
    for (let index = 0; index < this.#pairs.length; index += 1) {
      const pair = this.#pairs[index];
      if (pair !== undefined) apply(visit, self, [pair.value, pair.name, this]);
    }
  }

  /** Live iteration over `[name, value]`. */
  *entries(): IterableIterator<[string, string]> {
    for (let index = 0; index < this.#pairs.length; index += 1) {
      const pair = this.#pairs[index];
      if (pair !== undefined) yield [pair.name, pair.value];
    }
  }

  /** Live iteration over the names. */
  *keys(): IterableIterator<string> {
    for (let index = 0; index < this.#pairs.length; index += 1) {
      const pair = this.#pairs[index];
      if (pair !== undefined) yield pair.name;
    }
  }

  /** Live iteration over the values. */
  *values(): IterableIterator<string> {
    for (let index = 0; index < this.#pairs.length; index += 1) {
      const pair = this.#pairs[index];
      if (pair !== undefined) yield pair.value;
    }
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  /** The query without `?`. */
  toString(): string {
    return toQuery(this.#pairs);
  }

  get [Symbol.toStringTag](): string {
    return "URLSearchParams";
  }

  #find(matches: (pair: Pair) => boolean): Pair | undefined {
    for (let index = 0; index < this.#pairs.length; index += 1) {
      const pair = this.#pairs[index];
      if (pair !== undefined && matches(pair)) return pair;
    }
    return undefined;
  }

  /** Replaces each pair by what `choose` answers; `undefined` drops it. */
  #keep(choose: (pair: Pair) => Pair | undefined): void {
    const kept: List<Pair> = createList();
    each(this.#pairs, (pair) => {
      const chosen = choose(pair);
      if (chosen !== undefined) add(kept, chosen);
    });
    this.#pairs = kept;
  }
}

refuseToClone(URLSearchParams.prototype, "URLSearchParams");

/** Has `onChange` called after each change that the program makes. For `URL` only, never handed to the program. */
export function linkSearchParams(params: URLSearchParams, onChange: () => void): void {
  link(params, onChange);
}

/** Takes over a new query (without `?`) without calling `onChange`. For `URL` only, never handed to the program. */
export function replaceSearchParams(params: URLSearchParams, query: string): void {
  replace(params, query);
}

/** What `toString` answers, even after the program has replaced that method. */
export function toSearch(params: URLSearchParams): string {
  return write(params);
}

function toMatcher(rawName: unknown, rawValue?: unknown): (pair: Pair) => boolean {
  const name = toUsvString(rawName);
  if (rawValue === undefined) return (pair) => pair.name === name;
  const value = toUsvString(rawValue);
  return (pair) => pair.name === name && pair.value === value;
}

/** A forgotten argument would otherwise become the text "undefined". */
function requireArguments(given: number, needed: number): void {
  if (given < needed)
    throw new TypeError(needed + " argument" + (needed === 1 ? "" : "s") + " needed, " + given + " given");
}
