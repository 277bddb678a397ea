/**
 * Passes events of the ledger and of executions to listeners without delaying the source: events enter a bounded queue,
 * and what does not fit is dropped and counted.
 */

import type { LedgerRecord } from "../ledger/index.ts";
import type { Execution, ExecutionResult, Instant } from "../domain/index.ts";
import type { ExecutionTelemetry, TelemetryEvent } from "./event.ts";
import { createCallJoiner } from "./call-joiner.ts";

/** The maximum length of the queue; a ledger batch is one entry. */
const MOST_WAITING = 4_096;

export interface FeedOptions {
  readonly now: () => Instant;
  /** Called with the error of a listener; the others still run. */
  readonly report: (thrown: unknown) => unknown;
}

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

export function createFeed({ now, report }: FeedOptions): Feed {
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
      if (entry.kind === "execution") emit(entry);
      else emitBatch(entry.records, entry.ms);
    }
  };
  const emitBatch = (records: readonly LedgerRecord[], ms: number): void => {
    emit({ kind: "commit", records: records.length, ms });
    for (const record of records) {
      const call = join(record);
      if (call) emit(call);
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
