/**
 * Guards for QuickJS programs that V8 can take over. What would show a difference between the two engines first asks for
 * V8; if that returns, no V8 takes this program over, and it does what QuickJS does. A program never gets the function
 * that asks.
 */

import { replaceCall, showAsBuiltIn } from "./engine-fixes.ts";
import type { Call, Method } from "./engine-fixes.ts";
import { isEngineError } from "./errors.ts";
import {
  apply,
  construct,
  defineOwn,
  defineProperty,
  get,
  getOwnPropertyDescriptor,
  indexOf,
  ownKeys,
  regexExec,
} from "./intrinsics.ts";
import { sortLong, sortShort } from "./sort-as-v8.ts";

type RequestEngine = (reason: string) => void;

let request: RequestEngine | undefined;

/** Asks once for each program: if the first request returns, so would the others. */
function ask(reason: string): void {
  const asked = request;
  request = undefined;
  asked?.(reason);
}

function guardCall(holder: object, key: string, call: Call): void {
  const real: unknown = getOwnPropertyDescriptor(holder, key)?.value;
  if (typeof real === "function") defineOwn(holder, key, replaceCall(real as Method, call), false);
}

type Check = (self: unknown, args: readonly unknown[]) => boolean;

/** Asks before every call, or before those that `isUnequal` accepts. */
function guardCalls(holder: object, keys: readonly string[], isUnequal?: Check): void {
  for (const key of keys) {
    guardCall(holder, key, (target, self, args) => {
      if (request !== undefined && (isUnequal === undefined || isUnequal(self, args))) ask(key);
      return apply(target, self, args);
    });
  }
}

/** Also under its other name, as `constructor` of its prototype. */
function guardConstructor(key: "Date" | "RegExp", isUnequal: (args: readonly unknown[]) => boolean): void {
  const real = globalThis[key] as unknown as Method;
  const check = (args: readonly unknown[]): void => {
    if (request !== undefined && isUnequal(args)) ask(key);
  };
  const guarded = replaceCall(
    real,
    (target, self, args) => {
      check(args);
      return apply(target, self, args);
    },
    (target, args, newTarget) => {
      check(args);
      return construct(target, args, newTarget) as object;
    },
  );
  defineOwn(real.prototype as object, "constructor", guarded, false);
  defineOwn(globalThis, key, guarded, false);
}

const MATH =
  "acos acosh asin asinh atan atan2 atanh cbrt cos cosh exp expm1 hypot log log10 log1p log2 sin sinh tan tanh";
const DATES = ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"];
const LOCALE = ["toLocaleString"];

/** Called once, before any program. `requestEngine` returns if V8 cannot take the program over. */
export function installEngineGuards(requestEngine: RequestEngine): void {
  request = requestEngine;
  for (const holder of [Number.prototype, BigInt.prototype, Array.prototype, TYPED]) guardCalls(holder, LOCALE);
  guardCalls(Date.prototype, DATES);
  guardCalls(String.prototype, ["localeCompare"]);
  guardCalls(String.prototype, ["toLocaleLowerCase", "toLocaleUpperCase"], (_, args) => args[0] !== undefined);
  guardCalls(Math, MATH.split(" "));
  guardCalls(Math, ["pow"], (_, args) => isInexact(args[0], args[1]));
  guardCalls(Number.prototype, ["toString"], (self, args) => hasOwnDigits(self, args[0]));
  // Only V8 passes a third argument to a reviver.
  guardCalls(JSON, ["parse"], (_, args) => typeof args[1] === "function" && (args[1] as Method).length !== 2);
  guardCalls(TYPED, ["sort", "toSorted"], (_, args) => args[0] !== undefined);
  guardCalls(Math, ["random"], () => isComparing);
  guardCalls(RegExp, ["escape"], (_, args) => !isAscii(args[0]));
  guardCalls(Date, ["parse"], (_, args) => isOwnDateFormat(args));
  guardConstructor("Date", isOwnDateFormat);
  guardConstructor("RegExp", (args) => typeof args[1] === "string" && indexOf(args[1], "v") >= 0);
  guardCall(Array.prototype, "sort", (target, self, args) => sort(target, self, args, false));
  guardCall(Array.prototype, "toSorted", (target, self, args) => sort(target, self, args, true));
  addMissing();
  if (prepareAccessor) apply(prepareAccessor, Error, [onError]);
}

const TYPED = Object.getPrototypeOf(Uint8Array.prototype) as object;

/** Both engines are exact here; elsewhere their last digits differ. */
function isInexact(base: unknown, exponent: unknown): boolean {
  if (exponent === 0 || exponent === 1 || exponent === 2) return false;
  if (base !== 2 && base !== 10) return true;
  return !(typeof exponent === "number" && exponent % 1 === 0 && exponent >= 0 && exponent <= 15);
}

