/** What the constructor of `URLSearchParams` takes: a query, a sequence of pairs, or a record. */

import type { Pair } from "./form-encoding.ts";
import { parseQuery, toUsvString } from "./form-encoding.ts";
import type { List } from "./intrinsics.ts";
import {
  add,
  createList,
  get,
  getOwnPropertyDescriptor,
  MapCopy,
  mapForEach,
  mapSet,
  ownKeys,
  slice,
  toText,
} from "./intrinsics.ts";

/** Converts as Web IDL does: objects with an iterator are sequences, other objects records, the rest text. */
export function toPairs(init: unknown): List<Pair> {
  if (init === undefined) return createList();
  const isObject = (typeof init === "object" && init !== null) || typeof init === "function";
  if (!isObject) return parseQuery(withoutMark(toUsvString(init)));
  return isIterable(init) ? fromSequence(init) : fromRecord(init);
}

function withoutMark(query: string): string {
  return query[0] === "?" ? slice(query, 1) : query;
}

function fromSequence(sequence: Iterable<unknown>): List<Pair> {
  const pairs: List<Pair> = createList();
  for (const item of sequence) add(pairs, toPair(item));
  return pairs;
}

function toPair(item: unknown): Pair {
  const isObject = (typeof item === "object" && item !== null) || typeof item === "function";
  if (!isObject || !isIterable(item)) throw new TypeError("Each pair must be an iterable of a name and a value");
  const parts: List<string> = createList();
  for (const part of item) add(parts, toUsvString(part));
  const [name, value] = [parts[0], parts[1]];
  if (parts.length !== 2 || name === undefined || value === undefined)
    throw new TypeError("Each pair must have a name and a value, nothing else");
  return { name, value };
}

/** Names that differ only in lone surrogates become one; the later value stays, in the earlier place. */
function fromRecord(record: object): List<Pair> {
  const values = new MapCopy();
  const names = ownKeys(record);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? "";
    if (getOwnPropertyDescriptor(record, name)?.enumerable !== true) continue;
    mapSet(values, toUsvString(name), toUsvString(get(record, name)));
  }
  const pairs: List<Pair> = createList();
  mapForEach(values, (value, name) => add(pairs, { name: toText(name), value: toText(value) }));
  return pairs;
}

function isIterable(value: object): value is Iterable<unknown> {
  const method: unknown = get(value, Symbol.iterator);
  if (method === undefined || method === null) return false;
  if (typeof method !== "function") throw new TypeError("The iterator is not a function");
  return true;
}
