/** Races a promise against abort signals and timeouts. The promise itself is left alone, so several callers can share it. */

import { setTimeout as delay } from "node:timers/promises";

/** A signal that never fires, for callers that cannot cancel. */
export const NEVER: AbortSignal = new AbortController().signal;

/** Rejects with the reason of the first signal that fires. */
export async function untilAborted<T>(promise: Promise<T>, ...signals: readonly AbortSignal[]): Promise<T> {
  for (const signal of signals) signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = ({ target }: Event): void => reject(target instanceof AbortSignal ? target.reason : undefined);
  for (const signal of signals) signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", onAbort);
  }
}

/** True when `promise` settles, either way, within `ms`. The timer does not keep the process alive. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(ms, false, { signal: timer.signal, ref: false }).catch(() => false);
  const settled = Promise.allSettled([promise]).then(() => true);
  try {
    return await Promise.race([settled, late]);
  } finally {
    timer.abort();
  }
}
