/**
 * Passes events of the ledger and of executions to listeners without delaying the source: events enter a bounded queue,
 * and what does not fit is dropped and counted.
 */

import { isJsonObject } from "../domain/index.ts";
import type { Execution, ExecutionResult, Instant, JsonObject } from "../domain/index.ts";
import type { LedgerRecord } from "../ledger/index.ts";
import { createRecent } from "../timing/index.ts";
import type { CallTelemetry, CalledTool, ExecutionTelemetry, TelemetryEvent } from "./event.ts";

/** The maximum length of the queue; a ledger batch is one entry. */
const MOST_WAITING = 4_096;
/** More than the calls in progress. An intent without an end must not stay forever. */
const MAX_PENDING = 10_000;

export interface Feed {
  /** Call it with every ledger batch and the time that writing it took. */
  readonly committed: (records: readonly LedgerRecord[], ms: number) => void;
  /** Call it with every execution once its result is recorded. */
  ended(execution: Execution, result: ExecutionResult): void;
  /** Returns a function that stops listening. */
  listen(listener: (event: TelemetryEvent) => void): () => void;
  /** Delivers the queued events at once. */
  drain(): void;
  /** The number of events that were dropped because the queue was full. */
  readonly dropped: number;
}

type QueuedEvent =
  | ExecutionTelemetry
  | { readonly kind: "batch"; readonly records: readonly LedgerRecord[]; readonly ms: number };

/** `report` is called with the error of a listener; the others still run. */
export function createFeed({ now, report }: { now: () => Instant; report: (thrown: unknown) => unknown }): Feed {
  const listeners = new Set<(event: TelemetryEvent) => void>();
  const join = createCallJoiner();
  let waiting: QueuedEvent[] = [];
  let dropped = 0;

  const emit = (event: TelemetryEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (thrown) {
        report(thrown);
      }
    }
  };
  const drain = (): void => {
    const entries = waiting;
    waiting = [];
    for (const entry of entries) {
      if (entry.kind === "execution") {
        emit(entry);
        continue;
      }
      const { records, ms } = entry;
      emit({ kind: "commit", records: records.length, ms });
      for (const call of records.map(join)) if (call) emit(call);
    }
  };
  const add = (entry: QueuedEvent): void => {
    if (waiting.length >= MOST_WAITING) return void (dropped += 1);
    if (waiting.length === 0) setImmediate(drain);
    waiting.push(entry);
  };

  return {
    committed: (records, ms) => add({ kind: "batch", records, ms }),
    ended: (execution, result) => add(toExecutionTelemetry(execution, result, now())),
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    drain,
    get dropped() {
      return dropped;
    },
  };
}

/** Copies numbers and names only, never the result. */
function toExecutionTelemetry(
  { id, principal, startedAt }: Execution,
  result: ExecutionResult,
  endedAt: Instant,
): ExecutionTelemetry {
  const { state, error, stats } = result;
  return { kind: "execution", execution: id, principal, startedAt, endedAt, state, code: error?.code, stats };
}

/** Joins the records of a call, its intent and its end: returns the call for the second one and `undefined` otherwise. */
function createCallJoiner(): (record: LedgerRecord) => CallTelemetry | undefined {
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
