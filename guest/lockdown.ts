/**
 * Takes away what a program does not need and could misuse: code from strings, shared memory, WebAssembly, clocks, and
 * whatever shows when the collector runs. This is tidiness inside the isolate; the wall is around it.
 */

import { defineProperty, getPrototypeOf } from "./intrinsics.ts";

/** The last four are what only some engines have, so that programs find the same names everywhere. */
const REMOVED = [
  "SharedArrayBuffer",
  "Atomics",
  "WebAssembly",
  "WeakRef",
  "FinalizationRegistry",
  "performance",
  "DOMException",
  "InternalError",
  "queueMicrotask",
];

/** Apart from the rest: some engines add these to every realm that they make from a snapshot, and need what they add to. */
export function removeGlobals(): void {
  for (let index = 0; index < REMOVED.length; index += 1) {
    Reflect.deleteProperty(globalThis, REMOVED[index] as string);
  }
  Reflect.deleteProperty(globalThis, Symbol.toStringTag);
}

export function lockDown(): void {
  const functions = [
    function plain() {},
    async function pausing() {},
    function* yielding() {},
    async function* both() {},
  ];
  for (const sample of functions) replaceConstructor(getPrototypeOf(sample) as object);
  closeFrames();
  defineProperty(globalThis, "Function", { value: refusal(), writable: true, enumerable: false, configurable: true });
  defineProperty(globalThis, "eval", { value: refuse, writable: true, enumerable: false, configurable: true });
}

type Frame = Readonly<Record<string, unknown>>;
declare const Error: {
  new (): { readonly stack?: unknown };
  prepareStackTrace?: ((error: unknown, frames: readonly Frame[]) => unknown) | undefined;
};

/**
 * A frame of a stack can hand out the function that runs in it. Not every engine keeps that from strict code, and the
 * guest's own functions are in the stack of every program: with them it could start again, or answer its own calls.
 */
function closeFrames(): void {
  let frame: Frame | undefined;
  const isBuiltIn = Reflect.has(Error, "prepareStackTrace");
  Error.prepareStackTrace = (_, frames) => void (frame = frames[0]);
  void new Error().stack; // some engines ask now, some when the error was made
  Error.prepareStackTrace = undefined;
  if (!isBuiltIn) Reflect.deleteProperty(Error, "prepareStackTrace");
  if (frame === undefined) return;
  for (const name of ["getFunction", "getThis"]) Reflect.deleteProperty(getPrototypeOf(frame) as object, name);
}

/** After this the constructors that compile text cannot be reached from any function. */
function replaceConstructor(prototype: object): void {
  defineProperty(prototype, "constructor", { value: refusal(prototype), writable: false, configurable: false });
}

/** Still good for `instanceof Function`; compiles nothing. */
function refusal(prototype: object = Function.prototype): unknown {
  const constructor = function Function(): never {
    return refuse();
  };
  defineProperty(constructor, "prototype", { value: prototype, writable: false });
  return constructor;
}

function refuse(): never {
  throw new EvalError("Code from strings is switched off in this sandbox; write the code in the program itself");
}
