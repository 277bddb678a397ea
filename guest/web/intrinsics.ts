/**
 * Private copies of the built-ins that the guest world relies on, taken before the program runs.
 * The program shares the realm and may replace any prototype method; code that goes through these copies,
 * plain indexing and `List` keeps its answers.
 */

const { bind, call } = createList;

/** Turns a method into a function of its receiver, so that later changes to the prototype have no effect. */
export function uncurry<This, Args extends readonly unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
): (self: This, ...args: Args) => Result {
  return Reflect.apply(bind, call, [method]);
}

/** The getter behind an accessor, as a function of its receiver; one that answers `undefined` where there is none. */
export function uncurryGetter<Result>(prototype: object, key: PropertyKey): (self: object) => Result | undefined {
  const getter: unknown = Reflect.getOwnPropertyDescriptor(prototype, key)?.get;
  return typeof getter === "function" ? Reflect.apply(bind, call, [getter]) : () => undefined;
}

/** An array without a prototype: reads and writes never meet what the program put on `Array.prototype`. */
export interface List<Item> {
  [index: number]: Item;
  length: number;
}

/** Makes an empty list; `add` and `each` are its operations. */
export function createList<Item>(): List<Item> {
  const list: Item[] = [];
  setPrototypeOf(list, null);
  return list;
}

/** Puts an item at the end. */
export function add<Item>(list: List<Item>, item: Item): void {
  list[list.length] = item;
}

/** Visits the items that are there when it is called, in order. */
export function each<Item extends object | string>(list: List<Item>, visit: (item: Item) => void): void {
  const { length } = list;
  for (let index = 0; index < length; index += 1) {
    const item = list[index];
    if (item !== undefined) visit(item);
  }
}

/** Defines a writable, configurable property of the object itself; `Object.prototype` has no say in the descriptor. */
export function defineOwn(target: object, key: PropertyKey, value: unknown, enumerable: boolean): void {
  const descriptor = { __proto__: null, value, enumerable, writable: true, configurable: true };
  defineProperty(target, key, descriptor);
}

/** Converts as the language does when it needs a string: symbols throw, objects are asked. */
export function toText(value: unknown): string {
  return concat("", value);
}

const { setPrototypeOf } = Object;
const concat: (self: string, value: unknown) => string = Reflect.apply(bind, call, [String.prototype.concat]);

/** The functions of `Reflect` and of constructors, which need no receiver, as they were at the start. */
export const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys, get, set, construct } = Reflect;
export const { keys, hasOwn } = Object;
export const { isArray } = Array;
export const { fromCharCode } = String;
export const { parse: parseJson } = JSON;
/** A rejected promise without a handler: how the language reports an error that nothing catches. */
export const rejectPromise: (reason: unknown) => Promise<never> = Promise.reject.bind(Promise);

/** Methods, with the receiver as the first argument. */
export const charCodeAt = uncurry<string, [number], number>(String.prototype.charCodeAt);
export const indexOf = uncurry<string, [string, number?], number>(String.prototype.indexOf);
export const slice = uncurry<string, [number, number?], string>(String.prototype.slice);
export const toWellFormed = uncurry<string, [], string>(String.prototype.toWellFormed);
export const objectToString = uncurry<unknown, [], string>(Object.prototype.toString);
export const isPrototypeOf = uncurry<object, [object], boolean>(Object.prototype.isPrototypeOf);

/** Sorts in place and keeps equal items in their order; works on a `List` as on an array. */
export const sort: <Item>(list: List<Item>, compare: (a: Item, b: Item) => number) => unknown = Reflect.apply(
  bind,
  call,
  [Array.prototype.sort],
);

/** The constructors, because the program may replace the globals of these names; their methods take any object and throw. */
export const MapCopy: MapConstructor = Map;
export const SetCopy: SetConstructor = Set;
export const mapGet = uncurry<object, [unknown], unknown>(Map.prototype.get);
export const mapSet = uncurry<object, [unknown, unknown], unknown>(Map.prototype.set);
export const mapForEach = uncurry<object, [(value: unknown, key: unknown) => void], void>(Map.prototype.forEach);
export const setAdd = uncurry<object, [unknown], unknown>(Set.prototype.add);
export const setForEach = uncurry<object, [(value: unknown) => void], void>(Set.prototype.forEach);
