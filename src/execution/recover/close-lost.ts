/** Closes an execution whose process died and that cannot resume, from the ledger, which has every call before it left. */

import { ERRORS } from "../../domain/index.ts";
import type { CallRecord, Execution, ExecutionResult } from "../../domain/index.ts";

import type { ExecutionDeps } from "../deps.ts";
import { adviseRetry } from "../execution-log.ts";
import { recordCallEnd, recordOpeningOnce } from "../late-records.ts";
import { readTrail, toCallRecords } from "../ledger-trail.ts";
import type { LedgerCall, LedgerTrail } from "../ledger-trail.ts";
import { emptyResult } from "../settle.ts";

const NAMED_CALLS = 10;

type CloseLostDeps = Pick<
  ExecutionDeps,
  "approvals" | "engine" | "isolation" | "journals" | "ledger" | "log" | "store"
>;

/** `known` is the trail, if nothing can have been added since it was read. The caller must own the execution. */
export async function closeLost(
  execution: Execution,
  deps: CloseLostDeps,
  known?: LedgerTrail,
): Promise<ExecutionResult> {
  const trail = known ?? (await readTrail(execution.id, deps));
  await recordOpeningOnce(execution, trail, deps);
  const calls = toCallRecords(await endCalls(execution, trail, deps));
  const result: ExecutionResult = { ...emptyResult(execution, "failed", deps), calls, error: toError(calls) };
  await deps.approvals.withdraw(execution.id);
  await deps.log.close(execution, result);
  return result;
}

/** Records the end of every open call: the outcome that the journal has, or `unknown` for one that was sent. */
async function endCalls(execution: Execution, trail: LedgerTrail, deps: CloseLostDeps): Promise<readonly LedgerCall[]> {
  const recording = await deps.journals.read(execution.id).catch(() => undefined);
  const delivered = new Map(
    recording?.deliveries.flatMap(({ call }) => (call ? [[call.record.seq, call.record] as const] : [])),
  );
  const calls = trail.calls.map((call): LedgerCall => {
    const answer = call.hasEnd ? undefined : delivered.get(call.seq);
    return answer ? { ...call, outcome: answer.outcome, ms: answer.ms } : call;
  });
  for (const call of calls) if (!call.hasEnd) await recordCallEnd(execution, call, deps);
  return calls;
}

function toError(calls: readonly CallRecord[]): NonNullable<ExecutionResult["error"]> {
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
