/** One child of a pool, with what the pool must know to give it to another program or not. */

import { NOTHING_MEASURED, measureProcess } from "../measure.ts";
import type { ProcessMeasure } from "../measure.ts";
import type { SandboxChild } from "../start-child.ts";

/** A child grows by a few megabytes in a thousand executions, and starting one takes as long as a hundred of them. */
const RECYCLE_AFTER = 5_000;
/** One that holds so much more than at its start has not given back what programs used; the next needs its room. */
const MOST_GROWTH_BYTES = 48 * 1024 * 1024;

export interface PoolWorker {
  readonly child: SandboxChild;
  uses: number;
  /** What it held when it was new. */
  firstBytes: number;
  baseline: ProcessMeasure;
  timer: NodeJS.Timeout | undefined;
  /** When it last said that it is ready, by the clock of this process. */
  readyAt: number;
  /** It is being ended; whatever it still says, it gets no program. */
  isDismissed: boolean;
}

export function createWorker(child: SandboxChild): PoolWorker {
  return {
    child,
    uses: 0,
    firstBytes: Infinity,
    baseline: NOTHING_MEASURED,
    timer: undefined,
    readyAt: 0,
    isDismissed: false,
  };
}

/** Takes some time until the process is gone, in which nobody may get it. */
export function endWorker(worker: PoolWorker): void {
  worker.isDismissed = true;
  worker.child.kill();
}

/** Measures it anew, for the next program; false when it has kept too much of what programs used. */
export function renewBaseline(worker: PoolWorker): boolean {
  worker.baseline = measureProcess(worker.child.pid) ?? NOTHING_MEASURED;
  if (worker.baseline.residentBytes > worker.firstBytes + MOST_GROWTH_BYTES) return false;
  worker.firstBytes = Math.min(worker.firstBytes, worker.baseline.residentBytes);
  return true;
}

/** It has run as many programs as one child should. */
export function isWornOut({ uses }: PoolWorker): boolean {
  return uses >= RECYCLE_AFTER;
}
