/** A periodic task that never overlaps itself. */

export interface Polling extends AsyncDisposable {
  /** Keeps the process alive until `unref` is called. */
  ref(): void;
  unref(): void;
}

/**
 * Runs `task` every `everyMs` until disposed. A run that rejects is ignored; the next one starts as usual. The timer does
 * not keep the process alive, and disposing waits for the run in progress. `first` is a run that has already started.
 */
export function pollEvery(everyMs: number, task: () => Promise<void>, first?: Promise<void>): Polling {
  const settle = (run: Promise<void>): Promise<void> => run.catch(() => undefined);
  let running = settle(first ?? Promise.resolve());
  const timer = setInterval(() => {
    running = settle(running.then(task));
  }, everyMs);
  timer.unref();
  return {
    ref: () => void timer.ref(),
    unref: () => void timer.unref(),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}
