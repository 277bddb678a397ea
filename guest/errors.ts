/** The error that a failed or refused tool call throws inside a program. */

import { ENGINE_ERRORS, ERROR_CHARS } from "../src/sandbox/wire.ts";
import type { ThrownMessage } from "../src/sandbox/wire.ts";
import {
  RealWeakMap,
  defineOwn,
  getPrototypeOf,
  isPrototypeOf,
  slice,
  toText,
  weakGet,
  weakSet,
} from "./intrinsics.ts";

/** Which call each error came from. The host looks the failure up under this number instead of trusting the error. */
const origins = new RealWeakMap<object, number>();

export class ToolError extends Error {
  readonly code: string;
  readonly retry: boolean;
  readonly hint: string | undefined;

  constructor(code: string, message: string, retry = false, hint?: string) {
    super(message);
    defineOwn(this, "name", "ToolError", false);
    this.code = code;
    this.retry = retry;
    this.hint = hint;
  }
}

/** Converts the host's failure of call `seq`; the stack shows the line of the call. */
export function toToolError(failure: unknown, seq: number, site: { readonly stack?: string }): ToolError {
  const { code, message, retry, hint } = failure as ToolError;
  const error = new ToolError(code, message, retry, hint);
  weakSet(origins, error, seq);
  if (typeof site.stack === "string") {
    defineOwn(error, "stack", "ToolError: " + error.message + framesOf(site.stack), false);
  }
  return error;
}

/** Some engines write the head line "Error" before the frames, some do not. */
function framesOf(stack: string): string {
  return slice(stack, 0, 5) === "Error" ? slice(stack, 5) : "\n" + stack;
}

const TOOL_ERROR = ToolError.prototype;

/** Reads each property of a thrown value once: a proxy or a getter may throw, or return another value the next time. */
export function describeThrown(thrown: unknown): Omit<ThrownMessage, "kind"> {
  if (typeof thrown !== "object" || thrown === null) {
    return { name: "", message: read(() => toText(thrown)), stack: "" };
  }
  const error = thrown as { readonly name?: unknown; readonly message?: unknown; readonly stack?: unknown };
  return {
    name: read(() => (typeof error.name === "string" ? error.name : "")),
    message: read(() => toText(error.message === undefined ? thrown : error.message)),
    stack: read(() => (typeof error.stack === "string" ? error.stack : "")),
    seq: weakGet(origins, thrown),
    code: isToolError(thrown) ? read(() => toText((thrown as ToolError).code)) : undefined,
  };
}

const { isError } = Error as unknown as { readonly isError?: (value: unknown) => boolean };
/** Those that this engine has. */
const ENGINE_PROTOTYPES: readonly object[] = ENGINE_ERRORS.flatMap((name) => {
  const made = (globalThis as unknown as { readonly [name: string]: { readonly prototype: object } | undefined })[name];
  return made ? [made.prototype] : [];
});

/**
 * Whether the engine may have made the error, so that another engine may word it differently or not throw at all. A
 * program that makes an error of such a class cannot be told apart, and counts. False for a `ToolError`, for other
 * subclasses, and for values that are not errors, which can only be thrown by a program. Runs no code of the program.
 */
export function isEngineError(error: unknown): boolean {
  if (isError?.(error) !== true) return false;
  const prototype: unknown = getPrototypeOf(error);
  for (let index = 0; index < ENGINE_PROTOTYPES.length; index += 1) {
    if (ENGINE_PROTOTYPES[index] === prototype) return true;
  }
  return false;
}

/** False for a proxy that throws when its prototype is read. */
function isToolError(thrown: object): boolean {
  try {
    return isPrototypeOf(TOOL_ERROR, thrown);
  } catch {
    return false;
  }
}

function read(get: () => string): string {
  try {
    return slice(get(), 0, ERROR_CHARS);
  } catch {
    return "";
  }
}
