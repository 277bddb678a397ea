/** Errors that the web standards tell apart by name; the isolate has no `DOMException`. */

import { defineOwn } from "./intrinsics.ts";

/** The names in use here, as the standards spell them. */
export type ErrorName = "AbortError" | "DataCloneError" | "InvalidCharacterError" | "TimeoutError";

const ErrorCopy: ErrorConstructor = Error;

/** Makes an `Error` whose own, non-enumerable `name` is what `error.name === "AbortError"` looks for. */
export function createNamedError(name: ErrorName, message: string): Error {
  const error = new ErrorCopy(message);
  defineOwn(error, "name", name, false);
  return error;
}
