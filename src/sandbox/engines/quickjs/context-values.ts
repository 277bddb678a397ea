/** How values cross between this process and a QuickJS context: strings are copied, everything else stays a handle. */

import { ERROR_CHARS, PROGRAM_HEAD } from "../../wire.ts";
import type { ThrownMessage } from "../../wire.ts";
import { mapFirstLine } from "../realm.ts";
import { MemoryExhausted } from "./load-quickjs.ts";
import type { Handle, QuickjsExports, QuickjsInstance } from "./load-quickjs.ts";

/** Precedes the program on its first line. */
export const HEAD = PROGRAM_HEAD.trimEnd();
/** QuickJS counts the columns of the first line from here, and those of all others from 1. */
const FIRST_COLUMN = 0;
/** A value has 64 bits; the upper half says what it is. */
const TAG_AT = 4;
const POINTER_BYTES = 4;
const ALL_JOBS = -1;

/** Values and facts that exist before a program runs. The program may replace the built-ins among them, not these. */
export interface ContextRoots {
  readonly runtime: number;
  readonly context: number;
  readonly undefined: Handle;
  /** The built-in `JSON.stringify`. */
  readonly stringify: Handle;
  /** The string "length". */
  readonly lengthKey: Handle;
  /** Room for the arguments of a call, and for what the engine returns through a pointer. */
  readonly scratch: number;
  /** The C string of the program's file name. */
  readonly programFile: number;
  /** The upper halves of a string and of a result that means an exception. */
  readonly stringTag: number;
  readonly exceptionTag: number;
}

/** As many arguments as `scratch` has room for. */
export const MOST_ARGUMENTS = 4;
export const SCRATCH_BYTES = MOST_ARGUMENTS * POINTER_BYTES;

/** An exception of the guest: strings that were read once. */
export class GuestThrew extends Error {
  readonly thrown: ThrownMessage;

  constructor(thrown: ThrownMessage) {
    super(thrown.message);
    this.thrown = thrown;
  }
}

/** The border of one context. */
export class ContextValues {
  readonly #instance: QuickjsInstance;
  readonly #exports: QuickjsExports;
  readonly #roots: ContextRoots;

  constructor(instance: QuickjsInstance, roots: ContextRoots) {
    this.#instance = instance;
    this.#exports = instance.exports;
    this.#roots = roots;
  }

  /** Evaluates a script; `file` is a C string. */
  evaluate(text: string, file: number): Handle {
    const sizeBytes = Buffer.byteLength(text);
    const at = this.#copyIn(text, sizeBytes);
    const result = this.#exports.evaluate(this.#roots.context, at, sizeBytes, file, 0, 0);
    this.#exports.free(at);
    return this.#check(result, "syntax");
  }

  call(target: Handle, args: readonly Handle[]): Handle {
    const { context, undefined: nothing, scratch } = this.#roots;
    const { bytes } = this.#instance;
    for (let index = 0; index < args.length; index += 1)
      bytes.writeUInt32LE(args[index] ?? 0, scratch + index * POINTER_BYTES);
    return this.#check(this.#exports.call(context, target, nothing, args.length, scratch), "thrown");
  }

  /** Runs every job that waits. */
  runJobs(): void {
    const result = present(this.#exports.runJobs(this.#roots.runtime, ALL_JOBS, this.#roots.scratch));
    // The number of jobs, or what one of them threw; that is never a number, because a promise takes such a value.
    if (this.#typeOf(result) !== "number") throw this.#describe(result, "thrown");
    this.free(result);
  }

  number(value: number): Handle {
    return present(this.#exports.newNumber(this.#roots.context, value));
  }

  /** Throws `MemoryExhausted` if the engine has no room: an invalid handle must not be passed on. */
  write(text: string): Handle {
    const at = this.#copyIn(text, Buffer.byteLength(text));
    const handle = present(this.#exports.newString(this.#roots.context, at));
    this.#exports.free(at);
    if (this.#tagOf(handle) !== this.#roots.stringTag) throw new MemoryExhausted("The instance is full");
    return handle;
  }

  /** An argument of a call that the guest makes. It belongs to the guest. */
  argument(args: Handle, index: number): Handle {
    return this.#exports.getArgument(args, index);
  }

  isString(handle: Handle): boolean {
    return this.#typeOf(handle) === "string";
  }

  readNumber(handle: Handle): number {
    return this.#exports.getNumber(this.#roots.context, handle);
  }

  /**
   * The engine gives out a string up to its first NUL, and half a surrogate pair becomes U+FFFD. A string with another
   * length afterwards, or with that character, is therefore read again as JSON, which escapes both. The length alone is
   * not enough: the two changes can cancel out.
   */
  read(handle: Handle): string {
    const text = this.#copyOut(handle);
    const length = this.getProperty(handle, this.#roots.lengthKey);
    const isWhole = this.readNumber(length) === text.length && !text.includes("\ufffd");
    this.free(length);
    return isWhole ? text : parseText(this.#copyOut(this.call(this.#roots.stringify, [handle])));
  }

  getProperty(target: Handle, key: Handle): Handle {
    return present(this.#exports.getProperty(this.#roots.context, target, key));
  }

  free(handle: Handle): void {
    this.#exports.freeValue(this.#roots.context, handle);
  }

  #check(result: Handle, syntax: "syntax" | "thrown"): Handle {
    if (this.#tagOf(present(result)) !== this.#roots.exceptionTag) return result;
    throw this.#describe(present(this.#exports.resolveException(this.#roots.context, result)), syntax);
  }

  /** `syntax` is what a `SyntaxError` means here; any other error is the program's own. */
  #describe(error: Handle, syntax: "syntax" | "thrown"): GuestThrew {
    const read = (key: string): string => {
      const value = this.getProperty(error, this.write(key));
      return this.isString(value) ? this.read(value).slice(0, ERROR_CHARS) : "";
    };
    const [name, message, stack] = [read("name"), read("message"), read("stack")];
    return new GuestThrew(withAuthorStack({ kind: name === "SyntaxError" ? syntax : "thrown", name, message, stack }));
  }

  #typeOf(handle: Handle): string {
    const at = present(this.#exports.typeOf(this.#roots.context, handle));
    const type = this.#textAt(at);
    this.#exports.free(at);
    return type;
  }

  #tagOf(handle: Handle): number {
    return this.#instance.bytes.readInt32LE(handle + TAG_AT);
  }

  #copyIn(text: string, sizeBytes: number): number {
    const at = present(this.#exports.malloc(sizeBytes + 1));
    const { bytes } = this.#instance;
    bytes.write(text, at, sizeBytes, "utf8");
    bytes[at + sizeBytes] = 0;
    return at;
  }

  #copyOut(handle: Handle): string {
    const at = present(this.#exports.getString(this.#roots.context, handle));
    const text = this.#textAt(at);
    this.#exports.freeString(this.#roots.context, at);
    return text;
  }

  #textAt(at: number): string {
    const { bytes } = this.#instance;
    return bytes.toString("utf8", at, bytes.indexOf(0, at));
  }
}

/** The engine returns 0 where it has no room for a result. */
function present(address: number): number {
  if (address === 0) throw new MemoryExhausted("The instance is full");
  return address;
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
