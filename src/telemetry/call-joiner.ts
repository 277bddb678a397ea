/** Joins the two records of a call: its intent and its end. */

import type { LedgerRecord } from "../ledger/index.ts";
import { createRecent } from "../timing/index.ts";
import { isJsonObject } from "../domain/index.ts";
import type { JsonObject } from "../domain/index.ts";
import type { CallTelemetry, CalledTool } from "./event.ts";

/** More than the calls in progress. An intent without an end must not stay forever. */
const MAX_PENDING = 10_000;

/** Returns the call for its second record, and `undefined` for every other record. */
export type CallJoiner = (record: LedgerRecord) => CallTelemetry | undefined;

export function createCallJoiner(): CallJoiner {
  const pending = createRecent<string, CalledTool>(MAX_PENDING);
  return ({ actor: principal, action, subject, detail, at: endedAt }) => {
    if (!isJsonObject(detail)) return undefined;
    const { execution, seq, outcome, code, ms, dryRun } = detail;
    // A dry run does not use the tool.
    if (typeof execution !== "string" || typeof seq !== "number" || dryRun === true) return undefined;
    const key = `${execution} ${seq}`;
    if (action === "call.intended") pending.set(key, toTool(subject, detail));
    if (action !== "call.ended" || typeof outcome !== "string") return undefined;
    const tool = pending.get(key);
    pending.delete(key);
    const ending = { outcome, code: typeof code === "string" ? code : undefined, ms: typeof ms === "number" ? ms : 0 };
    return { kind: "call", principal, execution, seq, tool, ...ending, endedAt };
  };
}

function toTool(address: string, { server, effect, decision, flow }: JsonObject): CalledTool {
  return {
    address,
    server: typeof server === "string" ? server : "",
    effect: effect === "read" || effect === "write" || effect === "destroy" ? effect : "unknown",
    decision: decision === "allow" || decision === "ask" ? decision : "deny",
    isFlow: flow !== undefined,
  };
}
