/** What the ledger records about executions: whether each was opened, what it called, and how it was closed. */

import { isErrorCode, isJsonObject } from "../domain/index.ts";
import type {
  CallRecord,
  Decision,
  Effect,
  ErrorCode,
  ExecutionId,
  ExecutionResult,
  Instant,
  Json,
} from "../domain/index.ts";
import type { Store, StoredRecord } from "../store/index.ts";

import type { Recording } from "./journal.ts";

/** More than any execution can have: two records per call, and its own. */
const MOST_RECORDS = 1_000_000;

/** One execution according to the ledger. */
export interface LedgerTrail {
  readonly isOpened: boolean;
  /** In the order of the program. */
  readonly calls: readonly LedgerCall[];
  /** Its end, if recorded. It never runs again after that, whatever the store contains. */
  readonly closing?: ClosingRecord;
}

/** A call according to the ledger. */
export interface LedgerCall extends CallRecord {
  /** The upstream declares that a second call changes nothing more. */
  readonly isRepeatable: boolean;
  /** True when its outcome is recorded. */
  readonly hasEnd: boolean;
}

/** How an execution ended according to the ledger. */
export interface ClosingRecord {
  readonly at: Instant;
  readonly state: Exclude<ExecutionResult["state"], "paused">;
  readonly errorCode?: ErrorCode;
  readonly wallMs: number;
  readonly cpuMs: number;
}

type LedgerSearch = { readonly store: { readonly ledger: Pick<Store["ledger"], "search"> } };

/** Reads the records of one execution. */
export async function readTrail(id: ExecutionId, deps: LedgerSearch): Promise<LedgerTrail> {
  const found = await deps.store.ledger.search({ execution: id, limit: MOST_RECORDS });
  return toTrail(found.toReversed());
}

/** Reads the records of several executions in one search. The map has an entry for each id. */
export async function readTrails(
  ids: readonly ExecutionId[],
  deps: LedgerSearch,
): Promise<ReadonlyMap<ExecutionId, LedgerTrail>> {
  const found =
    ids.length === 0 ? [] : await deps.store.ledger.search({ execution: ids, limit: MOST_RECORDS * ids.length });
  const records = Map.groupBy(found.toReversed(), executionOf);
  return new Map(ids.map((id) => [id, toTrail(records.get(id) ?? [])] as const));
}

/** The calls as a result lists them. */
export function toCallRecords(calls: readonly LedgerCall[]): readonly CallRecord[] {
  return calls.map(({ isRepeatable: _, hasEnd: __, ...call }): CallRecord => call);
}

function executionOf({ subject, detail }: StoredRecord): Json {
  return parseDetail(detail)["execution"] ?? subject;
}

function toTrail(records: readonly StoredRecord[]): LedgerTrail {
  const closed = records.find(({ action }) => action === "execution.closed");
  return {
    isOpened: records.some(({ action }) => action === "execution.opened"),
    calls: toCalls(records.filter(({ action }) => action.startsWith("call."))),
    ...(closed && { closing: parseClosing(closed) }),
  };
}

function toCalls(records: readonly StoredRecord[]): readonly LedgerCall[] {
  const calls = new Map<number, LedgerCall>();
  for (const { action, subject, detail: text } of records) {
    const detail = parseDetail(text);
    const seq = detail["seq"];
    if (typeof seq !== "number") continue;
    const known = calls.get(seq) ?? {
      seq,
      tool: subject,
      effect: "unknown",
      decision: "deny",
      outcome: "error",
      ms: 0,
      isRepeatable: false,
      hasEnd: false,
    };
    calls.set(
      seq,
      action === "call.intended" ? { ...known, ...parseIntent(detail) } : { ...known, ...parseEnd(detail) },
    );
  }
  return [...calls.values()].toSorted((a, b) => a.seq - b.seq);
}

type RecordDetail = { readonly [key: string]: Json };

function parseDetail(text: string): RecordDetail {
  try {
    const detail: unknown = JSON.parse(text);
    return isJsonObject(detail) ? detail : {};
  } catch {
    return {}; // damaged: `audit verify` reports it
  }
}

/** The outcome until the end of the call is read. Reads and dry runs change nothing, so theirs is never unknown. */
function parseIntent({ effect: rawEffect, decision: rawDecision, idempotent, dryRun }: RecordDetail) {
  const effect = EFFECTS.find((known) => known === rawEffect) ?? "unknown";
  const decision = DECISIONS.find((known) => known === rawDecision) ?? "deny";
  const isRepeatable = idempotent === true || dryRun === true;
  if (dryRun === true) return { effect, decision, outcome: "error" as const, isRepeatable, dryRun };
  return { effect, decision, outcome: OUTCOMES_BEFORE_THE_END[decision](effect), isRepeatable };
}

function parseEnd({ outcome: rawOutcome, ms }: RecordDetail) {
  const outcome = OUTCOMES.find((known) => known === rawOutcome) ?? "unknown";
  return { outcome, hasEnd: true, ...(typeof ms === "number" && { ms }) };
}

const EFFECTS: readonly Effect[] = ["read", "write", "destroy", "unknown"];
const DECISIONS: readonly Decision["kind"][] = ["allow", "ask", "deny"];
const OUTCOMES: readonly CallRecord["outcome"][] = ["ok", "error", "denied", "pending", "unknown"];
const OUTCOMES_BEFORE_THE_END: Readonly<Record<Decision["kind"], (effect: Effect) => CallRecord["outcome"]>> = {
  allow: (effect) => (effect === "read" ? "error" : "unknown"),
  ask: () => "pending",
  deny: () => "denied",
};

/** A damaged record still shows that the execution ended. */
function parseClosing({ at, detail }: StoredRecord): ClosingRecord {
  const { state: rawState, code, wallMs, cpuMs } = parseDetail(detail);
  return {
    at,
    state: ENDS.find((known) => known === rawState) ?? "failed",
    ...(isErrorCode(code) && { errorCode: code }),
    wallMs: typeof wallMs === "number" ? wallMs : 0,
    cpuMs: typeof cpuMs === "number" ? cpuMs : 0,
  };
}

const ENDS: readonly ClosingRecord["state"][] = ["completed", "failed", "cancelled"];

/**
 * Calls that left, or may have left, and whose answer is not in the journal: repeating them could change something twice.
 * Reads and calls that the upstream declares repeatable are not among them.
 */
export function findLostCalls(calls: readonly LedgerCall[], recording: Recording): readonly LedgerCall[] {
  const isSafe = ({ effect, isRepeatable, decision, outcome, dryRun }: LedgerCall): boolean =>
    dryRun === true || effect === "read" || isRepeatable || decision !== "allow" || outcome === "denied";
  return findUnanswered(calls, recording).filter((call) => !isSafe(call));
}

/** Calls of a suspended execution that ended and are not in the journal, although it was flushed before the suspension. */
export function findMissingCalls(calls: readonly LedgerCall[], recording: Recording): readonly LedgerCall[] {
  return findUnanswered(calls, recording).filter(({ hasEnd }) => hasEnd);
}

function findUnanswered(calls: readonly LedgerCall[], { deliveries }: Recording): readonly LedgerCall[] {
  const answered = new Set(deliveries.map(({ call }) => call?.record.seq));
  return calls.filter(({ seq }) => !answered.has(seq));
}
