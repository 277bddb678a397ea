/** What a reviewer reads before deciding: the call, its program, and what that program did so far. */

import { isJsonObject } from "../../domain/index.ts";
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

/** A place in the author's own text, 1-based. */
export interface SourcePlace {
  readonly line: number;
  readonly column: number;
}

/** Everything about one approval. Texts are the program's and the server's own: a surface cleans what it shows. */
export interface ApprovalReview {
  readonly approval: Approval;
  /** `null` when the store has forgotten the execution. */
  readonly execution: ReviewedExecution | null;
  /** Where the text makes this call: one place is it, of several it is one; empty when the text does not tell. */
  readonly places: readonly SourcePlace[];
  /** What the execution did until now, this call left out, in order. */
  readonly calls: readonly ReviewedCall[];
  /** The tool's server says something else about it by now. Left out when nothing is held back in its place. */
  readonly change?: HeldChange;
}

/** The execution that waits, with its program. */
export interface ReviewedExecution {
  readonly state: ExecutionResult["state"] | "running";
  readonly startedAt: Instant;
  /** Empty for a tool that a client called by itself. */
  readonly source: string;
}

/** A call as the ledger tells it. */
export type ReviewedCall = Omit<CallRecord, "ms">;

type ReviewStore = Pick<Store, "executions" | "ledger">;

/** Records of one execution that are looked at; the usual limit of calls is far below. */
const MAX_RECORDS = 1_000;

/** Looks the rest up; it changes nothing. */
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

/** Where the plan has this tool. A plan that is not exact may have missed a place. */
function findPlaces({ plan, tool }: Approval): readonly SourcePlace[] {
  const places = plan?.calls.find((call) => call.tool === tool)?.at ?? [];
  return plan?.exact === true ? places : [];
}

function toCalls(records: readonly StoredRecord[]): readonly ReviewedCall[] {
  const calls = new Map<number, ReviewedCall>();
  for (const { action, subject, detail } of records) {
    const said = parseDetail(detail);
    const seq = Number(said["seq"]);
    if (action === "call.intended") calls.set(seq, toIntended(seq, subject, said));
    const known = calls.get(seq) ?? toIntended(seq, subject, {});
    if (action === "call.ended") calls.set(seq, { ...known, outcome: parseOutcome(said["outcome"]) });
  }
  return [...calls.values()].toSorted((a, b) => a.seq - b.seq);
}

function toIntended(seq: number, tool: string, { effect, decision }: JsonObject): ReviewedCall {
  return { seq, tool, effect: parseEffect(effect), decision: parseDecision(decision), outcome: "pending" };
}

/** A record that was damaged tells nothing. */
function parseDetail(text: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

const EFFECTS: readonly Effect[] = ["read", "write", "destroy"];
const DECISIONS: readonly Decision["kind"][] = ["allow", "ask"];
const OUTCOMES: readonly CallRecord["outcome"][] = ["ok", "error", "denied", "pending"];

function parseEffect(raw: unknown): Effect {
  return EFFECTS.find((effect) => effect === raw) ?? "unknown";
}

/** A call that ended before anything was decided about it was refused. */
function parseDecision(raw: unknown): Decision["kind"] {
  return DECISIONS.find((decision) => decision === raw) ?? "deny";
}

function parseOutcome(raw: unknown): CallRecord["outcome"] {
  return OUTCOMES.find((outcome) => outcome === raw) ?? "unknown";
}
