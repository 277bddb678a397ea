/**
 * Carries what the ledger and the corridor tell to whoever watches, later and never in their way: whatever comes in
 * only joins a bounded line, and what does not fit is counted and forgotten.
 */

import type { LedgerRecord } from "../ledger/index.ts";
import type { Execution, ExecutionResult, Instant } from "../domain/index.ts";
import type { ExecutionTelemetry, TelemetryEvent } from "./event.ts";
import { createCallJoiner } from "./call-joiner.ts";

/** Entries that may wait; a batch of the ledger is one. */
const MOST_WAITING = 4_096;

export interface FeedOptions {
  readonly now: () => Instant;
  /** Hears of a listener that threw; the others go on. */
  readonly report: (thrown: unknown) => unknown;
}

export interface Feed {
  /** Every batch of the ledger once it is durable, and how long that took. */
  readonly committed: (records: readonly LedgerRecord[], ms: number) => void;
  /** Every execution once its result is recorded. */
  ended(execution: Execution, result: ExecutionResult): void;
  /** Returns the way to stop listening. */
  listen(listener: (event: TelemetryEvent) => void): () => void;
  /** Tells what waits now instead of a moment later. */
  drain(): void;
  /** What came in while the line was full. */
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

  const tell = (event: TelemetryEvent): void => {
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
      if (entry.kind === "execution") tell(entry);
      else tellBatch(entry.records, entry.ms);
    }
  };
  const tellBatch = (records: readonly LedgerRecord[], ms: number): void => {
    tell({ kind: "commit", records: records.length, ms });
    for (const record of records) {
      const call = join(record);
      if (call) tell(call);
    }
  };
  const add = (entry: QueuedEvent): void => {
    if (waiting.length >= MOST_WAITING) return void (dropped += 1);
    if (waiting.length === 0) setImmediate(drain);
    waiting.push(entry);
  };

  return {
    committed: (records, ms) => add({ kind: "batch", records, ms }),
    ended: (execution, result) => add(toSeen(execution, result, now())),
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

/** Numbers and names only: the result itself may be large, and is nobody's business here. */
function toSeen(
  { id, principal, startedAt }: Execution,
  result: ExecutionResult,
  endedAt: Instant,
): ExecutionTelemetry {
  const { state, error, stats } = result;
  return { kind: "execution", execution: id, principal, startedAt, endedAt, state, code: error?.code, stats };
}
