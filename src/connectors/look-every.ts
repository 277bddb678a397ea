/** Looks at something again and again, one look at a time, until it is disposed of. */

/**
 * A look that fails finds the same at the next one. The timer holds no process open; disposing waits for the look under
 * way. `first` is one that has begun already.
 */
export function lookEvery(everyMs: number, look: () => Promise<void>, first?: Promise<void>): AsyncDisposable {
  const settle = (one: Promise<void>): Promise<void> => one.catch(() => undefined);
  let looking = settle(first ?? Promise.resolve());
  const timer = setInterval(() => {
    looking = settle(looking.then(look));
  }, everyMs);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await looking;
    },
  };
}
