/** Long work in slices, between which the event loop serves everything else. */

import { setImmediate as nextTurn } from "node:timers/promises";

/** Work that pauses at each `yield` and returns its result at the end. */
export type SlicedWork<T> = Generator<undefined, T>;

/** Runs one slice, and accounts for its time or refuses to run it. */
export type RunSlice = <T>(slice: () => T) => T;

/** Everything else on this thread waits at most about this long for one slice. */
export const SLICE_MS = 5;

/** Runs the work on this thread, and lets the event loop turn after each slice. */
export async function runInSlices<T>(work: SlicedWork<T>, run: RunSlice = (slice) => slice()): Promise<T> {
  for (;;) {
    const next = run(() => advance(work, performance.now() + SLICE_MS));
    if (next.done === true) return next.value;
    await nextTurn();
  }
}

/** Runs the work to its end without a pause. */
export function runAtOnce<T>(work: SlicedWork<T>): T {
  const end = advance(work, Infinity);
  if (end.done === true) return end.value;
  throw new TypeError("The work did not end");
}

function advance<T>(work: SlicedWork<T>, until: number): IteratorResult<undefined, T> {
  let next = work.next();
  while (next.done !== true && performance.now() < until) next = work.next();
  return next;
}
