/** Word for whoever runs an execution that somebody else wants it to end. */

import type { ExecutionId, Instant } from "../domain/index.ts";

/** Who wants which execution to end, and since when. */
export interface CancellationRow {
  readonly execution: ExecutionId;
  readonly askedBy: string;
  readonly askedAt: Instant;
}

/** Wishes of people at other processes. What they came to is in the ledger; here they only wait to be heard. */
export interface CancellationStore {
  /** False when the execution has ended or never was; otherwise the first who asks is kept. */
  request(row: CancellationRow): Promise<boolean>;
  /** Those of executions that run or are paused, oldest first. */
  list(): Promise<readonly CancellationRow[]>;
}
