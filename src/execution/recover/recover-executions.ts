/** Finds what goes on: executions that people decided about, and those that died with their process. */

import type { ApprovalRequests, Execution, ExecutionId, ExecutionResult } from "../../domain/index.ts";
import type { ExecutionStore, LedgerStore, StoredExecution } from "../../store/index.ts";

import { findLost } from "./find-lost-calls.ts";
import type { Journals } from "../journal/open-journals.ts";
import { endAsWritten } from "./close-from-ledger.ts";
import { readTrail, readTrails } from "./read-trail.ts";
import type { Closing, Trail } from "./read-trail.ts";
import { recover, settleIfLost } from "./recover-execution.ts";
import type { RecoverRooms } from "./recover-execution.ts";
import { parseResult } from "../history/view-execution.ts";
import type { Revival } from "../resume/resume-execution.ts";

export interface BringBackRooms extends RecoverRooms {
  readonly store: {
    readonly executions: Pick<ExecutionStore, "claim" | "close" | "find" | "listPaused" | "listUnfinished">;
    readonly ledger: Pick<LedgerStore, "search">;
  };
  readonly journals: Pick<Journals, "read">;
  readonly people: Pick<ApprovalRequests, "find" | "withdraw">;
  /** The name of this process. */
  readonly owner: string;
  /** Goes on with it in this process; resolves when that has ended. What was `read` of it still holds. */
  revive(stored: StoredExecution, why: Revival, read?: Trail): Promise<ExecutionResult | undefined>;
  /** Resolves once its servers are back; with false when it is not to go on here. */
  awaitServers(stored: StoredExecution): Promise<boolean>;
  /** Whether this process lives long enough to go on with what others left; if not, it only ends what cannot go on. */
  readonly isLasting: boolean;
}

/** At a start. Resolves when what cannot go on has ended; what can goes on by itself. */
export async function bringBack(rooms: BringBackRooms): Promise<void> {
  const unfinished = await rooms.store.executions.listUnfinished();
  const left = unfinished.filter(({ owner }) => owner !== undefined && rooms.hasEnded(owner));
  const ids = left.map(({ id }) => id);
  const trails = await readTrails(ids, rooms);
  for (const execution of left) {
    // Another process that started at the same time may have been faster.
    await bringBackOne(execution, rooms, trails.get(execution.id)).catch(
      (thrown: unknown) => void rooms.report(thrown),
    );
  }
  if (!rooms.isLasting) return;
  for (const { id } of await rooms.store.executions.listPaused()) void goOnIfDecided(id, rooms);
}

/**
 * Its process is dead. Answers how it ended, or nothing when it goes on. What was `read` of it since that process died
 * holds as long as nobody has taken it over; without that it is read again by whoever does.
 */
export async function bringBackOne(
  execution: Execution,
  rooms: BringBackRooms,
  read?: Trail,
): Promise<ExecutionResult | undefined> {
  const trail = read ?? (await readTrail(execution.id, rooms));
  const { closing } = trail;
  if (closing) return endOnce(execution, rooms, () => endClosed(execution, { ...trail, closing }, rooms));
  if (!(await canGoOn(execution, trail, rooms))) {
    return endOnce(execution, rooms, () => recover(execution, rooms, read));
  }
  const stored = rooms.isLasting ? await rooms.store.executions.find(execution.id) : undefined;
  // Only while it is as it was found: it may go on by now, even in this process, or have ended.
  const isLeft = stored && !stored.ending && stored.owner === execution.owner;
  if (isLeft) void rooms.revive(stored, "restarted", read).catch((thrown: unknown) => void rooms.report(thrown));
  return undefined;
}

/** Of several processes that look at the same time one ends it; it may even go on in another by then. */
async function endOnce(
  execution: Execution,
  rooms: BringBackRooms,
  end: () => Promise<ExecutionResult>,
): Promise<ExecutionResult | undefined> {
  const { id, owner: from } = execution;
  const isOurs = await rooms.store.executions.claim(id, { was: "open", from, by: rooms.owner });
  if (!isOurs) return undefined;
  await settleIfLost(execution, rooms);
  return end();
}

/** Nobody is asked any more what it wanted. */
async function endClosed(
  execution: Execution,
  trail: Trail & { readonly closing: Closing },
  rooms: BringBackRooms,
): Promise<ExecutionResult> {
  await rooms.people.withdraw(execution.id);
  return endAsWritten(execution, trail, rooms);
}

/** Everything that left and changes something has been answered, or would change nothing more when it is asked again. */
async function canGoOn({ id }: Pick<Execution, "id">, { calls }: Trail, rooms: BringBackRooms): Promise<boolean> {
  const recording = await rooms.journals.read(id).catch((thrown: unknown) => void rooms.report(thrown));
  return recording?.isWhole === true && findLost(calls, recording).length === 0;
}

/** A decision that came before the execution was put away finds nobody who waits for it. */
export async function goOnIfDecided(id: ExecutionId, rooms: BringBackRooms): Promise<void> {
  const stored = await rooms.store.executions.find(id);
  if (stored?.ending?.state !== "paused") return;
  const { approvals = [], error } = parseResult(stored.ending.result);
  const awaited = await Promise.all(approvals.map((one) => rooms.people.find(one)));
  // One that was put away with an error waits for a server, not for people; who asks for it wants to be told of that.
  const isDue = error !== undefined || awaited.some((approval) => approval?.state !== "pending");
  if (!isDue || (error && rooms.isLasting && !(await rooms.awaitServers(stored)))) return;
  await rooms.revive(stored, "decided");
}
