/**
 * Makes QuickJS do what V8 does where that is cheap, and removes what only QuickJS has: programs find the same language
 * everywhere. Does nothing in V8. What cannot be made equal is guarded in `engine-guards.ts`.
 */

import {
  RealWeakMap,
  apply,
  dateToText,
  defineOwn,
  defineProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  indexOf,
  slice,
  uncurry,
} from "./intrinsics.ts";

declare const Iterator: { readonly prototype: object };

export type Method = (...args: unknown[]) => unknown;
/** What happens instead of a call. */
export type Call = (target: Method, self: unknown, args: readonly unknown[]) => unknown;

/** What happens instead of a construction. */
type Construct = (target: Method, args: readonly unknown[], newTarget: Method) => object;

const NATIVE = "[native code]";

/** `Intl` is in every V8 that we use. */
const isQuickjs = typeof Intl === "undefined";

/** What `Function.prototype.toString` returns for replaced functions. */
const texts = new RealWeakMap<object, string>();
const getText = uncurry<WeakMap<object, string>, [object], string | undefined>(WeakMap.prototype.get);
const setText = uncurry<WeakMap<object, string>, [object, string], unknown>(WeakMap.prototype.set);
const FUNCTION = getPrototypeOf(uncurry) as Method;
const writeFunction = uncurry<unknown, [], string>(FUNCTION.toString);

/**
 * The built-in function with another behavior when it is called. It is a proxy, so that its name, its length, its
 * properties and the receivers that it refuses stay as they are.
 */
export function replaceCall(real: Method, call: Call, construct?: Construct): Method {
  const handler = { __proto__: null, apply: call, construct } as ProxyHandler<Method>;
  const replaced = new Proxy(real, handler);
  setText(texts, replaced, textOf(real));
  return replaced;
}

/** For a function of ours that stands for a built-in one. */
export function showAsBuiltIn(standIn: Method): Method {
  setText(texts, standIn, "function " + standIn.name + "() { " + NATIVE + " }");
  return standIn;
}

/** Built-in functions have their text on one line, and bound ones have no name in it. */
function textOf(self: unknown): string {
  const known = getText(texts, self as object);
  if (known !== undefined) return known;
  const text = writeFunction(self);
  if (slice(text, -NATIVE.length - 2) !== NATIVE + "\n}") return text;
  const head = slice(text, 0, indexOf(text, "("));
  return (indexOf(head, "function bound ") === 0 ? "function " : head) + "() { " + NATIVE + " }";
}

function fixMethod(holder: object, key: string, call: Call): void {
  defineOwn(holder, key, replaceCall(getOwnPropertyDescriptor(holder, key)?.value as Method, call), false);
}

/** Called once for a realm, before a program and after `lockDown`. */
export function fixEngine(): void {
  if (!isQuickjs) return;
  removeExtras();
  fixDates();
  fixMethod(FUNCTION, "toString", (_, self) => textOf(self));
  fixShapes();
}

function removeExtras(): void {
  const extras: readonly (readonly [object, readonly string[]])[] = [
    [Math, ["sumPrecise"]],
    [Map.prototype, ["getOrInsert", "getOrInsertComputed"]],
    [WeakMap.prototype, ["getOrInsert", "getOrInsertComputed"]],
    [Iterator, ["concat", "zip", "zipKeyed"]],
    [ArrayBuffer.prototype, ["immutable", "sliceToImmutable", "transferToImmutable"]],
    [FUNCTION, ["columnNumber", "fileName", "lineNumber"]],
    [Error, ["prepareStackTrace"]],
  ];
  for (const [holder, names] of extras) for (const name of names) Reflect.deleteProperty(holder, name);
}

/** A setter that returns NaN leaves a QuickJS date as it was, where it should be invalid. */
function fixDates(): void {
  const prototype = Date.prototype;
  const { setTime } = prototype;
  for (const key of Reflect.ownKeys(prototype)) {
    if (typeof key !== "string" || indexOf(key, "set") !== 0) continue;
    fixMethod(prototype, key, (target, self, args) => {
      const time = apply(target, self, args);
      if (time !== time) apply(setTime, self, [time]);
      return time;
    });
  }
  fixMethod(prototype, "toString", (_, self) => dateToText(self as object));
  fixMethod(prototype, "toTimeString", (target, self) => {
    const text = apply(target, self, []) as string;
    return text === "Invalid Date" ? text : text + " (Coordinated Universal Time)";
  });
}

function fixShapes(): void {
  defineProperty(String.prototype, "length", { configurable: false });
  defineProperty(Error, "stackTraceLimit", { value: 10, writable: true, enumerable: true, configurable: true });
  const { get, set } = getOwnPropertyDescriptor(Iterator.prototype, "constructor") ?? {};
  if (get) defineProperty(get, "name", { value: "get constructor" });
  if (set) defineProperty(set, "name", { value: "set constructor" });
  if (set) defineProperty(set, "length", { value: 1 });
  defineOwn(
    BigInt.prototype,
    "toLocaleString",
    replaceCall(Object.prototype.toLocaleString, (target, self, args) => apply(target, self, args)),
    false,
  );
}
