/** Says who cancelled an execution, to whoever reads its result. */

import { GloveboxError, describeError } from "../../domain/index.ts";
import type { ExecutionResult } from "../../domain/index.ts";

/** The reason of a signal that an operator fires. */
export function toCancelReason(by: string): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", `The execution was cancelled by ${by}`, {
    hint: "Ask the operator before you run the program again",
  });
}

/** A result that was cancelled for a reason of our own has that reason; a client's own words are not repeated. */
export function withCancelReason(result: ExecutionResult, { reason }: AbortSignal): ExecutionResult {
  if (result.state !== "cancelled" || !(reason instanceof GloveboxError)) return result;
  return { ...result, error: describeError(reason) };
}
