/**
 * Cancels an execution for an operator, from any process that has the store. The process that runs it reads the request;
 * an execution without a process, because it is suspended or its process died, is closed here.
 */

import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError, describeError } from "../../domain/index.ts";
import type { ExecutionId, ExecutionResult } from "../../domain/index.ts";
import type { Store, StoredExecution } from "../../store/index.ts";
import { SECOND_MS } from "../../timing/index.ts";

import type { ExecutionDeps } from "../deps.ts";
import { closeExecution, closeFromLedger } from "../execution-log.ts";
import { readTrail, toCallRecords } from "../ledger-trail.ts";
import type { LedgerCall } from "../ledger-trail.ts";
import { emptyResult, toCancelReason } from "../settle.ts";
import { parseStoredResult } from "../journal-schema.ts";

export interface CancelDeps extends Pick<
  ExecutionDeps,
  "engine" | "hasEnded" | "isolation" | "ledger" | "now" | "owner" | "releaseQuota"
> {
  readonly store: {
    readonly executions: Pick<Store["executions"], "find" | "claim" | "close">;
    readonly cancellations: Pick<Store["cancellations"], "request">;
    readonly ledger: Pick<Store["ledger"], "search">;
  };
  /** Withdraws the pending approvals of an execution that has ended. */
  withdraw(execution: ExecutionId): Promise<void>;
}

/** Gateways look for cancellations once a second and end a call in less; a busy machine may need longer. */
const WAIT_MS = 30 * SECOND_MS;
const POLL_MS = 100;

/** Written to the ledger first. Resolves when it has ended, or when its process does not respond. */
export async function cancelExecution(stored: StoredExecution, by: string, deps: CancelDeps): Promise<void> {
  refuseEnded(stored);
  const { id } = stored;
  await deps.ledger.write({ actor: by, action: "execution.cancelled", subject: id, detail: {} });
  await deps.store.cancellations.request({ execution: id, askedBy: by, askedAt: deps.now() });
  const until = deps.now() + WAIT_MS;
  for (let one = await deps.store.executions.find(id); one; one = await deps.store.executions.find(id)) {
    if (isOver(one) || deps.now() > until) return;
    if (hasNoProcess(one, deps)) await closeCancelled(one, by, deps);
    else await sleep(POLL_MS);
  }
}

function isOver({ ending }: StoredExecution): boolean {
  return ending !== null && ending.state !== "paused";
}

function hasNoProcess({ ending, owner }: StoredExecution, { hasEnded }: CancelDeps): boolean {
  return ending !== null || (owner !== undefined && hasEnded(owner));
}

/** A suspended execution keeps everything but its state; for one whose process died the ledger has the calls. */
async function closeCancelled(stored: StoredExecution, by: string, deps: CancelDeps): Promise<void> {
  const { id, owner: from, ending } = stored;
  // Another process may resume it at this moment: the one that claims it first has it, and then reads the request.
  const was = stored.ending ? "paused" : "open";
  if (!(await deps.store.executions.claim(id, { was, from, by: deps.owner }))) return;
  await deps.withdraw(id);
  if (!ending) await deps.releaseQuota(id);
  const trail = await readTrail(id, deps);
  const { closing } = trail;
  if (closing) return void (await closeFromLedger(stored, { ...trail, closing }, deps));
  const calls = toCallRecords(await endCalls(stored, trail.calls, deps));
  const before: ExecutionResult = ending
    ? parseStoredResult(id, ending.result)
    : emptyResult(stored, "cancelled", deps);
  const { approvals: _, questions: __, ...rest } = before;
  await closeExecution(stored, { ...rest, state: "cancelled", calls, error: describeError(toCancelReason(by)) }, deps);
}

/** A call that waited for approval was never made; one that was sent and not answered has an unknown outcome. */
async function endCalls(
  { id, principal }: StoredExecution,
  known: readonly LedgerCall[],
  deps: CancelDeps,
): Promise<readonly LedgerCall[]> {
  const calls = known.map((call) => (call.outcome === "pending" ? { ...call, outcome: "error" as const } : call));
  for (const { seq, tool, outcome, hasEnd } of calls) {
    const detail = { execution: id, seq, outcome, code: "REQUEST_CANCELLED" };
    if (!hasEnd) await deps.ledger.write({ actor: principal, action: "call.ended", subject: tool, detail });
  }
  return calls;
}

function refuseEnded(stored: StoredExecution): void {
  if (!isOver(stored)) return;
  throw new GloveboxError("REQUEST_CONFLICT", `The execution ${stored.id} has already ended: ${stored.ending?.state}`, {
    hint: `Run \`glovebox executions show ${stored.id}\` to see its result`,
  });
}
