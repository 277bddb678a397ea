/** What a reviewer sees before deciding: the call, its program, and the earlier calls of that program. */

import { parseDetail } from "../../ledger/index.ts";
import type { Approval, CallRecord, ExecutionResult, HeldChange, Instant, JsonObject } from "../../domain/index.ts";
import type { Store, StoredRecord } from "../../store/index.ts";

/** Strings come from the program and the upstream: a surface must clean what it shows. */
export interface ApprovalReview {
  readonly approval: Approval;
  /** `null` if the execution is no longer in the store. */
  readonly execution: {
    readonly state: ExecutionResult["state"] | "running";
    readonly startedAt: Instant;
    /** Empty if a client called the tool without a program. */
    readonly source: string;
  } | null;
  /** Where the source may make this call, 1-based; empty if that is unknown. */
  readonly places: readonly { readonly line: number; readonly column: number }[];
  /** The other calls of the execution so far, in order, as the ledger has them. */
  readonly calls: readonly ReviewedCall[];
  /** A changed definition of the tool that is held back. */
  readonly change?: HeldChange;
}

type ReviewedCall = Omit<CallRecord, "ms">;

/** The maximum number of records that are read; the default limit of calls is far below. */
const MAX_RECORDS = 1_000;

export async function reviewApproval(
  store: Pick<Store, "executions" | "ledger">,
  approval: Approval,
): Promise<ApprovalReview> {
  const { execution: id, seq } = approval;
  const stored = await store.executions.findHead(id);
  const records = await store.ledger.search({ execution: id, action: "call", limit: MAX_RECORDS });
  const state = stored?.ending?.state ?? "running";
  return {
    approval,
    execution: stored ? { state, startedAt: stored.startedAt, source: stored.sourceText } : null,
    places: findPlaces(approval),
    calls: toCalls(records.toReversed()).filter((call) => call.seq !== seq),
  };
}

/** Returns the places of this tool in the plan. A plan that is not exact may miss one. */
function findPlaces({ plan, tool }: Approval): ApprovalReview["places"] {
  const places = plan?.calls.find((call) => call.tool === tool)?.at ?? [];
  return plan?.exact === true ? places : [];
}

function toCalls(records: readonly StoredRecord[]): readonly ReviewedCall[] {
  const calls = new Map<number, ReviewedCall>();
  for (const { action, subject, detail } of records) {
    const parsed = parseDetail(detail);
    const seq = Number(parsed["seq"]);
    if (action === "call.intended") calls.set(seq, toIntended(seq, subject, parsed));
    const known = calls.get(seq) ?? toIntended(seq, subject, {});
    if (action === "call.ended")
      calls.set(seq, { ...known, outcome: parseOneOf(OUTCOMES, parsed["outcome"]) ?? "unknown" });
  }
  return [...calls.values()].toSorted((a, b) => a.seq - b.seq);
}

/** A call without a decision was refused. */
function toIntended(seq: number, tool: string, { effect, decision }: JsonObject): ReviewedCall {
  return {
    seq,
    tool,
    effect: parseOneOf(["read", "write", "destroy"], effect) ?? "unknown",
    decision: parseOneOf(["allow", "ask"], decision) ?? "deny",
    outcome: "pending",
  };
}

const OUTCOMES = ["ok", "error", "denied", "pending"] as const;

function parseOneOf<const Value>(values: readonly Value[], raw: unknown): Value | undefined {
  return values.find((value) => value === raw);
}
