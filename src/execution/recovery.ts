/** Resumes executions in this process: after a decision, after a restart, and when a client asks for one. */

import type { ExecutionId, ExecutionResult } from "../domain/index.ts";
import type { StoredExecution } from "../store/index.ts";
import { defined } from "../domain/index.ts";

import type { LedgerTrail } from "./ledger-trail.ts";
import { recoverAll, recoverOne, resumeIfDecided } from "./recover/recover-executions.ts";
import type { RecoverDeps } from "./recover/recover-executions.ts";
import { awaitUpstreams } from "./resume/await-upstreams.ts";
import { resumeExecution } from "./resume/resume-execution.ts";
import type { ResumeDeps } from "./resume/resume-execution.ts";
import type { RunningTable } from "./running-table.ts";

export interface Recovery {
  /** Runs at start: executions that earlier processes left open are closed or resumed. */
  readonly recoverAll: () => Promise<void>;
  /** Resumes a suspended execution if a decision was made. Does nothing in a process that does not last. Never rejects. */
  readonly resumeIfDecided: (execution: ExecutionId) => Promise<void>;
  /** The same in any process, because a person asked for it. Rejects when it cannot be resumed. */
  readonly resumeNow: (execution: ExecutionId) => Promise<void>;
  /** Recovers an execution whose process is dead. Returns its result, or `undefined` when it is resumed. */
  readonly recoverOne: (stored: StoredExecution) => Promise<ExecutionResult | undefined>;
}

export function createRecovery(
  deps: ResumeDeps & Omit<RecoverDeps, "awaitUpstreams" | "resumeExecution">,
  running: RunningTable,
): Recovery {
  const resuming = new Set<ExecutionId>();
  const awaited = new Set<ExecutionId>();

  const resume = async (
    stored: StoredExecution,
    why: "decided" | "restarted",
    trail?: LedgerTrail,
  ): Promise<ExecutionResult | undefined> => {
    const { id, principal } = stored;
    // Claims in the store tell processes apart, but not two runs of one process.
    if (resuming.has(id) || (!stored.ending && running.find(id))) return undefined;
    resuming.add(id);
    try {
      const entry = running.enter({ principal });
      return await resumeExecution(stored, { why, entry, ...defined({ trail }) }, deps).finally(entry.leave);
    } finally {
      resuming.delete(id);
    }
  };
  const recoverDeps: RecoverDeps = {
    ...deps,
    async awaitUpstreams(stored) {
      if (awaited.has(stored.id)) return false;
      awaited.add(stored.id);
      return awaitUpstreams(stored, deps).finally(() => awaited.delete(stored.id));
    },
    async resumeExecution(stored, why, trail) {
      const result = await resume(stored, why, trail);
      if (result?.state === "paused") void resumeSuspended(stored.id);
      return result;
    },
  };
  const resumeSuspended = async (id: ExecutionId): Promise<void> => {
    if (!deps.isLasting || deps.leaving.aborted) return;
    await resumeIfDecided(id, recoverDeps).catch((thrown: unknown) => void deps.report(thrown));
  };
  return {
    recoverAll: () => recoverAll(recoverDeps),
    resumeIfDecided: resumeSuspended,
    resumeNow: (id) => resumeIfDecided(id, recoverDeps),
    recoverOne: (stored) => recoverOne(stored, recoverDeps),
  };
}
