/**
 * Removes what a program does not need and could misuse: code from strings, shared memory, WebAssembly, clocks, and
 * everything that shows when the garbage collector runs. This is only tidiness inside the isolate; the wall is around it.
 */

import { defineOwn, defineProperty, getPrototypeOf } from "./intrinsics.ts";

/** Only some engines have the last four; programs find the same names everywhere. */
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

/** Separate from `lockDown`, because some engines add these to every realm that they create from a snapshot. */
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
  // Afterwards the constructors that compile strings cannot be reached from any function.
  for (const sample of functions) {
    const prototype = getPrototypeOf(sample) as object;
    defineProperty(prototype, "constructor", { value: refusal(prototype), writable: false, configurable: false });
  }
  closeFrames();
  defineOwn(globalThis, "Function", refusal(), false);
  defineOwn(globalThis, "eval", refuse, false);
}

type Frame = Readonly<Record<string, unknown>>;
declare const Error: {
  new (): { readonly stack?: unknown };
  prepareStackTrace?: ((error: unknown, frames: readonly Frame[]) => unknown) | undefined;
};

/**
 * A stack frame can return the function that runs in it. Not every engine hides that from strict code, and the guest's
 * own functions are in the stack of every program: with them it could start again, or answer its own calls.
 */
function closeFrames(): void {
  let frame: Frame | undefined;
  const isBuiltIn = Reflect.has(Error, "prepareStackTrace");
  Error.prepareStackTrace = (_, frames) => void (frame = frames[0]);
  void new Error().stack; // some engines call it now, some when the error is created
  Error.prepareStackTrace = undefined;
  if (!isBuiltIn) Reflect.deleteProperty(Error, "prepareStackTrace");
  if (frame === undefined) return;
  for (const name of ["getFunction", "getThis"]) Reflect.deleteProperty(getPrototypeOf(frame) as object, name);
}

/** Still works for `instanceof Function`; compiles nothing. */
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
