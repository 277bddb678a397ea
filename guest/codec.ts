/**
 * Writes a guest value as JSON text, by the rule of `docs/reference/guest-protocol.md`.
 * It walks the value itself instead of calling `JSON.stringify`, so that size and depth are counted while the
 * text grows and a result of a gigabyte is refused before it exists.
 */

import {
  Bytes,
  PROTOTYPES,
  apply,
  dateGetTime,
  dateToIso,
  getPrototypeOf,
  hasOwn,
  isArray,
  isPrototypeOf,
  isView,
  keys,
  mapForEach,
  regexToText,
  setForEach,
  stringifyJson,
  toText,
} from "./intrinsics.ts";

export interface EncodeLimits {
  readonly bytes: number;
  readonly depth: number;
}

/** Why a value has no JSON text. A program's own exceptions (a throwing getter) pass through unchanged. */
export class EncodeProblem extends Error {
  readonly reason: "size" | "depth" | "circular" | "promise";
  /** Where in the value a promise is, such as `rows[0].name`, and whether it is an item of an array. */
  place = "";
  isItem = false;
  constructor(reason: EncodeProblem["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

interface Walk {
  readonly limits: EncodeLimits;
  /** The objects around the present one, to find circular values. */
  readonly ancestors: unknown[];
  length: number;
}

const { number: NUMBER, string: STRING, boolean: BOOLEAN } = PROTOTYPES;
const unboxNumber = NUMBER.valueOf;
const unboxString = STRING.valueOf;
const unboxBoolean = BOOLEAN.valueOf;

/** JSON text of `value`; `undefined` where JSON has none (undefined, functions, symbols). */
export function encode(value: unknown, limits: EncodeLimits): string | undefined {
  return write(value, "", { limits, ancestors: [], length: 0 });
}

function write(value: unknown, key: string, walk: Walk): string | undefined {
  switch (typeof value) {
    case "string":
      // The quoted form is at least as long as the text: refuse before copying.
      if (walk.length + value.length > walk.limits.bytes) throw new EncodeProblem("size");
      return count(stringifyJson(value), walk);
    case "number":
      return count(value === value && value !== Infinity && value !== -Infinity ? toText(value) : "null", walk);
    case "boolean":
      return count(value ? "true" : "false", walk);
    case "bigint":
      return count('"' + toText(value) + '"', walk);
    case "object":
      return value === null ? count("null", walk) : writeObject(value, key, walk);
    default:
      return undefined;
  }
}

function count(text: string, walk: Walk): string {
  walk.length += text.length;
  if (walk.length > walk.limits.bytes) throw new EncodeProblem("size");
  return text;
}

function writeObject(value: object, key: string, walk: Walk): string | undefined {
  if (isPrototypeOf(PROTOTYPES.promise, value)) throw addPlace(new EncodeProblem("promise"), key);
  if (isPrototypeOf(PROTOTYPES.date, value)) return writeDate(value, walk);

  const toJSON = findToJson(value);
  if (typeof toJSON === "function") {
    const replaced: unknown = apply(toJSON, value, [key]);
    return replaced === value ? enter(value, key, walk) : write(replaced, key, walk);
  }
  return enter(value, key, walk);
}

/** A plain object or array has only a `toJSON` of its own: what is written as a constant is sent as one. */
function findToJson(value: object): unknown {
  const prototype: unknown = getPrototypeOf(value);
  const isPlain = prototype === PROTOTYPES.object || prototype === PROTOTYPES.array;
  return isPlain && !hasOwn(value, "toJSON") ? undefined : (value as { readonly toJSON?: unknown }).toJSON;
}

/** Goes one level down; the ancestors are released on the way out, also when a getter throws. */
function enter(value: object, key: string, walk: Walk): string {
  const { ancestors } = walk;
  const depth = ancestors.length;
  if (isAncestor(value, ancestors)) throw new EncodeProblem("circular");
  if (depth >= walk.limits.depth) throw new EncodeProblem("depth");
  ancestors[depth] = value;
  try {
    return writeContainer(value, walk);
  } catch (problem) {
    throw addPlace(problem, key);
  } finally {
    ancestors.length = depth;
  }
}

const SHOWN_KEY = 40;

function addPlace(problem: unknown, key: string): unknown {
  if (!(problem instanceof EncodeProblem) || problem.reason !== "promise" || key === "") return problem;
  const isIndex = key >= "0" && key < ":";
  const name = key.length > SHOWN_KEY ? "…" : key;
  const { place } = problem;
  if (place === "") problem.isItem = isIndex;
  const rest = place === "" || (place >= "[" && place < "\\") ? place : "." + place;
  problem.place = (isIndex ? "[" + name + "]" : name) + rest;
  return problem;
}

function isAncestor(value: object, ancestors: readonly unknown[]): boolean {
  for (let index = 0; index < ancestors.length; index += 1) if (ancestors[index] === value) return true;
  return false;
}

function writeContainer(value: object, walk: Walk): string {
  if (isArray(value)) return writeItems(value.length, (index) => (value as readonly unknown[])[index], walk);
  const prototype: unknown = getPrototypeOf(value);
  if (prototype === PROTOTYPES.object || prototype === null) return writeEntries(value, walk);
  return writeExotic(value, walk) ?? writeEntries(value, walk);
}

/** Built-in classes; `undefined` for a class instance, which is written by its own enumerable keys. */
function writeExotic(value: object, walk: Walk): string | undefined {
  if (isPrototypeOf(PROTOTYPES.map, value)) return writeMap(value as Map<unknown, unknown>, walk);
  if (isPrototypeOf(PROTOTYPES.set, value)) return writeSet(value as Set<unknown>, walk);
  if (isPrototypeOf(PROTOTYPES.regexp, value)) return count(stringifyJson(regexToText(value)), walk);
  if (isPrototypeOf(PROTOTYPES.error, value)) return writeError(value as Error, walk);
  if (isPrototypeOf(NUMBER, value)) return write(apply(unboxNumber, value, []), "", walk) ?? "null";
  if (isPrototypeOf(STRING, value)) return write(apply(unboxString, value, []), "", walk) ?? "null";
  if (isPrototypeOf(BOOLEAN, value)) return write(apply(unboxBoolean, value, []), "", walk) ?? "null";
  const bytes = isPrototypeOf(PROTOTYPES.buffer, value) ? new Bytes(value as ArrayBuffer) : value;
  if (!isView(bytes) || !("length" in bytes)) return undefined;
  const view = bytes as unknown as { readonly length: number; readonly [index: number]: unknown };
  return writeItems(view.length, (index) => view[index], walk);
}

function writeItems(length: number, at: (index: number) => unknown, walk: Walk): string {
  // Each item needs a character, and a comma between items: 2^31 holes are refused before any is read.
  if (walk.length + 2 * length - 1 > walk.limits.bytes) throw new EncodeProblem("size");
  let text = "[";
  for (let index = 0; index < length; index += 1) {
    const item = write(at(index), toText(index), walk) ?? count("null", walk);
    text += index === 0 ? item : "," + item;
    walk.length += 1;
  }
  return text + "]";
}

function writeEntries(value: object, walk: Walk): string {
  const names = keys(value);
  let text = "{";
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    const item = write((value as Readonly<Record<string, unknown>>)[name], name, walk);
    if (item === undefined) continue;
    text += (text === "{" ? "" : ",") + count(stringifyJson(name), walk) + ":" + item;
    walk.length += 2;
  }
  return text + "}";
}

function writeDate(value: object, walk: Walk): string {
  const time = dateGetTime(value);
  return count(time === time ? '"' + dateToIso(value) + '"' : "null", walk);
}

/** A map with only string keys becomes an object, any other map an array of pairs. */
function writeMap(map: Map<unknown, unknown>, walk: Walk): string {
  const pairs: unknown[][] = [];
  let named = true;
  mapForEach(map, (value, key) => {
    named &&= typeof key === "string";
    pairs[pairs.length] = [key, value];
  });
  if (!named) return writeItems(pairs.length, (index) => pairs[index], walk);
  let text = "{";
  for (let index = 0; index < pairs.length; index += 1) {
    const pair = pairs[index] as [string, unknown];
    const item = write(pair[1], pair[0], walk);
    if (item !== undefined) text += (text === "{" ? "" : ",") + count(stringifyJson(pair[0]), walk) + ":" + item;
  }
  return text + "}";
}

function writeSet(set: Set<unknown>, walk: Walk): string {
  const items: unknown[] = [];
  setForEach(set, (item) => {
    items[items.length] = item;
  });
  return writeItems(items.length, (index) => items[index], walk);
}

/** Adds name and message, which are not enumerable keys of an error. */
function writeError(error: Error, walk: Walk): string {
  const record: Record<string, unknown> = { name: error.name, message: error.message };
  const names = keys(error);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    record[name] = (error as unknown as Readonly<Record<string, unknown>>)[name];
  }
  return writeEntries(record, walk);
}
