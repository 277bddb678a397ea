/** Brings an execution to its end whose process died: from the ledger, which has every call before it left. */

import { ERRORS, isJsonObject } from "../domain/index.ts";
import type {
  CallOutcome,
  CallRecord,
  Decision,
  Effect,
  Execution,
  ExecutionId,
  ExecutionResult,
  Json,
} from "../domain/index.ts";
import type { LedgerStore, StoredRecord } from "../store/index.ts";

import type { Journals } from "./journal/open-journals.ts";
import { emptyResult } from "./settle.ts";
import type { SettleContext } from "./settle.ts";
import type { People } from "./wait-for-people.ts";

/** More than any execution can have: two records for each call, and its own. */
const MOST_RECORDS = 1_000_000;
const NAMED_CALLS = 10;

export interface RecoverRooms extends SettleContext {
  readonly store: { readonly ledger: Pick<LedgerStore, "search"> };
  /** True when the process of this name has certainly ended. */
  hasEnded(owner: string): boolean;
  readonly people: Pick<People, "withdraw">;
  readonly journals: Pick<Journals, "read">;
  /** Writes down what came of a call whose process died before it could. */
  recordEnd(execution: Execution, call: CallRecord): Promise<unknown>; // audit
  close(execution: Execution, result: ExecutionResult): Promise<void>;
}

/** A call as the ledger has it. */
export interface KnownCall extends CallRecord {
  /** Its server says that a second call would change nothing more. */
  readonly isRepeatable: boolean;
  /** Whether it is written down what came of it. */
  readonly hasEnd: boolean;
}

/** The calls of an execution, in their order. */
export async function readCalls(
  id: ExecutionId,
  { store }: Pick<RecoverRooms, "store">,
): Promise<readonly KnownCall[]> {
  const found = await store.ledger.search({ execution: id, action: "call", limit: MOST_RECORDS });
  return toCalls(found.toReversed());
}

/** As a result has them. */
export function toTrace(calls: readonly KnownCall[]): readonly CallRecord[] {
  return calls.map(({ isRepeatable: _, hasEnd: __, ...call }): CallRecord => call);
}

/** What its calls came to stands in the ledger; one that was sent and not answered has an unknown outcome. */
export async function recover(execution: Execution, rooms: RecoverRooms): Promise<ExecutionResult> {
  const calls = toTrace(await endCalls(execution, rooms));
  const result: ExecutionResult = {
    ...emptyResult(execution, "failed", rooms),
    calls,
    error: toError(calls),
  };
  await rooms.people.withdraw(execution.id);
  await rooms.close(execution, result);
  return result;
}

/** Every call has an end in the ledger then: what the program was given, or what can be told without that. */
export async function endCalls(execution: Execution, rooms: RecoverRooms): Promise<readonly KnownCall[]> {
  const recording = await rooms.journals.read(execution.id).catch(() => undefined);
  const given = new Map(
    recording?.given.flatMap(({ call }) => (call ? [[call.record.seq, call.record] as const] : [])),
  );
  const calls = (await readCalls(execution.id, rooms)).map((call): KnownCall => {
    const answer = call.hasEnd ? undefined : given.get(call.seq);
    return answer ? { ...call, outcome: answer.outcome, ms: answer.ms } : call;
  });
  for (const call of calls) if (!call.hasEnd) await rooms.recordEnd(execution, call);
  return calls;
}

function toError(calls: readonly CallRecord[]): NonNullable<ExecutionResult["error"]> {
  const unknown = calls.filter(({ outcome }) => outcome === "unknown");
  const names = unknown.slice(0, NAMED_CALLS).map(({ tool, seq }) => `${tool} (call ${seq})`);
  const more = unknown.length > NAMED_CALLS ? ` and ${unknown.length - NAMED_CALLS} more` : "";
  const what =
    unknown.length === 0 ? "every call that it made is accounted for" : "whether they took effect is unknown";
  const said = unknown.length === 0 ? what : `${names.join(", ")}${more}: ${what}`;
  return {
    code: "SANDBOX_CRASHED",
    message: `Glovebox ended before this execution did; ${said}`,
    retry: ERRORS.SANDBOX_CRASHED.retry && unknown.length === 0,
    hint: unknown.length === 0 ? afterAll(calls) : "Look there before you run the program again",
  };
}

function afterAll({ length }: readonly CallRecord[]): string {
  if (length === 0) return "It had called nothing: run the program again";
  return "What its calls changed stays changed; look at them before you run the program again";
}

function toCalls(records: readonly StoredRecord[]): readonly KnownCall[] {
  const calls = new Map<number, KnownCall>();
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
const OUTCOMES: readonly CallOutcome[] = ["ok", "error", "denied", "pending", "unknown"];
const OUTCOMES_BEFORE_THE_END: Readonly<Record<Decision["kind"], (effect: Effect) => CallOutcome>> = {
  allow: (effect) => (effect === "read" ? "error" : "unknown"),
  ask: () => "pending",
  deny: () => "denied",
};
