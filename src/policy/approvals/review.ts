/** What a reviewer sees before deciding: the call, its program, and the earlier calls of that program. */

import { parseDetail } from "../../ledger/index.ts";
import type {
  Approval,
  CallRecord,
  Decision,
  Effect,
  ExecutionResult,
  HeldChange,
  Instant,
  JsonObject,
} from "../../domain/index.ts";
import type { Store, StoredRecord } from "../../store/index.ts";

/** A position in the source, 1-based. */
export interface SourcePlace {
  readonly line: number;
  readonly column: number;
}

/** Strings come from the program and the upstream: a surface must clean what it shows. */
export interface ApprovalReview {
  readonly approval: Approval;
  /** `null` if the execution is no longer in the store. */
  readonly execution: ReviewedExecution | null;
  /** Where the source may make this call; empty if that is unknown. */
  readonly places: readonly SourcePlace[];
  /** The other calls of the execution so far, in order. */
  readonly calls: readonly ReviewedCall[];
  /** A changed definition of the tool that is held back. */
  readonly change?: HeldChange;
}

export interface ReviewedExecution {
  readonly state: ExecutionResult["state"] | "running";
  readonly startedAt: Instant;
  /** Empty if a client called the tool without a program. */
  readonly source: string;
}

/** A call as the ledger has it. */
export type ReviewedCall = Omit<CallRecord, "ms">;

type ReviewStore = Pick<Store, "executions" | "ledger">;

/** The maximum number of records that are read; the default limit of calls is far below. */
const MAX_RECORDS = 1_000;

/** Reads the rest from the store. */
export async function reviewApproval(store: ReviewStore, approval: Approval): Promise<ApprovalReview> {
  const { execution: id, seq } = approval;
  const stored = await store.executions.find(id);
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
function findPlaces({ plan, tool }: Approval): readonly SourcePlace[] {
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
    if (action === "call.ended") calls.set(seq, { ...known, outcome: parseOutcome(parsed["outcome"]) });
  }
  return [...calls.values()].toSorted((a, b) => a.seq - b.seq);
}

function toIntended(seq: number, tool: string, { effect, decision }: JsonObject): ReviewedCall {
  return { seq, tool, effect: parseEffect(effect), decision: parseDecision(decision), outcome: "pending" };
}

const EFFECTS: readonly Effect[] = ["read", "write", "destroy"];
const DECISIONS: readonly Decision["kind"][] = ["allow", "ask"];
const OUTCOMES: readonly CallRecord["outcome"][] = ["ok", "error", "denied", "pending"];

function parseEffect(raw: unknown): Effect {
  return EFFECTS.find((effect) => effect === raw) ?? "unknown";
}

/** A call without a decision was refused. */
function parseDecision(raw: unknown): Decision["kind"] {
  return DECISIONS.find((decision) => decision === raw) ?? "deny";
}

function parseOutcome(raw: unknown): CallRecord["outcome"] {
  return OUTCOMES.find((outcome) => outcome === raw) ?? "unknown";
}
