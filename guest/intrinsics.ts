/**
 * Private copies of the built-ins that guest code relies on, taken before a program runs. A program shares the realm and
 * may replace any built-in; afterwards that harms only the program.
 * Code in `guest/` therefore uses no iteration protocol, no spread of untrusted arrays, no method of a built-in, and no
 * template with a hole in it: some engines build those with the current `String.prototype.concat`.
 */

const { bind, call } = uncurry;

/** Turns a method into a function of its receiver; the types are the caller's claim about a standard built-in. */
export function uncurry<This, Args extends readonly unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
): (self: This, ...args: Args) => Result {
  return Reflect.apply(bind, call, [method]);
}

/** The getter of an accessor as a function of its receiver; returns `undefined` if the engine does not have it. */
export function uncurryGetter<Result>(prototype: object, key: PropertyKey): (self: object) => Result | undefined {
  const getter: unknown = Reflect.getOwnPropertyDescriptor(prototype, key)?.get;
  return typeof getter === "function" ? Reflect.apply(bind, call, [getter]) : () => undefined;
}

export const { apply, construct, deleteProperty, get, getOwnPropertyDescriptor, ownKeys, set } = Reflect;
export const { create, defineProperty, freeze, getPrototypeOf, hasOwn, keys } = Object;
const { setPrototypeOf } = Object;
export const { isArray } = Array;
export const { isView } = ArrayBuffer;
export const { fromCharCode } = String;
export const { parse: parseJson, stringify: stringifyJson } = JSON;
export const { floor } = Math;
/** Converts anything to a string, also symbols. */
export const toText = String;
/** Converts as Web IDL does for a `DOMString`: symbols throw. */
export function toDomString(value: unknown): string {
  return concat("", value);
}
const concat = uncurry<string, [unknown], string>(String.prototype.concat as (value: unknown) => string);

/** Private copies of constructors, because a program may replace the globals of these names. */
export const RealPromise = Promise;
export const RealMap = Map;
export const RealSet = Set;
export const RealWeakMap = WeakMap;
export const RealError = Error;
export const Bytes = Uint8Array;

export const promiseThen = uncurry<Promise<unknown>, [(value: unknown) => void, (reason: unknown) => void], unknown>(
  Promise.prototype.then,
);
export const isPrototypeOf = uncurry<object, [unknown], boolean>(
  Object.prototype.isPrototypeOf as (value: unknown) => boolean,
);
export const objectToString = uncurry<unknown, [], string>(Object.prototype.toString);

/** Each throws for a receiver of another kind. */
export const mapGet = uncurry<object, [unknown], unknown>(Map.prototype.get);
export const mapSet = uncurry<object, [unknown, unknown], unknown>(Map.prototype.set);
export const mapDelete = uncurry<object, [unknown], boolean>(Map.prototype.delete);
export const mapForEach = uncurry<object, [(value: unknown, key: unknown) => void], void>(Map.prototype.forEach);
export const mapSize = uncurryGetter<number>(Map.prototype, "size");
export const setAdd = uncurry<object, [unknown], unknown>(Set.prototype.add);
export const setForEach = uncurry<object, [(value: unknown) => void], void>(Set.prototype.forEach);
export const weakGet = uncurry<WeakMap<object, number>, [object], number | undefined>(WeakMap.prototype.get);
export const weakSet = uncurry<WeakMap<object, number>, [object, number], unknown>(WeakMap.prototype.set);

export const dateGetTime = uncurry<object, [], number>(Date.prototype.getTime);
export const dateToIso = uncurry<object, [], string>(Date.prototype.toISOString);
const writeDate = uncurry<object, [], string>(Date.prototype.toString);
/** Some engines leave out the name of the time zone, which is always UTC. */
const zoneName = writeDate(new Date(0)) === "Thu Jan 01 1970 00:00:00 GMT+0000" ? " (Coordinated Universal Time)" : "";
export function dateToText(date: object): string {
  const text = writeDate(date);
  return text === "Invalid Date" ? text : text + zoneName;
}
export const regexToText = uncurry<object, [], string>(RegExp.prototype.toString);
export const regexExec = uncurry<RegExp, [string], object | null>(RegExp.prototype.exec);
export const symbolToText = uncurry<symbol, [], string>(Symbol.prototype.toString);
export const numberToText = uncurry<number, [number], string>(Number.prototype.toString);

export const charCodeAt = uncurry<string, [number], number>(String.prototype.charCodeAt);
export const indexOf = uncurry<string, [string, number?], number>(String.prototype.indexOf);
export const padStart = uncurry<string, [number, string], string>(String.prototype.padStart);
export const slice = uncurry<string, [number, number?], string>(String.prototype.slice);
export const split = uncurry<string, [string], string[]>(String.prototype.split);
export const toLowerCase = uncurry<string, [], string>(String.prototype.toLowerCase);
export const toWellFormed = uncurry<string, [], string>(String.prototype.toWellFormed);
export const trim = uncurry<string, [], string>(String.prototype.trim);

export const PROTOTYPES = freeze({
  object: Object.prototype,
  array: Array.prototype,
  date: Date.prototype,
  map: Map.prototype,
  set: Set.prototype,
  regexp: RegExp.prototype,
  error: Error.prototype,
  promise: Promise.prototype,
  number: Number.prototype,
  string: String.prototype,
  boolean: Boolean.prototype,
  buffer: ArrayBuffer.prototype,
});

/** Defines a writable, configurable property of the object itself; `Object.prototype` cannot change the descriptor. */
export function defineOwn(target: object, key: PropertyKey, value: unknown, enumerable: boolean): void {
  defineProperty(target, key, { __proto__: null, value, enumerable, writable: true, configurable: true } as object);
}

/** An array without a prototype: reads and writes never meet what the program put on `Array.prototype`. */
export interface List<Item> {
  [index: number]: Item;
  length: number;
}

export function createList<Item>(): List<Item> {
  const list: Item[] = [];
  setPrototypeOf(list, null);
  return list;
}

export function add<Item>(list: List<Item>, item: Item): void {
  list[list.length] = item;
}

/** Visits the items that the list has when it is called, in order. */
export function each<Item extends object | string>(list: List<Item>, visit: (item: Item) => void): void {
  const { length } = list;
  for (let index = 0; index < length; index += 1) visit(list[index] as Item);
}

/** A new list of the items that `isKept` accepts. */
export function filter<Item extends object | string>(list: List<Item>, isKept: (item: Item) => boolean): List<Item> {
  const kept: List<Item> = createList();
  each(list, (item) => isKept(item) && add(kept, item));
  return kept;
}

/** Sorts in place and keeps equal items in their order; works on arrays too. */
export const sort: <Item>(list: List<Item>, compare: (a: Item, b: Item) => number) => unknown = uncurry(
  Array.prototype.sort as (this: unknown, compare: (a: never, b: never) => number) => unknown,
);
