/** Detects that an execution only waits for approvals, so that it can be suspended. */

import type { Limits } from "../../domain/index.ts";
import { MINUTE_MS } from "../../timing/index.ts";

/** The program may still work on a reply that was just delivered, for longer on a busy machine. */
const QUIET_MS = 250;
/** The share of the remaining wall time after which it is suspended at the latest. */
const MOST_OF_REST = 0.8;
/** For how long in all the time of a program stands still while it waits in memory for a person. */
export const MOST_STILL_MS = 10 * MINUTE_MS;

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
  /** Set by tests. */
  readonly mostStillMs?: number;
}

export type SuspensionDetector = ReturnType<typeof createSuspensionDetector>;

export function createSuspensionDetector(options: SuspensionOptions) {
  const { graceMs, limits, canSuspend, leaving, ended } = options;
  const controller = new AbortController();
  const signal: AbortSignal = controller.signal;
  let [startedAt, openCalls, waiting, staying, timers] = [performance.now(), 0, 0, 0, 0];
  let isDue = false;
  let quiet: NodeJS.Timeout | undefined;
  const still = createStillness(options.mostStillMs ?? MOST_STILL_MS);

  const maySuspend = (): boolean => waiting > 0 && openCalls === waiting && timers === 0 && canSuspend();
  const suspend = (): boolean => {
    if (signal.aborted || !maySuspend()) return false;
    controller.abort();
    return true;
  };
  /** Called after each change of a count. */
  const check = (_changed?: number): void => {
    still.set(staying > 0 && openCalls === waiting + staying && timers === 0 && !ended.aborted);
    clearTimeout(quiet);
    if (isDue && maySuspend()) quiet = setTimeout(suspend, QUIET_MS);
  };
  const becomeDue = (next: () => unknown): void => {
    isDue = true;
    next();
  };
  const grace = createGrace(() => becomeDue(check));
  leaving.addEventListener("abort", () => becomeDue(suspend), { once: true, signal: ended });
  const end = (): void => {
    grace.end();
    clearTimeout(quiet);
    still.set(false);
  };
  ended.addEventListener("abort", end, { once: true });

  return {
    /** Called when the program starts. */
    start: (): void => void (startedAt = performance.now()),
    /** Called with the number of open timers: the program waits for them, too. */
    onTimers: (open: number): void => check((timers = open)),
    /** Called with the number of open calls. */
    onCalls: (open: number): void => check((openCalls = open)),
    /** Counts a call as waiting for approval until `work` settles. `mostMs` is for one that stays in memory for less. */
    whileWaiting<Value>(work: () => Promise<Value>, mostMs = graceMs): Promise<Value> {
      const leftMs = limits.wallMs - (performance.now() - startedAt);
      grace.within(Math.max(0, Math.min(graceMs, mostMs, leftMs * MOST_OF_REST)));
      return countDuring((by) => check((waiting += by)), work);
    },
    /**
     * Counts a call as waiting for a person in memory, where it cannot be suspended, until `work` settles. The time of the
     * program stands still while all its calls wait for people.
     */
    whileStaying: <Value>(work: () => Promise<Value>): Promise<Value> =>
      countDuring((by) => check((staying += by)), work),
    /** Calls the listener when the time of the program begins and ends to stand still. */
    watchStill: still.watch,
    /** How many calls wait for a person. */
    waiting: (): number => waiting + staying,
    /** Suspends it before it is due, to free its memory. The caller knows that the program does not compute. */
    suspend,
    signal,
  };
}

async function countDuring<Value>(count: (by: 1 | -1) => void, work: () => Promise<Value>): Promise<Value> {
  count(1);
  try {
    return await work();
  } finally {
    count(-1);
  }
}

/** Time that stands still, but not for longer than `mostMs` in all. */
function createStillness(mostMs: number) {
  const listeners = new Set<(isStill: boolean) => void>();
  let leftMs = mostMs;
  let since: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const set = (isStill: boolean): void => {
    if (isStill === (since !== undefined) || (isStill && leftMs <= 0)) return;
    clearTimeout(timer);
    const now = performance.now();
    leftMs -= since === undefined ? 0 : now - since;
    since = isStill ? now : undefined;
    if (isStill) timer = setTimeout(expire, leftMs);
    for (const listener of listeners) listener(isStill);
  };
  const expire = (): void => {
    set(false);
    leftMs = 0;
  };
  return { set, watch: (wanted: (isStill: boolean) => void): void => void listeners.add(wanted) };
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
