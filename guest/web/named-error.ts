/** Errors that the web standards tell apart by name; the isolate has no `DOMException`. */

import { RealError, defineOwn } from "../intrinsics.ts";

type ErrorName = "AbortError" | "DataCloneError" | "InvalidCharacterError" | "TimeoutError";

export function createNamedError(name: ErrorName, message: string): Error {
  const error = new RealError(message);
  defineOwn(error, "name", name, false);
  return error;
}
