/**
 * Answers a client before it loses patience: what it asked for goes on without it. Until then whoever cancels the
 * request cancels the work; afterwards a closed connection ends nothing.
 */

import type { ExecutionEvent, ExecutionId } from "../domain/index.ts";

/** Who waits, how long, and what it hears meanwhile. */
export interface Patience {
  readonly patienceMs: number;
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
export async function withinPatience<Done>(
  { patienceMs, signal, onEvent, report }: Patience,
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
  const { timer, over } = startTimer(patienceMs);
  try {
    const ended = await Promise.race([done, over.then(() => opened.promise)]);
    // The last id counts: a request with a key may take the place of an execution that did nothing.
    if (ended || execution === undefined) return ended ?? (await done);
    done.catch(report);
    return { kind: "goes on", execution };
  } finally {
    isHeard = false;
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

function startTimer(ms: number): { readonly timer: NodeJS.Timeout; readonly over: Promise<void> } {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  return { timer: setTimeout(resolve, ms), over };
}
