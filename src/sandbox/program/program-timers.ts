/** The open timers of one program, and how many of them are due within its time. */

import type { Limits } from "../../domain/index.ts";

import { MOST_TIMERS, createOverrun } from "./overruns.ts";
import { lastMs } from "./program-watch.ts";

export interface ProgramTimers {
  /** Throws LIMIT_CALLS if the maximum number of timers is open. */
  checkRoom(): void;
  /** `wantedMs` is untrusted and may be any number or NaN; `elapsedMs` is the age of the program. */
  start(id: number, wantedMs: number, elapsedMs: number): void;
  /** Afterwards no timer fires and nothing is counted. */
  stop(): void;
}

/** Calls `fire` for a timer that is due, and `onDue` with the number of open timers that will fire in time. */
export function createTimers(
  limits: Limits,
  fire: (id: number) => void,
  onDue: ((open: number) => void) | undefined,
): ProgramTimers {
  const timers = new Set<NodeJS.Timeout>();
  let due = 0;
  let isStopped = false;
  const countDue = (change: 1 | -1): void => {
    due += change;
    if (!isStopped) onDue?.(due);
  };
  return {
    checkRoom() {
      if (timers.size >= MOST_TIMERS) throw createOverrun("timers", limits);
    },
    start(id, wantedMs, elapsedMs) {
      // A timer past the wall limit never fires, so a shorter delay is enough.
      const delayMs = Math.min(Math.max(wantedMs || 0, 0), lastMs(limits));
      // A timer that is due after the program's end does not count.
      const isDue = elapsedMs + delayMs < limits.wallMs;
      const timer = setTimeout(() => {
        timers.delete(timer);
        fire(id);
        if (isDue) countDue(-1);
      }, delayMs);
      timers.add(timer);
      if (isDue) countDue(1);
    },
    stop() {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
