/** The error that a failed or refused tool call throws inside a program. */

import type { ThrownMessage } from "../src/sandbox/wire.ts";
import { RealWeakMap, defineProperty, isPrototypeOf, slice, toText, weakGet, weakSet } from "./intrinsics.ts";

/** Which call each error came from. The host looks the failure up under this number instead of trusting the error. */
const origins = new RealWeakMap<object, number>();

export class ToolError extends Error {
  readonly code: string;
  readonly retry: boolean;
  readonly hint: string | undefined;

  constructor(code: string, message: string, retry = false, hint?: string) {
    super(message);
    defineProperty(this, "name", { value: "ToolError", writable: true, enumerable: false, configurable: true });
    this.code = code;
    this.retry = retry;
    this.hint = hint;
  }
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retry: boolean;
  readonly hint?: string;
}

/** Made from what the host answered; its stack shows the line of the call. */
export function toolErrorOf(answer: unknown, seq: number, site: { readonly stack?: string }): ToolError {
  const failure = answer as Failure;
  const error = new ToolError(failure.code, failure.message, failure.retry, failure.hint);
  weakSet(origins, error, seq);
  if (typeof site.stack === "string") {
    defineProperty(error, "stack", {
      value: "ToolError: " + error.message + framesOf(site.stack),
      writable: true,
      enumerable: false,
      configurable: true,
    });
  }
  return error;
}

/** Some engines write the head line "Error" before the frames, some do not. */
function framesOf(stack: string): string {
  return slice(stack, 0, 5) === "Error" ? slice(stack, 5, stack.length) : "\n" + stack;
}

const TOOL_ERROR = ToolError.prototype;
const TEXT_LIMIT = 8_192;

/** Reads what was thrown, once, without trusting any of it: a proxy or a getter may throw or answer differently. */
export function describeThrown(thrown: unknown): Omit<ThrownMessage, "kind"> {
  if (typeof thrown !== "object" || thrown === null) {
    return { name: "", message: read(() => toText(thrown)), stack: "" };
  }
  const error = thrown as { readonly name?: unknown; readonly message?: unknown; readonly stack?: unknown };
  const seq = weakGet(origins, thrown);
  const message = read(() => (error.message === undefined ? toText(thrown) : toText(error.message)));
  return {
    name: read(() => (typeof error.name === "string" ? error.name : "")),
    message,
    stack: read(() => (typeof error.stack === "string" ? error.stack : "")),
    ...(seq !== undefined && { seq }),
    ...(isToolError(thrown) && { code: read(() => toText((thrown as ToolError).code)) }),
  };
}

/** A proxy that throws when it is asked for its prototype is none. */
function isToolError(thrown: object): boolean {
  try {
    return isPrototypeOf(TOOL_ERROR, thrown);
  } catch {
    return false;
  }
}

function read(get: () => string): string {
  try {
    return slice(get(), 0, TEXT_LIMIT);
  } catch {
    return "";
  }
}
