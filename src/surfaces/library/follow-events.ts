/** Turns the events of an execution into an iterator. */

import type { ExecutionEvent, ExecutionResult } from "../../domain/index.ts";
import type { LibraryEvent } from "./glovebox.ts";

/** What `execute` gets in addition to the request. */
export interface Observer {
  readonly signal: AbortSignal;
  readonly onEvent: (event: ExecutionEvent) => void;
}

/** Starts at the first `next`. The limits of the execution bound how many events can wait for their reader. */
export async function* followEvents(
  execute: (observer: Observer) => Promise<ExecutionResult>,
): AsyncGenerator<LibraryEvent, void, undefined> {
  const waiting: LibraryEvent[] = [];
  const abandoned = new AbortController();
  let wake = Promise.withResolvers<void>();
  const add = (event: LibraryEvent): void => {
    waiting.push(event);
    wake.resolve();
  };
  const run = { isDone: false };
  const ended = execute({ signal: abandoned.signal, onEvent: add })
    .then((result) => add({ kind: "ended", result }))
    .finally(() => {
      run.isDone = true;
      wake.resolve();
    });
  ended.catch(() => undefined); // thrown below, unless the reader left
  try {
    while (!run.isDone || waiting.length > 0) {
      await wake.promise;
      wake = Promise.withResolvers();
      yield* waiting.splice(0);
      if (run.isDone) wake.resolve();
    }
    await ended;
  } finally {
    abandoned.abort();
  }
}
