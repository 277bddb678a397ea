/** Detects that an execution only waits for approvals, so that it can be suspended. */

import type { Limits } from "../../domain/index.ts";

/** The program may still work on a reply that was just delivered, for longer on a busy machine. */
const QUIET_MS = 250;
/** The share of the remaining wall time after which it is suspended at the latest. */
const MOST_OF_REST = 0.8;

export interface SuspensionOptions {
  /** How long the program stays in memory. */
  readonly graceMs: number;
  readonly limits: Pick<Limits, "wallMs">;
  /** True when the execution could be resumed. */
  readonly canSuspend: () => boolean;
  /** Fires when the gateway is about to close: a program that only waits is suspended at once. */
  readonly leaving: AbortSignal;
  /** Fires when the program has ended in any way. */
  readonly ended: AbortSignal;
}

export type SuspensionDetector = ReturnType<typeof createSuspensionDetector>;

export function createSuspensionDetector(options: SuspensionOptions) {
  const { graceMs, limits, canSuspend, leaving, ended } = options;
  const controller = new AbortController();
  const signal: AbortSignal = controller.signal;
  let [startedAt, openCalls, waiting, timers] = [performance.now(), 0, 0, 0];
  let isDue = false;
  let quiet: NodeJS.Timeout | undefined;

  const maySuspend = (): boolean => waiting > 0 && openCalls === waiting && timers === 0 && canSuspend();
  const suspend = (): boolean => {
    if (signal.aborted || !maySuspend()) return false;
    controller.abort();
    return true;
  };
  const check = (): void => {
    clearTimeout(quiet);
    if (isDue && maySuspend()) quiet = setTimeout(suspend, QUIET_MS);
  };
  const becomeDue = (next: () => unknown): void => {
    isDue = true;
    next();
  };
  const grace = createGrace(() => becomeDue(check));
  leaving.addEventListener("abort", () => becomeDue(suspend), { once: true, signal: ended });
  ended.addEventListener("abort", () => grace.end(), { once: true });
  ended.addEventListener("abort", () => clearTimeout(quiet), { once: true });

  return {
    /** Called when the program starts. */
    start: (): void => void (startedAt = performance.now()),
    /** Called with the number of open timers: the program waits for them, too. */
    onTimers: (open: number): void => {
      timers = open;
      check();
    },
    /** Called with the number of open calls. */
    onCalls: (open: number): void => {
      openCalls = open;
      check();
    },
    /** Counts a call as waiting for approval until `work` settles. `mostMs` is for one that stays in memory for less. */
    async whileWaiting<Value>(work: () => Promise<Value>, mostMs = graceMs): Promise<Value> {
      const leftMs = limits.wallMs - (performance.now() - startedAt);
      grace.within(Math.max(0, Math.min(graceMs, mostMs, leftMs * MOST_OF_REST)));
      waiting += 1;
      check();
      try {
        return await work();
      } finally {
        waiting -= 1;
        check();
      }
    },
    /** How many calls wait for approval. */
    waiting: (): number => waiting,
    /** Suspends it before it is due, to free its memory. The caller knows that the program does not compute. */
    suspend,
    signal,
  };
}

/** Fires once, at the earliest of the times that were set. */
function createGrace(onDue: () => void) {
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Infinity;
  return {
    within(ms: number): void {
      const at = performance.now() + ms;
      if (at >= dueAt) return;
      clearTimeout(timer);
      dueAt = at;
      timer = setTimeout(onDue, ms);
    },
    end: (): void => clearTimeout(timer),
  };
}
