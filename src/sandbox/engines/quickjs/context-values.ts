/** How values cross between this process and a QuickJS context: strings are copied, everything else stays a handle. */

import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten-core";

import { ERROR_CHARS, PROGRAM_HEAD } from "../../wire.ts";
import type { ThrownMessage } from "../../wire.ts";
import { mapFirstLine } from "../realm.ts";
import { MemoryExhausted } from "./load-quickjs.ts";

/** Precedes the program on its first line. */
export const HEAD = PROGRAM_HEAD.trimEnd();
/** QuickJS counts the columns of the first line from here, and those of all others from 1. */
const FIRST_COLUMN = 0;

/** An exception of the guest: strings that were read once. */
export class GuestThrew extends Error {
  readonly thrown: ThrownMessage;

  constructor(thrown: ThrownMessage) {
    super(thrown.message);
    this.thrown = thrown;
  }
}

/** The border of one context. Made before the program runs, which may replace the built-ins that are used here. */
export class ContextValues {
  readonly #context: QuickJSContext;
  readonly #stringify: QuickJSHandle;
  readonly #lengthKey: QuickJSHandle;

  constructor(context: QuickJSContext) {
    this.#context = context;
    this.#lengthKey = context.newString("length");
    this.#stringify = context.getProp(context.getProp(context.global, "JSON"), "stringify");
  }

  evaluate(text: string, file: string): QuickJSHandle {
    const result = this.#context.evalCode(text, file, { type: "global" });
    if (result.error) throw this.describe(result.error, "syntax");
    return result.value;
  }

  call(target: QuickJSHandle, ...args: readonly QuickJSHandle[]): QuickJSHandle {
    const result = this.#context.callFunction(target, this.#context.undefined, ...args);
    if (result.error) throw this.describe(result.error, "thrown");
    return result.value;
  }

  /** Calls with copies of plain values. They are not freed when the call throws: the whole instance is dropped then. */
  give(target: QuickJSHandle, ...values: readonly (QuickJSHandle | string | number)[]): void {
    const handles = values.map((value) => this.#toHandle(value));
    this.call(target, ...handles).dispose();
    for (const handle of handles) handle.dispose();
  }

  #toHandle(value: QuickJSHandle | string | number): QuickJSHandle {
    if (typeof value === "string") return this.write(value);
    return typeof value === "number" ? this.#context.newNumber(value) : value;
  }

  /** `syntax` is what a `SyntaxError` means here; any other error is the program's own. */
  describe(error: QuickJSHandle, syntax: "syntax" | "thrown"): GuestThrew {
    const read = (key: string): string => {
      const value = this.#context.getProp(error, key);
      return this.#context.typeof(value) === "string" ? this.read(value).slice(0, ERROR_CHARS) : "";
    };
    const [name, message, stack] = [read("name"), read("message"), read("stack")];
    return new GuestThrew(withAuthorStack({ kind: name === "SyntaxError" ? syntax : "thrown", name, message, stack }));
  }

  /** Throws `MemoryExhausted` if the engine has no room: an invalid handle must not be passed on. */
  write(text: string): QuickJSHandle {
    const handle = this.#context.newString(text);
    if (this.#context.typeof(handle) !== "string") throw new MemoryExhausted("The instance is full");
    return handle;
  }

  /**
   * The library reads a string up to its first NUL, and replaces half a surrogate pair by U+FFFD. A string with another
   * length afterwards, or with that character, is therefore read again as JSON, which escapes both. The length alone is
   * not enough: the two changes can cancel out.
   */
  read(handle: QuickJSHandle): string {
    const text = this.#context.getString(handle);
    using length = this.#context.getProp(handle, this.#lengthKey);
    if (this.#context.getNumber(length) === text.length && !text.includes("\ufffd")) return text;
    return parseText(this.#context.getString(this.call(this.#stringify, handle)));
  }
}

/** With the author's positions. QuickJS writes only frames; "name: message" is put before them, as in other engines. */
export function withAuthorStack(thrown: ThrownMessage): ThrownMessage {
  const frames = mapFirstLine(thrown.stack, HEAD, FIRST_COLUMN);
  const stack = /^\s+at /.test(frames) ? `${thrown.name}: ${thrown.message}\n${frames}` : frames;
  return { ...thrown, stack: stack.slice(0, ERROR_CHARS) };
}

function parseText(json: string): string {
  const text: unknown = JSON.parse(json);
  if (typeof text !== "string") throw new TypeError("The engine's JSON is not a string");
  return text;
}
