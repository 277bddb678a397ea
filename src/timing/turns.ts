/** Turns on this thread: while one owner has much to do, the event loop and other owners still get their turns. */

import { setImmediate as nextTurn } from "node:timers/promises";

import { SLICE_MS } from "./slices.ts";

/** What waits, by owner, in the order in which owners are served: one at a time of each. */
const queues = new Map<object, (() => void)[]>();
let turnStartedAt: number | undefined;
let isServing = false;

/** `undefined` if there is time in this turn of the event loop: then start at once. Otherwise resolves in a later turn. */
export function takeTurn(owner: object): Promise<void> | undefined {
  if (!queues.has(owner) && !isTurnLong()) return undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = queues.get(owner) ?? [];
  waiting.push(resolve);
  queues.set(owner, waiting);
  if (!isServing) void serve();
  return promise;
}

/** Measured from the first question in a turn. */
function isTurnLong(): boolean {
  if (turnStartedAt === undefined) {
    turnStartedAt = performance.now();
    setImmediate(() => (turnStartedAt = undefined)).unref();
  }
  return performance.now() - turnStartedAt > SLICE_MS;
}

async function serve(): Promise<void> {
  isServing = true;
  while (queues.size > 0) {
    await nextTurn();
    const until = performance.now() + SLICE_MS;
    do {
      releaseNext();
      // What was released runs before this continues.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    } while (queues.size > 0 && performance.now() < until);
  }
  isServing = false;
}

function releaseNext(): void {
  const [next] = queues;
  if (!next) return;
  const [owner, waiting] = next;
  queues.delete(owner);
  waiting.shift()?.();
  if (waiting.length > 0) queues.set(owner, waiting);
}
