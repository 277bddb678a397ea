/**
 * Private copies of the built-in functions that guest code relies on, taken before a program runs.
 * A program may replace any built-in of its realm; from here on that harms the program alone.
 * Code in `guest/` therefore uses no iteration protocol, no spread of untrusted arrays, no method of a built-in, and no
 * template with a hole in it: some engines put those together with the `String.prototype.concat` of the moment.
 */

export const { apply, ownKeys, construct, getOwnPropertyDescriptor } = Reflect;
export const { create, defineProperty, freeze, getPrototypeOf, keys } = Object;
export const { isArray } = Array;
export const { isView } = ArrayBuffer;
export const { parse: parseJson, stringify: stringifyJson } = JSON;
export const { floor } = Math;
export const toText = String;

/** A method of a prototype as a function; the type is the caller's claim about a standard built-in. */
function method<Self, Args extends readonly unknown[], Result>(prototype: object, name: PropertyKey) {
  const value: unknown = getOwnPropertyDescriptor(prototype, name)?.value;
  return (self: Self, ...args: Args): Result => apply(value as () => Result, self, args);
}

export const RealPromise = Promise;
export const promiseThen = method<Promise<unknown>, [(value: unknown) => void, (reason: unknown) => void], unknown>(
  Promise.prototype,
  "then",
);
export const isPrototypeOf = method<object, [unknown], boolean>(Object.prototype, "isPrototypeOf");

export const Bytes = Uint8Array;
export const RealMap = Map;
export const mapGet = method<Map<unknown, unknown>, [unknown], unknown>(Map.prototype, "get");
export const mapSet = method<Map<unknown, unknown>, [unknown, unknown], unknown>(Map.prototype, "set");
export const mapDelete = method<Map<unknown, unknown>, [unknown], boolean>(Map.prototype, "delete");
export const mapForEach = method<Map<unknown, unknown>, [(value: unknown, key: unknown) => void], void>(
  Map.prototype,
  "forEach",
);
export const setForEach = method<Set<unknown>, [(value: unknown) => void], void>(Set.prototype, "forEach");

export const RealWeakMap = WeakMap;
export const weakGet = method<WeakMap<object, number>, [object], number | undefined>(WeakMap.prototype, "get");
export const weakSet = method<WeakMap<object, number>, [object, number], unknown>(WeakMap.prototype, "set");

export const sortArray = method<unknown[], [(a: unknown, b: unknown) => number], unknown[]>(Array.prototype, "sort");
export const dateGetTime = method<Date, [], number>(Date.prototype, "getTime");
export const dateToIso = method<Date, [], string>(Date.prototype, "toISOString");
export const dateToText = method<Date, [], string>(Date.prototype, "toString");
export const regexToText = method<RegExp, [], string>(RegExp.prototype, "toString");
export const symbolToText = method<symbol, [], string>(Symbol.prototype, "toString");
export const split = method<string, [string], string[]>(String.prototype, "split");
export const slice = method<string, [number, number], string>(String.prototype, "slice");
export const padStart = method<string, [number, string], string>(String.prototype, "padStart");
export const numberToText = method<number, [number], string>(Number.prototype, "toString");

export const PROTOTYPES = freeze({
  object: Object.prototype,
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
