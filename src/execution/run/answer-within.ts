/**
 * Answers a client before it loses patience: what it asked for goes on without it. Until then whoever cancels the
 * request cancels the work; afterwards a closed connection ends nothing.
 */

import type { ExecutionEvent, ExecutionId } from "../../domain/index.ts";

/** Who waits, how long, and what it hears meanwhile. */
export interface Patience {
  readonly patienceMs: number;
  /** Ends patience before its time. */
  readonly until?: AbortSignal | undefined;
  readonly signal: AbortSignal;
  readonly onEvent?: ((event: ExecutionEvent) => void) | undefined;
  /** Hears why work failed that nobody waited for any more. */
  readonly report: (thrown: unknown) => void;
}

/** What the work is to watch and to tell instead of the client's own. */
export interface Watched {
  readonly signal: AbortSignal;
  readonly onEvent: (event: ExecutionEvent) => void;
}

/** What came of the work, or what to ask for later. */
export type Waited<Done> =
  | { readonly kind: "done"; readonly done: Done }
  | { readonly kind: "goes on"; readonly execution: ExecutionId };

/**
 * Work that has no execution yet is waited for until it has one: a client that was given nothing to ask for could
 * never learn what came of it.
 */
export async function answerWithin<Done>(
  { patienceMs, until, signal, onEvent, report }: Patience,
  work: (watched: Watched) => Promise<Done>,
): Promise<Waited<Done>> {
  const own = new AbortController();
  const cancel = (): void => own.abort(signal.reason);
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  const opened = Promise.withResolvers<void>();
  let execution: ExecutionId | undefined;
  let isHeard = true;
  const hear = (event: ExecutionEvent): void => {
    if (event.kind === "opened") opened.resolve(void (execution = event.execution));
    if (isHeard) onEvent?.(event);
  };
  const working = work({ signal: own.signal, onEvent: hear });
  const done = working.then((value): Waited<Done> => ({ kind: "done", done: value }));
  const patience = startTimer(patienceMs, until);
  try {
    const ended = await Promise.race([done, patience.over.then(() => opened.promise)]);
    // The last id counts: a request with a key may take the place of an execution that did nothing.
    if (ended || execution === undefined) return ended ?? (await done);
    done.catch(report);
    return { kind: "goes on", execution };
  } finally {
    isHeard = false;
    patience.stop();
    signal.removeEventListener("abort", cancel);
  }
}

function startTimer(ms: number, until?: AbortSignal): { readonly over: Promise<void>; readonly stop: () => void } {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const timer = setTimeout(end, until?.aborted ? 0 : ms);
  until?.addEventListener("abort", end, { once: true });
  const stop = (): void => {
    clearTimeout(timer);
    until?.removeEventListener("abort", end);
  };
  return { over, stop };
}
