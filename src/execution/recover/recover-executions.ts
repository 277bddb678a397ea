/** Decides what happens to executions that a dead process left, and to suspended ones that may resume. */

import type { Execution, ExecutionId, ExecutionResult } from "../../domain/index.ts";
import type { StoredExecution } from "../../store/index.ts";

import type { ExecutionDeps } from "../deps.ts";
import { closeFromLedger } from "../execution-log.ts";
import type { Recording } from "../journal.ts";
import { findLostCalls, readTrail, readTrails } from "../ledger-trail.ts";
import type { LedgerTrail } from "../ledger-trail.ts";
import { releaseIfLost } from "../quotas.ts";
import { parseStoredResult } from "../stored-result.ts";
import { closeLost } from "./close-lost.ts";

export interface RecoverDeps extends Pick<
  ExecutionDeps,
  | "approvals"
  | "engine"
  | "hasEnded"
  | "isLasting"
  | "isolation"
  | "journals"
  | "ledger"
  | "log"
  | "owner"
  | "releaseQuota"
  | "report"
  | "store"
> {
  /** Resumes it in this process; resolves when it has ended. `trail` is still current. */
  resumeExecution(
    stored: StoredExecution,
    why: "decided" | "restarted",
    trail?: LedgerTrail,
  ): Promise<ExecutionResult | undefined>;
  /** Resolves once its upstreams are back; with false when it should not be resumed here. */
  awaitUpstreams(stored: StoredExecution): Promise<boolean>;
}

/**
 * What to do with an execution that a dead process left open:
 *
 * | Ledger          | Journal                     | Process      | Action            |
 * | --------------- | --------------------------- | ------------ | ----------------- |
 * | closed          | any                         | any          | close from ledger |
 * | open            | complete, no call was lost  | lasting      | resume            |
 * | open            | complete, no call was lost  | short-lived  | leave             |
 * | open            | otherwise                   | any          | close as lost     |
 *
 * A call was lost if it may have changed something and its reply is not in the journal.
 */
type RecoveryAction = "close from ledger" | "resume" | "leave" | "close as lost";

function chooseAction(trail: LedgerTrail, recording: Recording | undefined, isLasting: boolean): RecoveryAction {
  if (trail.closing) return "close from ledger";
  const canResume = recording?.isWhole === true && findLostCalls(trail.calls, recording).length === 0;
  if (!canResume) return "close as lost";
  return isLasting ? "resume" : "leave";
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
 * Recovers an execution whose process is dead. Returns its result, or `undefined` when it is resumed or left. `known` is
 * its trail since that process died, valid while no other process has claimed it.
 */
export async function recoverOne(
  execution: Execution,
  deps: RecoverDeps,
  known?: LedgerTrail,
): Promise<ExecutionResult | undefined> {
  const trail = known ?? (await readTrail(execution.id, deps));
  const { closing } = trail;
  const recording = closing
    ? undefined
    : await deps.journals.read(execution.id).catch((thrown: unknown) => void deps.report(thrown));
  const action = chooseAction(trail, recording ?? undefined, deps.isLasting);
  switch (action) {
    case "close from ledger":
      return closeOnce(execution, deps, async () => {
        await deps.approvals.withdraw(execution.id);
        return closing && closeFromLedger(execution, { ...trail, closing }, deps);
      });
    case "close as lost":
      return closeOnce(execution, deps, () => closeLost(execution, deps, known));
    case "resume":
      await resumeLeft(execution, deps, known);
      return undefined;
    case "leave":
      return undefined;
    default:
      return action satisfies never;
  }
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
  close: () => Promise<ExecutionResult | undefined>,
): Promise<ExecutionResult | undefined> {
  const { id, owner: from } = execution;
  const isOurs = await deps.store.executions.claim(id, { was: "open", from, by: deps.owner });
  if (!isOurs) return undefined;
  await releaseIfLost(execution, deps);
  return close();
}

/** Resumes a suspended execution if one of its approvals is decided, or if it waits for an upstream. */
export async function resumeIfDecided(id: ExecutionId, deps: RecoverDeps): Promise<void> {
  const stored = await deps.store.executions.find(id);
  if (stored?.ending?.state !== "paused") return;
  const { approvals = [], error } = parseStoredResult(id, stored.ending.result);
  const awaited = await Promise.all(approvals.map((one) => deps.approvals.find(one)));
  // One that was suspended with an error waits for an upstream; a short-lived process reports that error instead.
  const isDue = error !== undefined || awaited.some((approval) => approval?.state !== "pending");
  if (!isDue || (error && deps.isLasting && !(await deps.awaitUpstreams(stored)))) return;
  await deps.resumeExecution(stored, "decided");
}
