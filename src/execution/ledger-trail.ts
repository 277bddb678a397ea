/** What the ledger records about executions: whether each was opened, what it called, and how it was closed. */

import { z } from "zod";

import { defined, isErrorCode, isJsonObject, parseJson } from "../domain/index.ts";
import type {
  CallRecord,
  ErrorCode,
  Execution,
  ExecutionId,
  ExecutionResult,
  Instant,
  Json,
  JsonObject,
} from "../domain/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { Store, StoredRecord } from "../store/index.ts";

import { allDeliveries } from "./journal.ts";
import type { Journals, Recording } from "./journal.ts";

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
    ...defined({ closing: closed && parseClosing(closed) }),
  };
}

const UNKNOWN_CALL = {
  effect: "unknown",
  decision: "deny",
  outcome: "error",
  ms: 0,
  isRepeatable: false,
  hasEnd: false,
} as const;

function toCalls(records: readonly StoredRecord[]): readonly LedgerCall[] {
  const calls = new Map<number, LedgerCall>();
  for (const { action, subject, detail: text } of records) {
    const detail = parseDetail(text);
    const seq = detail["seq"];
    if (typeof seq !== "number") continue;
    const known = calls.get(seq) ?? { ...UNKNOWN_CALL, seq, tool: subject };
    calls.set(seq, { ...known, ...(action === "call.intended" ? parseIntent(detail) : parseEnd(detail)) });
  }
  return [...calls.values()].toSorted((a, b) => a.seq - b.seq);
}

/** Nothing for a damaged record: `audit verify` reports it. */
function parseDetail(text: string): JsonObject {
  const detail = parseJson(text);
  return isJsonObject(detail) ? detail : {};
}

const INTENT = z.object({
  effect: z.enum(["read", "write", "destroy", "unknown"]).catch("unknown"),
  decision: z.enum(["allow", "ask", "deny"]).catch("deny"),
  idempotent: z.literal(true).optional().catch(undefined),
  under: z.int().optional().catch(undefined),
  dryRun: z.literal(true).optional().catch(undefined),
});
const END = z.object({
  outcome: z.enum(["ok", "error", "denied", "pending", "unknown"]).catch("unknown"),
  ms: z.number().optional().catch(undefined),
});
const CLOSING = z.object({
  state: z.enum(["completed", "failed", "cancelled"]).catch("failed"),
  code: z.string().refine(isErrorCode).optional().catch(undefined),
  wallMs: z.number().catch(0),
  cpuMs: z.number().catch(0),
});

/** The outcome until the end of the call is read. Reads and dry runs change nothing, so theirs is never unknown. */
function parseIntent(detail: JsonObject): Partial<LedgerCall> {
  const { effect, decision, idempotent, dryRun, under } = INTENT.parse(detail);
  const unmade = { allow: effect === "read" ? "error" : "unknown", ask: "pending", deny: "denied" } as const;
  const outcome = dryRun ? "error" : unmade[decision];
  return { effect, decision, outcome, isRepeatable: idempotent ?? dryRun ?? false, ...defined({ dryRun, under }) };
}

function parseEnd(detail: JsonObject): Partial<LedgerCall> {
  const { outcome, ms } = END.parse(detail);
  return { outcome, hasEnd: true, ...defined({ ms }) };
}

/** A damaged record still shows that the execution ended. */
function parseClosing({ at, detail }: StoredRecord): ClosingRecord {
  const { code: errorCode, ...closing } = CLOSING.parse(parseDetail(detail));
  return { at, ...closing, ...defined({ errorCode }) };
}

/**
 * Calls that left, or may have left, and whose answer is not in the journal: repeating them could change something twice.
 * Reads and calls that the upstream declares repeatable are not among them.
 */
export function findLostCalls(calls: readonly LedgerCall[], recording: Recording): readonly LedgerCall[] {
  const isSafe = ({ tool, effect, isRepeatable, decision, outcome, dryRun }: LedgerCall): boolean =>
    isRepeatable ||
    dryRun === true ||
    effect === "read" ||
    decision !== "allow" ||
    outcome === "denied" ||
    isSkill(tool);
  return findUnanswered(calls, recording).filter((call) => !isSafe(call));
}

/** A skill changes nothing itself: the calls that it made are judged one by one. */
function isSkill(tool: string): boolean {
  return tool.startsWith("skills.");
}

/** Calls of a suspended execution that ended and are not in the journal, although it was flushed before the suspension. */
export function findMissingCalls(calls: readonly LedgerCall[], recording: Recording): readonly LedgerCall[] {
  return findUnanswered(calls, recording).filter(({ hasEnd }) => hasEnd);
}

function findUnanswered(calls: readonly LedgerCall[], recording: Recording): readonly LedgerCall[] {
  const answered = new Set(allDeliveries(recording).map(({ call }) => call?.record.seq));
  const bySeq = new Map(calls.map((call) => [call.seq, call]));
  // The reply of a skill is the reply to all that it called.
  const isAnswered = ({ seq, under }: LedgerCall): boolean => {
    if (answered.has(seq)) return true;
    const skill = under === undefined || under === seq ? undefined : bySeq.get(under);
    return skill !== undefined && isAnswered(skill);
  };
  return calls.filter((call) => !isAnswered(call));
}

interface LateDeps {
  readonly ledger: Pick<Ledger, "write">;
}

/** Records the outcome of a call whose process died before it could. */
export async function recordCallEnd(
  { id, principal }: Pick<Execution, "id" | "principal">,
  { seq, tool, outcome, ms }: CallRecord,
  { ledger }: LateDeps,
): Promise<void> {
  const detail = { execution: id, seq, outcome, ms, late: true };
  await ledger.write({ actor: principal, action: "call.ended", subject: tool, detail });
}

/**
 * Records the opening, if the process was killed between the store and the ledger. Must come before the execution is
 * resumed or closed: no call leaves before the opening is in the ledger.
 */
export async function recordOpeningOnce(
  { id, principal, source }: Execution,
  { isOpened }: Pick<LedgerTrail, "isOpened">,
  { ledger, journals }: LateDeps & { readonly journals: Pick<Journals, "read"> },
): Promise<void> {
  if (isOpened) return;
  const recording = await journals.read(id).catch(() => undefined);
  const detail = { source, ...defined({ dryRun: recording?.request.dryRun || undefined }), late: true };
  await ledger.write({ actor: principal, action: "execution.opened", subject: id, detail });
}
