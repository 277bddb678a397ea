/** Puts the two records of a call together: what was intended, and what came of it. */

import type { LedgerRecord } from "../ledger/index.ts";
import { isJsonObject } from "../domain/index.ts";
import type { JsonObject } from "../domain/index.ts";
import type { CallTelemetry, CalledTool } from "./event.ts";

/** Calls under way are far fewer; an intent whose end is never written must not stay for good. */
const MOST_PENDING = 10_000;

/** A call once its second record has come; `undefined` for every other record. */
export type CallJoiner = (record: LedgerRecord) => CallTelemetry | undefined;

export function createCallJoiner(): CallJoiner {
  const pending = new Map<string, CalledTool>();
  return ({ actor: principal, action, subject, detail, at: endedAt }) => {
    if (!isJsonObject(detail)) return undefined;
    const { execution, seq, outcome, code, ms, dryRun } = detail;
    // A call that was only rehearsed is no use of its tool.
    if (typeof execution !== "string" || typeof seq !== "number" || dryRun === true) return undefined;
    const key = `${execution} ${seq}`;
    if (action === "call.intended") {
      pending.set(key, toTool(subject, detail));
      dropOldest(pending);
    }
    if (action !== "call.ended" || typeof outcome !== "string") return undefined;
    const tool = pending.get(key);
    pending.delete(key);
    const said = { outcome, code: typeof code === "string" ? code : undefined, ms: typeof ms === "number" ? ms : 0 };
    return { kind: "call", principal, execution, seq, tool, ...said, endedAt };
  };
}

function dropOldest(pending: Map<string, CalledTool>): void {
  const [oldest] = pending.keys();
  if (pending.size > MOST_PENDING && oldest !== undefined) pending.delete(oldest);
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
