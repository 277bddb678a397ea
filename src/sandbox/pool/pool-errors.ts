/** Why an execution gets no child. */

import { GloveboxError } from "../../domain/index.ts";

export function createClosedError(): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", "Glovebox is shutting down");
}

export function createCancelledError(): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", "The execution was cancelled while it waited for its turn");
}

export function createBusyError(places: number, waiting: number): GloveboxError {
  return new GloveboxError("LIMIT_BUSY", `All ${places} places are taken and ${waiting} executions wait`, {
    hint: "Try again in a moment; an operator can raise sandbox.concurrency or sandbox.queue",
  });
}
