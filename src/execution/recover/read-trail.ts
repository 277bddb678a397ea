/** What the ledger has of executions: whether each was opened, what it called, and how it was closed. */

import { isErrorCode, isJsonObject } from "../../domain/index.ts";
import type {
  CallRecord,
  Decision,
  Effect,
  ErrorCode,
  ExecutionId,
  ExecutionResult,
  Instant,
  Json,
} from "../../domain/index.ts";
import type { Store, StoredRecord } from "../../store/index.ts";

/** More than any execution can have: two records for each call, and its own. */
const MOST_RECORDS = 1_000_000;

/** One execution as the ledger has it. */
export interface Trail {
  readonly isOpened: boolean;
  /** In the order of the program. */
  readonly calls: readonly LedgerCall[];
  /** Its end, if that is written: nothing of it runs after that, whatever the store says. */
  readonly closing?: ClosingRecord;
}

/** A call as the ledger has it. */
export interface LedgerCall extends CallRecord {
  /** Its server says that a second call would change nothing more. */
  readonly isRepeatable: boolean;
  /** Whether it is written down what came of it. */
  readonly hasEnd: boolean;
}

/** How an execution ended, as far as the ledger tells. */
export interface ClosingRecord {
  readonly at: Instant;
  readonly state: Exclude<ExecutionResult["state"], "paused">;
  readonly errorCode?: ErrorCode;
  readonly wallMs: number;
  readonly cpuMs: number;
}

interface TrailDeps {
  readonly store: { readonly ledger: Pick<Store["ledger"], "search"> };
}

/** What is known of one execution now. */
export async function readTrail(id: ExecutionId, rooms: TrailDeps): Promise<Trail> {
  const found = await rooms.store.ledger.search({ execution: id, limit: MOST_RECORDS });
  return toTrail(found.toReversed());
}

/** The same for several in one walk over the ledger; each that is asked for has one. */
export async function readTrails(
  ids: readonly ExecutionId[],
  rooms: TrailDeps,
): Promise<ReadonlyMap<ExecutionId, Trail>> {
  const found =
    ids.length === 0 ? [] : await rooms.store.ledger.search({ execution: ids, limit: MOST_RECORDS * ids.length });
  const records = Map.groupBy(found.toReversed(), executionOf);
  return new Map(ids.map((id) => [id, toTrail(records.get(id) ?? [])] as const));
}

/** As a result has them. */
export function toTrace(calls: readonly LedgerCall[]): readonly CallRecord[] {
  return calls.map(({ isRepeatable: _, hasEnd: __, ...call }): CallRecord => call);
}

function executionOf({ subject, detail }: StoredRecord): Json {
  return parseDetail(detail)["execution"] ?? subject;
}

function toTrail(records: readonly StoredRecord[]): Trail {
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

type Detail = { readonly [key: string]: Json };

function parseDetail(text: string): Detail {
  try {
    const detail: unknown = JSON.parse(text);
    return isJsonObject(detail) ? detail : {};
  } catch {
    return {}; // damaged: `audit verify` says so
  }
}

/** Until its end is read. A read changes nothing, and neither does a dry run: nothing about them can be unknown. */
function parseIntent({ effect: rawEffect, decision: rawDecision, idempotent, dryRun }: Detail) {
  const effect = EFFECTS.find((known) => known === rawEffect) ?? "unknown";
  const decision = DECISIONS.find((known) => known === rawDecision) ?? "deny";
  const isRepeatable = idempotent === true || dryRun === true;
  if (dryRun === true) return { effect, decision, outcome: "error" as const, isRepeatable, dryRun };
  return { effect, decision, outcome: OUTCOMES_BEFORE_THE_END[decision](effect), isRepeatable };
}

function parseEnd({ outcome: rawOutcome, ms }: Detail) {
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

/** A record that is damaged says at least that it ended. */
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
