/**
 * Gives an execution in the store the end that it has in the ledger: its process wrote the one and not the other. It has
 * no second end, and it does not run again.
 */

import { ERRORS } from "../../domain/index.ts";
import type { CallRecord, Execution, ExecutionResult, PublicError } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import { toTrace } from "./read-trail.ts";
import type { ClosingRecord, Trail } from "./read-trail.ts";
import { adviseAfter } from "./recover-execution.ts";
import { emptyResult } from "../run/settle.ts";
import type { SettleContext } from "../run/settle.ts";

export interface CloseFromLedgerDeps extends Pick<SettleContext, "engine" | "isolation"> {
  readonly store: { readonly executions: Pick<Store["executions"], "close"> };
}

/** Whoever calls this must have it. What it came to beyond its state and its calls was lost with its process. */
export async function closeFromLedger(
  { id }: Pick<Execution, "id">,
  { closing, calls }: Trail & { readonly closing: ClosingRecord },
  rooms: CloseFromLedgerDeps,
): Promise<ExecutionResult> {
  const { at, state, errorCode, wallMs, cpuMs } = closing;
  const empty = emptyResult({ id }, state, rooms);
  const result: ExecutionResult = {
    ...empty,
    calls: toTrace(calls),
    error: toLostError(closing, calls),
    stats: { ...empty.stats, wallMs, cpuMs, calls: calls.length },
  };
  const ending = { endedAt: at, state, result: JSON.stringify(result), ...(errorCode && { errorCode }) };
  await rooms.store.executions.close(id, ending);
  return result;
}

function toLostError({ state, errorCode }: ClosingRecord, calls: readonly CallRecord[]): PublicError {
  const code = errorCode ?? "STORE_UNAVAILABLE";
  const how = errorCode ? `${state} with ${errorCode}` : state;
  return {
    code,
    message: `The execution ${how}, but Glovebox ended before what it came to was stored`,
    // What completed has done its work, and what called something may have changed it.
    retry: state === "failed" && ERRORS[code].retry && calls.length === 0,
    hint: adviseAfter(calls),
  };
}
