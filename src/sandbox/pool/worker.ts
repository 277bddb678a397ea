/** One child of a pool, with the facts that decide whether it serves another program. */

import { NOTHING_MEASURED, measureProcess } from "../measure.ts";
import type { ProcessMeasure } from "../measure.ts";
import type { SandboxChild } from "../start-child.ts";

/** A child grows by a few megabytes per thousand executions, and a start costs as much as a hundred executions. */
const RECYCLE_AFTER = 5_000;
/** A child that grew by more has not released the memory of earlier programs. */
const MOST_GROWTH_BYTES = 48 * 1024 * 1024;

export interface PoolWorker {
  readonly child: SandboxChild;
  uses: number;
  /** Its resident memory when it was new. */
  firstBytes: number;
  baseline: ProcessMeasure;
  timer: NodeJS.Timeout | undefined;
  /** When it last reported READY, by the clock of this process. */
  readyAt: number;
  /** It is being killed; it gets no program even if it reports READY. */
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

/** The process takes some time to end; meanwhile it gets no program. */
export function endWorker(worker: PoolWorker): void {
  worker.isDismissed = true;
  worker.child.kill();
}

/** Measures it for the next program; false if it kept too much memory of earlier ones. */
export function renewBaseline(worker: PoolWorker): boolean {
  worker.baseline = measureProcess(worker.child.pid) ?? NOTHING_MEASURED;
  if (worker.baseline.residentBytes > worker.firstBytes + MOST_GROWTH_BYTES) return false;
  worker.firstBytes = Math.min(worker.firstBytes, worker.baseline.residentBytes);
  return true;
}

/** Whether it has run as many programs as one child should. */
export function isWornOut({ uses }: PoolWorker): boolean {
  return uses >= RECYCLE_AFTER;
}
