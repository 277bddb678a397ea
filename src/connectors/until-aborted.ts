/** Waits for work that goes on without the one who waits. */

/** Rejects with the reason of the first signal that fires; the promise itself is left alone and may serve others. */
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
