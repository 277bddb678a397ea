/** Ends whatever is under way when the gateway closes: each execution hears it as a cancellation and settles as one. */

import { GloveboxError } from "../../domain/index.ts";

export interface Shutdown {
  /**
   * Runs `work` with a signal that fires when `signal` does, or when everything is to end. Rejects with
   * `REQUEST_CANCELLED` when that has started already.
   */
  track<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Nothing begins any more. Resolves when all that was under way has settled, or when `mostMs` have passed. */
  end(mostMs: number): Promise<void>;
}

export function createShutdown(): Shutdown {
  const underWay = new Map<AbortController, Promise<unknown>>();
  let hasEnded = false;

  return {
    async track(signal, work) {
      if (hasEnded) throw closing();
      const own = new AbortController();
      const cancel = (): void => own.abort(signal.reason);
      if (signal.aborted) cancel();
      signal.addEventListener("abort", cancel, { once: true });
      const working = work(own.signal);
      underWay.set(own, working);
      try {
        return await working;
      } finally {
        underWay.delete(own);
        signal.removeEventListener("abort", cancel);
      }
    },
    async end(mostMs) {
      hasEnded = true;
      for (const own of underWay.keys()) own.abort(closing());
      const settled = Promise.allSettled(underWay.values());
      const timer = Promise.withResolvers<void>();
      const waiting = setTimeout(timer.resolve, mostMs);
      await Promise.race([settled, timer.promise]);
      clearTimeout(waiting);
    },
  };
}

function closing(): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", "Glovebox is shutting down", { hint: "Ask again when it runs again" });
}
