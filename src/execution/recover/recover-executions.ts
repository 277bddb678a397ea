/** Decides what happens to executions that a dead process left, and to suspended ones that may resume. */

import { ERRORS, defined } from "../../domain/index.ts";
import type { CallRecord, Execution, ExecutionId, ExecutionResult, PublicError } from "../../domain/index.ts";
import type { StoredExecution } from "../../store/index.ts";

import type { RecordDeps } from "../deps.ts";
import { adviseRetry, closeFromLedger } from "../execution-log.ts";
import { allDeliveries } from "../journal.ts";
import { parseStoredResult } from "../journal-schema.ts";
import {
  findLostCalls,
  readTrail,
  readTrails,
  recordCallEnd,
  recordOpeningOnce,
  toCallRecords,
} from "../ledger-trail.ts";
import type { LedgerCall, LedgerTrail } from "../ledger-trail.ts";
import { releaseIfLost } from "../quotas.ts";
import type { RunningTable } from "../running-table.ts";
import { emptyResult } from "../settle.ts";
import { resumeExecution } from "./resume-execution.ts";
import type { ResumeDeps, ResumeReason } from "./resume-execution.ts";
import { untilWritten } from "./until-written.ts";
import { awaitUpstreams } from "./wait-to-resume.ts";

export interface RecoverDeps extends RecordDeps {
  /** Fires when the gateway is about to close. */
  readonly leaving: AbortSignal;
  /** True when this process lives long enough to resume executions that others left. */
  readonly isLasting: boolean;
  /** Resumes it in this process; resolves when it has ended. `trail` is still current. */
  resumeExecution(
    stored: StoredExecution,
    why: ResumeReason,
    trail?: LedgerTrail,
  ): Promise<ExecutionResult | undefined>;
  /** Resolves once its upstreams are back; with false when it should not be resumed here. */
  awaitUpstreams(stored: StoredExecution): Promise<boolean>;
}

export function createRecovery(deps: ResumeDeps & Pick<RecoverDeps, "isLasting">, running: RunningTable) {
  const resuming = new Set<ExecutionId>();
  const awaited = new Set<ExecutionId>();
  const recoverDeps: RecoverDeps = {
    ...deps,
    async awaitUpstreams(stored) {
      if (awaited.has(stored.id)) return false;
      awaited.add(stored.id);
      return awaitUpstreams(stored, deps).finally(() => awaited.delete(stored.id));
    },
    async resumeExecution(stored, why, trail) {
      const { id, principal } = stored;
      // Claims in the store tell processes apart, but not two runs of one process.
      if (resuming.has(id) || (!stored.ending && running.find(id))) return undefined;
      resuming.add(id);
      try {
        const entry = running.enter({ principal });
        const resumed = resumeExecution(stored, { why, entry, ...defined({ trail }) }, deps);
        const result = await resumed.finally(entry.leave);
        if (result?.state === "paused") void resumeSuspended(id); // reads the store first, so this run has left by then
        return result;
      } finally {
        resuming.delete(id);
      }
    },
  };
  const resumeSuspended = async (id: ExecutionId): Promise<void> => {
    if (!deps.isLasting || deps.leaving.aborted) return;
    await resumeIfDecided(id, recoverDeps).catch((thrown: unknown) => void deps.report(thrown));
  };
  return {
    /** Runs at start: executions that earlier processes left open are closed or resumed. */
    recoverAll: (): Promise<void> => recoverAll(recoverDeps),
    /** Resumes a suspended execution if a decision was made. Does nothing in a process that does not last. Never rejects. */
    resumeIfDecided: resumeSuspended,
    /** Closes a suspended execution of a principal that is no longer valid. Never rejects. */
    async resumeInvalid(id: ExecutionId): Promise<void> {
      const stored = deps.isLasting && !deps.leaving.aborted ? await deps.store.executions.find(id) : undefined;
      if (stored?.ending?.state !== "paused") return;
      await recoverDeps.resumeExecution(stored, "decided").catch((thrown: unknown) => void deps.report(thrown));
    },
    /** The same in any process, because a person asked for it. Rejects when it cannot be resumed. */
    resumeNow: (id: ExecutionId): Promise<void> => resumeIfDecided(id, recoverDeps),
    /** Recovers an execution whose process is dead. Returns its result, or `undefined` when it is resumed. */
    recoverOne: (stored: StoredExecution): Promise<ExecutionResult | undefined> => recoverOne(stored, recoverDeps),
  };
}

/** Runs at start. Resolves when every execution that cannot resume is closed; the others resume on their own. */
export async function recoverAll(deps: RecoverDeps): Promise<void> {
  const unfinished = await deps.store.executions.listUnfinished();
  const left = unfinished.filter(({ owner }) => owner !== undefined && deps.hasEnded(owner));
  const ids = left.map(({ id }) => id);
  const trails = await readTrails(ids, deps);
  for (const execution of left) {
    // Another process that started at the same time may have been faster.
    await recoverOne(execution, deps, trails.get(execution.id)).catch((thrown: unknown) => void deps.report(thrown));
  }
  if (!deps.isLasting) return;
  for (const { id } of await deps.store.executions.listPaused()) void resumeIfDecided(id, deps);
}

/**
 * Recovers an execution that a dead process left open:
 *
 * | Ledger          | Journal                     | Process      | Action            |
 * | --------------- | --------------------------- | ------------ | ----------------- |
 * | closed          | any                         | any          | close from ledger |
 * | open            | complete, no call was lost  | lasting      | resume            |
 * | open            | complete, no call was lost  | short-lived  | leave             |
 * | open            | otherwise                   | any          | close as lost     |
 *
 * A call was lost if it may have changed something and its reply is not in the journal. Returns the result, or
 * `undefined` when it is resumed or left. `known` is its trail since that process died, valid while no other process has
 * claimed it.
 */
