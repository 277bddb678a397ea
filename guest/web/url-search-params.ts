/** `URLSearchParams`, following the WHATWG URL standard; complete, and live when it belongs to a `URL`. */

import {
  RealMap,
  add,
  apply,
  createList,
  defineOwn,
  each,
  filter,
  get,
  getOwnPropertyDescriptor,
  mapForEach,
  mapSet,
  ownKeys,
  slice,
  sort,
} from "../intrinsics.ts";
import type { List } from "../intrinsics.ts";
import { refuseToClone } from "./clone-refusals.ts";
import { parseQuery, toQuery, toUsvString } from "./form-encoding.ts";
import type { Pair } from "./form-encoding.ts";

/** Makes `onChange` be called after each change that the program makes. For `URL` only, as the next two. */
export let linkSearchParams: (params: URLSearchParams, onChange: () => void) => void;
/** Replaces the query (without `?`) without calling `onChange`. */
export let replaceSearchParams: (params: URLSearchParams, query: string) => void;
/** What `toString` returns, even after the program has replaced that method. */
export let toSearch: (params: URLSearchParams) => string;

/** An ordered list of names and values, both of them strings without lone surrogates. */
export class URLSearchParams {
  #pairs: List<Pair>;
  #onChange: (() => void) | undefined;

  static {
    linkSearchParams = (params, onChange) => {
      params.#onChange = onChange;
    };
    replaceSearchParams = (params, query) => {
      params.#pairs = parseQuery(query);
    };
    toSearch = (params) => toQuery(params.#pairs);
  }

  /** From a query (with or without `?`), a record, pairs, or another `URLSearchParams`. */
  constructor(init?: unknown) {
    this.#pairs = toPairs(init);
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: unknown, value: unknown): void {
    requireArguments(arguments.length, 2);
    add(this.#pairs, { name: toUsvString(name), value: toUsvString(value) });
    this.#onChange?.();
  }

  /** Removes the pairs of a name, or only those that have this value too. */
  delete(name: unknown, value?: unknown): void {
    requireArguments(arguments.length, 1);
    const matches = toMatcher(name, value);
    this.#pairs = filter(this.#pairs, (pair) => !matches(pair));
    this.#onChange?.();
  }

  get(name: unknown): string | null {
    requireArguments(arguments.length, 1);
    return filter(this.#pairs, toMatcher(name))[0]?.value ?? null;
  }

  getAll(name: unknown): string[] {
    requireArguments(arguments.length, 1);
    const values: string[] = [];
    each(filter(this.#pairs, toMatcher(name)), ({ value }) => defineOwn(values, values.length, value, true));
    return values;
  }

  /** Whether a pair of this name, and of this value if one is given, exists. */
  has(name: unknown, value?: unknown): boolean {
    requireArguments(arguments.length, 1);
    return filter(this.#pairs, toMatcher(name, value)).length > 0;
  }

  /** Puts the value in the place of the first pair of this name and removes its other pairs, or appends. */
  set(name: unknown, value: unknown): void {
    requireArguments(arguments.length, 2);
    const next: Pair = { name: toUsvString(name), value: toUsvString(value) };
    let isSet = false;
    const pairs: List<Pair> = createList();
    each(this.#pairs, (pair) => {
      const isNamed = pair.name === next.name;
      if (!isNamed || !isSet) add(pairs, isNamed ? next : pair);
      isSet ||= isNamed;
    });
    if (!isSet) add(pairs, next);
    this.#pairs = pairs;
    this.#onChange?.();
  }

  /** Orders by name, in UTF-16 code units; pairs of one name keep their order. */
  sort(): void {
    sort(this.#pairs, (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    this.#onChange?.();
  }

  /** Visits the pairs, also those added meanwhile. */
  forEach(visit: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void {
    if (typeof visit !== "function") throw new TypeError("forEach needs a function");
    for (let index = 0; index < this.#pairs.length; index += 1) {
      const { name, value } = this.#pairs[index] as Pair;
      apply(visit, self, [value, name, this]);
    }
  }

  entries(): IterableIterator<[string, string]> {
    return this.#iterate(({ name, value }) => [name, value]);
  }

  keys(): IterableIterator<string> {
    return this.#iterate(({ name }) => name);
  }

  values(): IterableIterator<string> {
    return this.#iterate(({ value }) => value);
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  toString(): string {
    return toQuery(this.#pairs);
  }

  get [Symbol.toStringTag](): string {
    return "URLSearchParams";
  }

  /** Live: shows pairs that are added meanwhile. */
  *#iterate<Item>(toItem: (pair: Pair) => Item): IterableIterator<Item> {
    for (let index = 0; index < this.#pairs.length; index += 1) yield toItem(this.#pairs[index] as Pair);
  }
}

refuseToClone(URLSearchParams.prototype, "URLSearchParams");

function toMatcher(rawName: unknown, rawValue?: unknown): (pair: Pair) => boolean {
  const name = toUsvString(rawName);
  if (rawValue === undefined) return (pair) => pair.name === name;
  const value = toUsvString(rawValue);
  return (pair) => pair.name === name && pair.value === value;
}

/** A forgotten argument would otherwise become the string "undefined". */
function requireArguments(given: number, needed: number): void {
  if (given < needed)
    throw new TypeError(needed + " argument" + (needed === 1 ? "" : "s") + " needed, " + given + " given");
}

/** Converts as Web IDL does: objects with an iterator are sequences, other objects records, other values strings. */
export function toPairs(init: unknown): List<Pair> {
  if (init === undefined) return createList();
  if (isObject(init)) return isIterable(init) ? fromSequence(init) : fromRecord(init);
  const query = toUsvString(init);
  return parseQuery(query[0] === "?" ? slice(query, 1) : query);
}

function fromSequence(sequence: Iterable<unknown>): List<Pair> {
  const pairs: List<Pair> = createList();
  for (const item of sequence) add(pairs, toPair(item));
  return pairs;
}

function toPair(item: unknown): Pair {
  if (!isObject(item) || !isIterable(item)) throw new TypeError("Each pair must be an iterable of a name and a value");
  const parts: List<string> = createList();
  for (const part of item) add(parts, toUsvString(part));
  if (parts.length !== 2) throw new TypeError("Each pair must have a name and a value, nothing else");
  return { name: parts[0] as string, value: parts[1] as string };
}

/** Names that differ only in lone surrogates become one; the later value stays, in the earlier place. */
function fromRecord(record: object): List<Pair> {
  const values = new RealMap<string, string>();
  const names = ownKeys(record);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as PropertyKey;
    if (getOwnPropertyDescriptor(record, name)?.enumerable !== true) continue;
    mapSet(values, toUsvString(name), toUsvString(get(record, name)));
  }
  const pairs: List<Pair> = createList();
  mapForEach(values, (value, name) => add(pairs, { name: name as string, value: value as string }));
  return pairs;
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function isIterable(value: object): value is Iterable<unknown> {
  const method: unknown = get(value, Symbol.iterator);
  if (method === undefined || method === null) return false;
  if (typeof method !== "function") throw new TypeError("The iterator is not a function");
  return true;
}
