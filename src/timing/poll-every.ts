/** A periodic task that never overlaps itself. */

/**
 * Runs `task` every `everyMs` until disposed. A run that rejects is ignored; the next one starts as usual. The timer does
 * not keep the process alive, and disposing waits for the run in progress. `first` is a run that has already started.
 */
export function pollEvery(everyMs: number, task: () => Promise<void>, first?: Promise<void>): AsyncDisposable {
  const settle = (run: Promise<void>): Promise<void> => run.catch(() => undefined);
  let running = settle(first ?? Promise.resolve());
  const timer = setInterval(() => {
    running = settle(running.then(task));
  }, everyMs);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}
