/**
 * Ends an execution on an operator's word, from any process that has the store. The process that runs it hears of the
 * wish; what nobody runs, because it is paused or its process died, is closed here.
 */

import { setTimeout as sleep } from "node:timers/promises";

import type { Ledger } from "../../ledger/index.ts";
import { GloveboxError, describeError } from "../../domain/index.ts";
import type { ExecutionId, ExecutionResult, Instant } from "../../domain/index.ts";
import type { Store, StoredExecution } from "../../store/index.ts";

import { closeExecution } from "../run/execution-log.ts";
import { closeFromLedger } from "../recover/close-from-ledger.ts";
import { toCancelReason } from "../run/name-cancel.ts";
import { readTrail, toTrace } from "../recover/read-trail.ts";
import type { LedgerCall } from "../recover/read-trail.ts";
import type { RecoverDeps } from "../recover/recover-execution.ts";
import { parseResult } from "./view-execution.ts";
import { emptyResult } from "../run/settle.ts";

export interface CancelDeps extends Pick<RecoverDeps, "engine" | "isolation" | "hasEnded" | "releaseQuota"> {
  readonly store: Pick<RecoverDeps["store"], "ledger"> & {
    readonly executions: Pick<Store["executions"], "find" | "claim" | "close">;
    readonly cancellations: Pick<Store["cancellations"], "request">;
  };
  readonly ledger: Pick<Ledger, "write">;
  /** The name of this process. */
  readonly owner: string;
  /** Nobody is asked any more what an execution wanted that has ended. */
  withdraw(execution: ExecutionId): Promise<void>;
  readonly now: () => Instant;
}

/** Running gateways look once a second, and a call is given up in a fraction of that; on a busy machine it may take. */
const WAIT_MS = 30_000;
const LOOK_MS = 100;

/** Written to the ledger first. Resolves when it has ended, or when its process does not answer. */
export async function cancelExecution(stored: StoredExecution, by: string, rooms: CancelDeps): Promise<void> {
  refuseEnded(stored);
  const { id } = stored;
  await rooms.ledger.write({ actor: by, action: "execution.cancelled", subject: id, detail: {} });
  await rooms.store.cancellations.request({ execution: id, askedBy: by, askedAt: rooms.now() });
  const until = rooms.now() + WAIT_MS;
  for (let one = await rooms.store.executions.find(id); one; one = await rooms.store.executions.find(id)) {
    if (isOver(one) || rooms.now() > until) return;
    if (hasNoProcess(one, rooms)) await closeCancelled(one, by, rooms);
    else await sleep(LOOK_MS);
  }
}

function isOver({ ending }: StoredExecution): boolean {
  return ending !== null && ending.state !== "paused";
}

function hasNoProcess({ ending, owner }: StoredExecution, { hasEnded }: CancelDeps): boolean {
  return ending !== null || (owner !== undefined && hasEnded(owner));
}

/** Of one that was paused everything stays but its state; of one that died with its process the ledger has the calls. */
async function closeCancelled(stored: StoredExecution, by: string, rooms: CancelDeps): Promise<void> {
  const { id, owner: from, ending } = stored;
  // Somebody may go on with it in this very moment: whoever is faster has it, and then hears of the wish.
  const was = stored.ending ? "paused" : "open";
  if (!(await rooms.store.executions.claim(id, { was, from, by: rooms.owner }))) return;
  await rooms.withdraw(id);
  if (!ending) await rooms.releaseQuota(id);
  const trail = await readTrail(id, rooms);
  const { closing } = trail;
  if (closing) return void (await closeFromLedger(stored, { ...trail, closing }, rooms));
  const calls = toTrace(await endCalls(stored, trail.calls, rooms));
  const before: ExecutionResult = ending ? parseResult(ending.result) : emptyResult(stored, "cancelled", rooms);
  const { approvals: _, questions: __, ...rest } = before;
  await closeExecution(stored, { ...rest, state: "cancelled", calls, error: describeError(toCancelReason(by)) }, rooms);
}

/** A call that waited for a person was never made; one that was sent and not answered has an unknown outcome. */
async function endCalls(
  { id, principal }: StoredExecution,
  known: readonly LedgerCall[],
  rooms: CancelDeps,
): Promise<readonly LedgerCall[]> {
  const calls = known.map((call) => (call.outcome === "pending" ? { ...call, outcome: "error" as const } : call));
  for (const { seq, tool, outcome, hasEnd } of calls) {
    const detail = { execution: id, seq, outcome, code: "REQUEST_CANCELLED" };
    if (!hasEnd) await rooms.ledger.write({ actor: principal, action: "call.ended", subject: tool, detail });
  }
  return calls;
}

function refuseEnded(stored: StoredExecution): void {
  if (!isOver(stored)) return;
  throw new GloveboxError("REQUEST_CONFLICT", `The execution ${stored.id} has ended already: ${stored.ending?.state}`, {
    hint: `glovebox executions show ${stored.id} tells what came of it`,
  });
}