export async function recoverOne(
  execution: Execution,
  deps: RecoverDeps,
  known?: LedgerTrail,
): Promise<ExecutionResult | undefined> {
  const { id } = execution;
  const trail = known ?? (await readTrail(id, deps));
  const { closing } = trail;
  if (closing) {
    return closeOnce(execution, deps, async () => {
      await deps.approvals.withdraw(id);
      return closeFromLedger(execution, { ...trail, closing }, deps);
    });
  }
  const recording = (await deps.journals.read(id).catch((thrown: unknown) => void deps.report(thrown))) ?? undefined;
  const canResume = recording?.isWhole === true && findLostCalls(trail.calls, recording).length === 0;
  if (!canResume) return closeOnce(execution, deps, () => closeLost(execution, deps, known));
  if (deps.isLasting) await resumeLeft(execution, deps, known);
  return undefined;
}

/** Only while it is as it was found: another process, or this one, may run it by now, or it may have ended. */
async function resumeLeft(execution: Execution, deps: RecoverDeps, known?: LedgerTrail): Promise<void> {
  const stored = await deps.store.executions.find(execution.id);
  if (!stored || stored.ending || stored.owner !== execution.owner) return;
  void deps.resumeExecution(stored, "restarted", known).catch((thrown: unknown) => void deps.report(thrown));
}

/** Several processes may look at the same time: the one that claims it closes it. */
async function closeOnce(
  execution: Execution,
  deps: RecoverDeps,
  close: () => Promise<ExecutionResult>,
): Promise<ExecutionResult | undefined> {
  const { id, owner: from } = execution;
  if (!(await deps.store.executions.claim(id, { was: "open", from, by: deps.owner }))) return undefined;
  await releaseIfLost(execution, deps);
  return close();
}

/** Resumes a suspended execution if one of its approvals is decided, or if it waits for an upstream. */
async function resumeIfDecided(id: ExecutionId, deps: RecoverDeps): Promise<void> {
  const stored = await deps.store.executions.find(id);
  if (stored?.ending?.state !== "paused") return;
  const { approvals = [], error } = parseStoredResult(id, stored.ending.result);
  const awaited = await Promise.all(approvals.map((one) => deps.approvals.find(one)));
  // One that was suspended with an error waits for an upstream; a short-lived process reports that error instead.
  const isDue = error !== undefined || awaited.some((approval) => approval?.state !== "pending");
  if (!isDue || (error && deps.isLasting && !(await deps.awaitUpstreams(stored)))) return;
  await deps.resumeExecution(stored, "decided");
}

type CloseLostDeps = Pick<RecoverDeps, "approvals" | "engine" | "isolation" | "journals" | "ledger" | "log" | "store"> &
  Pick<RecoverDeps, "leaving" | "report">;

/**
 * Closes an execution that cannot resume from the ledger, which has every call before it left. `known` is the trail, if
 * nothing can have been added since it was read. The caller must own the execution.
 */
export async function closeLost(
  execution: Execution,
  deps: CloseLostDeps,
  known?: LedgerTrail,
): Promise<ExecutionResult> {
  const calls = await untilWritten(async (isFirst) => {
    const trail = (isFirst && known) || (await readTrail(execution.id, deps));
    await recordOpeningOnce(execution, trail, deps);
    const ended = toCallRecords(await endCalls(execution, trail, deps));
    await deps.approvals.withdraw(execution.id);
    return ended;
  }, deps);
  const result: ExecutionResult = { ...emptyResult(execution, "failed", deps), calls, error: toLostError(calls) };
  await deps.log.close(execution, result);
  return result;
}

/** Records the end of every open call: the outcome that the journal has, or `unknown` for one that was sent. */
async function endCalls(execution: Execution, trail: LedgerTrail, deps: CloseLostDeps): Promise<readonly LedgerCall[]> {
  const recording = await deps.journals.read(execution.id).catch(() => undefined);
  const delivered = new Map(
    recording && allDeliveries(recording).map(({ call }) => [call?.record.seq, call?.record] as const),
  );
  const calls = trail.calls.map((call): LedgerCall => {
    const answer = call.hasEnd ? undefined : delivered.get(call.seq);
    return answer ? { ...call, outcome: answer.outcome, ms: answer.ms } : call;
  });
  for (const call of calls) if (!call.hasEnd) await recordCallEnd(execution, call, deps);
  return calls;
}

const NAMED_CALLS = 10;

function toLostError(calls: readonly CallRecord[]): PublicError {
  const unknown = calls.filter(({ outcome }) => outcome === "unknown");
  const names = unknown.slice(0, NAMED_CALLS).map(({ tool, seq }) => `${tool} (call ${seq})`);
  const more = unknown.length > NAMED_CALLS ? ` and ${unknown.length - NAMED_CALLS} more` : "";
  const detail =
    unknown.length === 0
      ? "the outcome of each of its calls is known"
      : `${names.join(", ")}${more}: whether they took effect is unknown`;
  return {
    code: "SANDBOX_CRASHED",
    message: `Glovebox ended before this execution did; ${detail}`,
    retry: ERRORS.SANDBOX_CRASHED.retry && unknown.length === 0,
    hint: unknown.length === 0 ? adviseRetry(calls) : "Check these calls before you run the program again",
  };
}
