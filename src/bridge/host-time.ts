/**
 * Counts the time that the gateway's one thread spends on the calls of one execution. Everything else in the gateway
 * waits meanwhile, so each execution has a budget of it, `limits.hostMs`.
 */

import { GloveboxError } from "../domain/index.ts";
import type { Limits } from "../domain/index.ts";
import type { Owner, RunSlice } from "../timing/index.ts";

export interface HostTime {
  /** Counts from the first `enter` to the last `leave`; both calls of a pair are in one turn of the event loop. */
  enter(): void;
  leave(): void;
  /** Whose turns on the thread the calls take. */
  readonly owner: Owner;
  /** Runs and counts work that is done between two steps. Throws LIMIT_TIME instead if the budget is spent. */
  readonly spend: RunSlice;
  /** The error that ends the execution; `undefined` while the budget lasts. */
  overrun(): GloveboxError | undefined;
}

export function createHostTime(
  { hostMs }: Pick<Limits, "hostMs">,
  owner: Owner,
  clock: () => number = threadMs,
): HostTime {
  let usedMs = 0;
  let entered = 0;
  let enteredAt = 0;
  const enter = (): void => {
    if (entered === 0) enteredAt = clock();
    entered += 1;
  };
  const leave = (): void => {
    entered -= 1;
    if (entered === 0) usedMs += clock() - enteredAt;
  };
  const overrun = (): GloveboxError | undefined => {
    if (usedMs <= hostMs) return undefined;
    const used = `${Math.ceil(usedMs)} ms of the gateway's time`;
    return new GloveboxError("LIMIT_TIME", `The program's calls used ${used}; their limit is ${hostMs} ms (hostMs)`, {
      hint: "Make fewer calls, ask for smaller results, or split the work into several programs",
    });
  };
  const spend = <T>(work: () => T): T => {
    const error = overrun();
    if (error) throw error;
    enter();
    try {
      return work();
    } finally {
      leave();
    }
  };
  return { enter, leave, overrun, owner, spend: Object.assign(spend, { owner }) };
}

/** Processor time of this thread: a busy machine does not shorten the budget. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
