/** Brings an execution to its end whose process died: from the ledger, which has every call before it left. */

import { ERRORS } from "../../domain/index.ts";
import type { ApprovalRequests, CallRecord, Execution, ExecutionId, ExecutionResult } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import { readTrail, toTrace } from "./read-trail.ts";
import type { LedgerCall, Trail } from "./read-trail.ts";
import { recordOpeningOnce } from "./record-opening.ts";
import type { OpeningDeps } from "./record-opening.ts";
import { emptyResult } from "../run/settle.ts";
import type { SettleContext } from "../run/settle.ts";

const NAMED_CALLS = 10;

export interface RecoverDeps extends SettleContext, OpeningDeps {
  readonly store: { readonly ledger: Pick<Store["ledger"], "search"> };
  /** True when the process of this name has certainly ended. */
  hasEnded(owner: string): boolean;
  readonly people: Pick<ApprovalRequests, "withdraw">;
  /** Gives back what an execution had reserved whose process died, but for what it can have used. */
  releaseQuota(execution: ExecutionId): Promise<void>; // policy
  /** Writes down what came of a call whose process died before it could. */
  recordEnd(execution: Execution, call: CallRecord): Promise<unknown>; // audit
  close(execution: Execution, result: ExecutionResult): Promise<void>;
}

/**
 * What its calls came to stands in the ledger; one that was sent and not answered has an unknown outcome. What was `read`
 * of it before may be handed in when nobody can have written more since.
 */
export async function closeLost(execution: Execution, rooms: RecoverDeps, read?: Trail): Promise<ExecutionResult> {
  const known = read ?? (await readTrail(execution.id, rooms));
  await recordOpeningOnce(execution, known, rooms);
  const calls = toTrace(await endCalls(execution, known, rooms));
  const result: ExecutionResult = {
    ...emptyResult(execution, "failed", rooms),
    calls,
    error: toError(calls),
  };
  await rooms.people.withdraw(execution.id);
  await rooms.close(execution, result);
  return result;
}

/** As its process left it. One that is only overdue may run on somewhere, and gives back for itself. Never rejects. */
export async function releaseQuotaIfLost(
  { id, owner }: Pick<Execution, "id" | "owner">,
  rooms: Pick<RecoverDeps, "hasEnded" | "report" | "releaseQuota">,
): Promise<void> {
  if (owner === undefined || !rooms.hasEnded(owner)) return;
  await rooms.releaseQuota(id).catch((thrown: unknown) => void rooms.report(thrown));
}

/** Every call has an end in the ledger then: what the program was given, or what can be told without that. */
async function endCalls(execution: Execution, known: Trail, rooms: RecoverDeps): Promise<readonly LedgerCall[]> {
  const recording = await rooms.journals.read(execution.id).catch(() => undefined);
  const given = new Map(
    recording?.deliveries.flatMap(({ call }) => (call ? [[call.record.seq, call.record] as const] : [])),
  );
  const calls = known.calls.map((call): LedgerCall => {
    const answer = call.hasEnd ? undefined : given.get(call.seq);
    return answer ? { ...call, outcome: answer.outcome, ms: answer.ms } : call;
  });
  for (const call of calls) if (!call.hasEnd) await rooms.recordEnd(execution, call);
  return calls;
}

function toError(calls: readonly CallRecord[]): NonNullable<ExecutionResult["error"]> {
  const unknown = calls.filter(({ outcome }) => outcome === "unknown");
  const names = unknown.slice(0, NAMED_CALLS).map(({ tool, seq }) => `${tool} (call ${seq})`);
  const more = unknown.length > NAMED_CALLS ? ` and ${unknown.length - NAMED_CALLS} more` : "";
  const what =
    unknown.length === 0 ? "every call that it made is accounted for" : "whether they took effect is unknown";
  const said = unknown.length === 0 ? what : `${names.join(", ")}${more}: ${what}`;
  return {
    code: "SANDBOX_CRASHED",
    message: `Glovebox ended before this execution did; ${said}`,
    retry: ERRORS.SANDBOX_CRASHED.retry && unknown.length === 0,
    hint: unknown.length === 0 ? adviseAfter(calls) : "Look there before you run the program again",
  };
}

/** For whoever thinks of running the program again; what its calls came to is known. */
export function adviseAfter({ length }: readonly CallRecord[]): string {
  if (length === 0) return "It had called nothing: run the program again";
  return "What its calls changed stays changed; look at them before you run the program again";
}
