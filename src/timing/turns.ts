/**
 * Turns on this thread: while one owner has much to do, the event loop and other owners still get their turns. Principals
 * take turns, and the sessions of one principal; long work runs in slices.
 */

import { setImmediate as nextTurn } from "node:timers/promises";

import { createFairQueue } from "./fair-queue.ts";
import type { Owner, QueueItem } from "./fair-queue.ts";

/** Work that pauses at each `yield` and returns its result at the end. */
export type SlicedWork<T> = Generator<undefined, T>;

/** Runs one slice, and accounts for its time or refuses to run it. */
export interface RunSlice {
  <T>(slice: () => T): T;
  /** Whose turns the slices take. */
  readonly owner?: Owner;
}

/** Everything else on this thread waits at most about this long for one slice. */
const SLICE_MS = 5;
const GATEWAY: Owner = { principal: "", session: "" };

interface TurnRequest extends QueueItem {
  readonly start: () => void;
}

const queue = createFairQueue<TurnRequest>();
let turnStartedAt: number | undefined;
let isServing = false;

/** `undefined` if there is time in this turn of the event loop: then start at once. Otherwise resolves in a later turn. */
export function takeTurn(owner: Owner): Promise<void> | undefined {
  if (!queue.isWaiting(owner) && !isTurnLong()) return undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  queue.add({ owner, start: resolve });
  if (!isServing) void serve();
  return promise;
}

/** Runs the work on this thread, one slice in each turn of its owner. Without an owner it is work of the gateway itself. */
export async function runInSlices<T>(work: SlicedWork<T>, by: RunSlice | Owner = GATEWAY): Promise<T> {
  const run = typeof by === "function" ? by : <R>(slice: () => R): R => slice();
  const owner = typeof by === "function" ? (by.owner ?? GATEWAY) : by;
  for (;;) {
    const turn = takeTurn(owner);
    if (turn) await turn;
    const next = run(() => advance(work, performance.now() + SLICE_MS));
    if (next.done === true) return next.value;
  }
}

/** Like `map` of an array, with a pause after each item. */
export function* mapInSlices<Item, Value>(
  items: readonly Item[],
  change: (item: Item) => Value,
): SlicedWork<readonly Value[]> {
  const values: Value[] = [];
  for (const item of items) {
    values.push(change(item));
    yield;
  }
  return values;
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
  while (queue.items().length > 0) {
    await nextTurn();
    const until = performance.now() + SLICE_MS;
    do {
      queue.take()?.start();
      // What was released runs before this continues.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    } while (queue.items().length > 0 && performance.now() < until);
  }
  isServing = false;
}
