/** Notices when an execution has nothing left to do but wait for people, and says that it can be put away. */

import type { Limits } from "../../domain/index.ts";

/** The program may still have something to do with an answer that has just been given to it. */
const QUIET_MS = 50;
/** Of the time that is left to the program; a pause that came later would come too late. */
const MOST_OF_THE_REST = 0.8;

export interface SuspensionOptions {
  /** How long the program itself waits. */
  readonly graceMs: number;
  readonly limits: Pick<Limits, "wallMs">;
  /** Whether the execution could be brought back. */
  readonly canPause: () => boolean;
  /** Fires when the gateway is about to end: what only waits is put away at once. */
  readonly leaving: AbortSignal;
  /** Fires when the program has ended in any way. */
  readonly ended: AbortSignal;
}

export interface SuspensionDetector {
  /** The program begins now. */
  readonly start: () => void;
  /** So many timers of the program are open: it waits for them too. */
  readonly onTimers: (open: number) => void;
  /** So many calls of the program are under way. */
  readonly onCalls: (open: number) => void;
  /** While `work` goes on, its call waits for a person. */
  whileWaiting<Value>(work: () => Promise<Value>): Promise<Value>;
  readonly signal: AbortSignal;
}

export function createSuspensionDetector(options: SuspensionOptions): SuspensionDetector {
  const { graceMs, limits, canPause, leaving, ended } = options;
  const away = new AbortController();
  let [startedAt, underWay, asking, timers] = [performance.now(), 0, 0, 0];
  let isDue = false;
  let grace: NodeJS.Timeout | undefined;
  let quiet: NodeJS.Timeout | undefined;

  const mayPause = (): boolean => isDue && asking > 0 && underWay === asking && timers === 0 && canPause();
  const look = (): void => {
    clearTimeout(quiet);
    if (mayPause()) quiet = setTimeout(() => mayPause() && away.abort(), QUIET_MS);
  };
  const fallDue = (): void => {
    isDue = true;
    look();
  };
  const leave = (): void => {
    isDue = true;
    if (mayPause()) away.abort();
  };
  leaving.addEventListener("abort", leave, { once: true });
  const tidy = (): void => {
    clearTimeout(grace);
    clearTimeout(quiet);
    leaving.removeEventListener("abort", leave);
  };
  ended.addEventListener("abort", tidy, { once: true });

  return {
    start: () => void (startedAt = performance.now()),
    onTimers: (open) => {
      timers = open;
      look();
    },
    onCalls: (open) => {
      underWay = open;
      look();
    },
    async whileWaiting(work) {
      const leftMs = limits.wallMs - (performance.now() - startedAt);
      grace ??= setTimeout(fallDue, Math.max(0, Math.min(graceMs, leftMs * MOST_OF_THE_REST)));
      asking += 1;
      look();
      try {
        return await work();
      } finally {
        asking -= 1;
        look();
      }
    },
    signal: away.signal,
  };
}