/** In these bases each engine writes fractions and large numbers with a number of digits of its own. */
function hasOwnDigits(self: unknown, radix: unknown): boolean {
  if (radix === undefined || radix === 10 || radix === 16 || radix === 2 || radix === 8) return false;
  return typeof self !== "number" || self % 1 !== 0 || self > 9_007_199_254_740_991 || self < -9_007_199_254_740_991;
}

const NOT_ASCII = /[^\0-\x7f]/;
/** The format of `toISOString`, with or without a time; every other one is read in the way of the engine. */
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

function isAscii(text: unknown): boolean {
  return typeof text === "string" && regexExec(NOT_ASCII, text) === null;
}

function isOwnDateFormat(args: readonly unknown[]): boolean {
  const text = args[0];
  return args.length === 1 && typeof text === "string" && regexExec(ISO, text) === null;
}

/** Whether a comparator runs whose calls differ between the engines. */
let isComparing = false;

function sort(target: Method, self: unknown, args: readonly unknown[], isCopied: boolean): unknown {
  const compare = args[0];
  if (request === undefined || typeof compare !== "function" || self === undefined || self === null) {
    return apply(target, self, args);
  }
  const short = sortShort(self, compare as Method, isCopied);
  if (short !== undefined) return short;
  isComparing = true;
  try {
    return sortLong(
      compare as Method,
      (watched) => apply(target, self, [watched]),
      () => ask("sort"),
    );
  } finally {
    isComparing = false;
  }
}

/** What only V8 has looks as if it were there, and asks when it is used in any way. */
function addMissing(): void {
  const intl = {};
  defineProperty(intl, Symbol.toStringTag, { value: "Intl", configurable: true });
  addGlobal("Intl", intl);
  for (const name of ["DisposableStack", "AsyncDisposableStack", "SuppressedError"]) addGlobal(name, function () {});
  const { rawJSON, isRawJSON } = { rawJSON(_: unknown) {}, isRawJSON(_: unknown) {} };
  for (const real of [rawJSON, isRawJSON]) {
    defineOwn(
      JSON,
      real.name,
      replaceCall(showAsBuiltIn(real), () => ask("rawJSON")),
      false,
    );
  }
  for (const name of ["dispose", "asyncDispose"]) defineProperty(Symbol, name, { value: Symbol("Symbol." + name) });
  const legacy = "input $_ lastMatch $& lastParen $+ leftContext $` rightContext $' $1 $2 $3 $4 $5 $6 $7 $8 $9";
  for (const name of legacy.split(" ")) addAccessor(RegExp, name);
}

function addGlobal(key: string, target: object): void {
  const traps: Record<string, unknown> = { __proto__: null };
  for (const trap of ownKeys(Reflect)) {
    const real: unknown = get(Reflect, trap);
    if (typeof trap !== "string") continue;
    traps[trap] = (...args: unknown[]): unknown => {
      ask(key);
      return apply(real as Method, undefined, args);
    };
  }
  defineOwn(globalThis, key, new Proxy(target, traps), false);
}

function addAccessor(holder: object, key: string): void {
  const made = {
    get [key](): unknown {
      return undefined;
    },
    set [key](_: unknown) {},
  };
  const { get: getter, set: setter } = getOwnPropertyDescriptor(made, key) ?? {};
  defineProperty(holder, key, {
    get: replaceCall(showAsBuiltIn(getter as Method), () => ask(key)),
    set: replaceCall(showAsBuiltIn(setter as Method), () => ask(key)),
    configurable: true,
  });
}

interface CallSite {
  getFunctionName(): string | null;
  getFileName(): string | null;
  getLineNumber(): number;
  getColumnNumber(): number;
  isNative(): boolean;
}

/** Only QuickJS has it as an accessor; `fixEngine` removes it. */
const prepareAccessor = getOwnPropertyDescriptor(Error, "prepareStackTrace")?.set;

/** QuickJS calls this when an error is made, before the program can catch it. Returns the stack as the engine writes it. */
function onError(error: unknown, frames: ArrayLike<CallSite>): string {
  if (request !== undefined && isEngineError(error)) ask("error");
  let stack = "";
  for (let index = 0; index < frames.length; index += 1) stack += writeFrame(frames[index] as CallSite);
  return stack;
}

function writeFrame(frame: CallSite): string {
  const head = "    at " + (frame.getFunctionName() ?? "<anonymous>");
  if (frame.isNative()) return head + " (native)\n";
  return head + " (" + frame.getFileName() + ":" + frame.getLineNumber() + ":" + frame.getColumnNumber() + ")\n";
}

/**
 * Called before a failed call rejects. While other requests are open the program may not wait for this one, and only V8
 * ends a program at a rejection that nothing handles.
 */
export function guardRejection(openRequests: number): void {
  if (openRequests > 1) ask("failed call");
}
