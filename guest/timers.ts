/** `setTimeout` inside the isolate: the host waits, so that a program has no clock. */

import { TO_HOST } from "../src/sandbox/wire.ts";
import { RealMap, apply, mapDelete, mapGet, mapSet, mapSize, toText } from "./intrinsics.ts";
import type { Send } from "./tools.ts";

interface Timer {
  readonly callback: (...args: unknown[]) => unknown;
  readonly args: readonly unknown[];
}

const timers = new RealMap<number, Timer>();
let made = 0;

/** The timers that are set and were not cleared. */
export function countTimers(): number {
  return mapSize(timers) ?? 0;
}

/** Runs the callback of the timer `id`, whose exception reaches the caller. A cleared timer does nothing. */
export function fireTimer(id: number): void {
  const timer = mapGet(timers, id) as Timer | undefined;
  if (timer === undefined) return;
  mapDelete(timers, id);
  apply(timer.callback, undefined, timer.args);
}

export function createTimers(send: Send) {
  return {
    setTimeout: (callback: unknown, delayMs: unknown = 0, ...args: unknown[]): number => {
      if (typeof callback !== "function") throw new TypeError("setTimeout takes a function");
      const wait = Number(delayMs);
      made += 1;
      mapSet(timers, made, { callback, args });
      send(TO_HOST.TIMER, made, toText(wait >= 1 ? wait : 0));
      return made;
    },
    clearTimeout: (id: unknown): void => {
      mapDelete(timers, id);
    },
  };
}
