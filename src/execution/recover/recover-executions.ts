/** Finds what goes on: executions that people decided about, and those that died with their process. */

import type { ApprovalRequests, Execution, ExecutionId, ExecutionResult } from "../../domain/index.ts";
import type { Store, StoredExecution } from "../../store/index.ts";

import { findLostCalls } from "./find-lost-calls.ts";
import type { Journals } from "../journal/open-journals.ts";
import { closeFromLedger } from "./close-from-ledger.ts";
import { readTrail, readTrails } from "./read-trail.ts";
import type { ClosingRecord, Trail } from "./read-trail.ts";
import { closeLost, releaseQuotaIfLost } from "./recover-execution.ts";
import type { RecoverDeps } from "./recover-execution.ts";
import { parseResult } from "../history/view-execution.ts";
import type { ResumeReason } from "../resume/resume-execution.ts";

export interface RecoverAllDeps extends RecoverDeps {
  readonly store: {
    readonly executions: Pick<Store["executions"], "claim" | "close" | "find" | "listPaused" | "listUnfinished">;
    readonly ledger: Pick<Store["ledger"], "search">;
  };
  readonly journals: Pick<Journals, "read">;
  readonly people: Pick<ApprovalRequests, "find" | "withdraw">;
  /** The name of this process. */
  readonly owner: string;
  /** Goes on with it in this process; resolves when that has ended. What was `read` of it still holds. */
  resumeExecution(stored: StoredExecution, why: ResumeReason, read?: Trail): Promise<ExecutionResult | undefined>;
  /** Resolves once its servers are back; with false when it is not to go on here. */
  awaitUpstreams(stored: StoredExecution): Promise<boolean>;
  /** Whether this process lives long enough to go on with what others left; if not, it only ends what cannot go on. */
  readonly isLasting: boolean;
}

/** At a start. Resolves when what cannot go on has ended; what can goes on by itself. */
export async function recoverAll(rooms: RecoverAllDeps): Promise<void> {
  const unfinished = await rooms.store.executions.listUnfinished();
  const left = unfinished.filter(({ owner }) => owner !== undefined && rooms.hasEnded(owner));
  const ids = left.map(({ id }) => id);
  const trails = await readTrails(ids, rooms);
  for (const execution of left) {
    // Another process that started at the same time may have been faster.
    await recoverOne(execution, rooms, trails.get(execution.id)).catch((thrown: unknown) => void rooms.report(thrown));
  }
  if (!rooms.isLasting) return;
  for (const { id } of await rooms.store.executions.listPaused()) void resumeIfDecided(id, rooms);
}

/**
 * Its process is dead. Answers how it ended, or nothing when it goes on. What was `read` of it since that process died
 * holds as long as nobody has taken it over; without that it is read again by whoever does.
 */
export async function recoverOne(
  execution: Execution,
  rooms: RecoverAllDeps,
  read?: Trail,
): Promise<ExecutionResult | undefined> {
  const trail = read ?? (await readTrail(execution.id, rooms));
  const { closing } = trail;
  if (closing) return closeOnce(execution, rooms, () => closeEnded(execution, { ...trail, closing }, rooms));
  if (!(await canResume(execution, trail, rooms))) {
    return closeOnce(execution, rooms, () => closeLost(execution, rooms, read));
  }
  const stored = rooms.isLasting ? await rooms.store.executions.find(execution.id) : undefined;
  // Only while it is as it was found: it may go on by now, even in this process, or have ended.
  const isLeft = stored && !stored.ending && stored.owner === execution.owner;
  if (isLeft)
    void rooms.resumeExecution(stored, "restarted", read).catch((thrown: unknown) => void rooms.report(thrown));
  return undefined;
}

/** Of several processes that look at the same time one ends it; it may even go on in another by then. */
async function closeOnce(
  execution: Execution,
  rooms: RecoverAllDeps,
  end: () => Promise<ExecutionResult>,
): Promise<ExecutionResult | undefined> {
  const { id, owner: from } = execution;
  const isOurs = await rooms.store.executions.claim(id, { was: "open", from, by: rooms.owner });
  if (!isOurs) return undefined;
  await releaseQuotaIfLost(execution, rooms);
  return end();
}

/** Nobody is asked any more what it wanted. */
async function closeEnded(
  execution: Execution,
  trail: Trail & { readonly closing: ClosingRecord },
  rooms: RecoverAllDeps,
): Promise<ExecutionResult> {
  await rooms.people.withdraw(execution.id);
  return closeFromLedger(execution, trail, rooms);
}

/** Everything that left and changes something has been answered, or would change nothing more when it is asked again. */
async function canResume({ id }: Pick<Execution, "id">, { calls }: Trail, rooms: RecoverAllDeps): Promise<boolean> {
  const recording = await rooms.journals.read(id).catch((thrown: unknown) => void rooms.report(thrown));
  return recording?.isWhole === true && findLostCalls(calls, recording).length === 0;
}

/** A decision that came before the execution was put away finds nobody who waits for it. */
export async function resumeIfDecided(id: ExecutionId, rooms: RecoverAllDeps): Promise<void> {
  const stored = await rooms.store.executions.find(id);
  if (stored?.ending?.state !== "paused") return;
  const { approvals = [], error } = parseResult(stored.ending.result);
  const awaited = await Promise.all(approvals.map((one) => rooms.people.find(one)));
  // One that was put away with an error waits for a server, not for people; who asks for it wants to be told of that.
  const isDue = error !== undefined || awaited.some((approval) => approval?.state !== "pending");
  if (!isDue || (error && rooms.isLasting && !(await rooms.awaitUpstreams(stored)))) return;
  await rooms.resumeExecution(stored, "decided");
}
