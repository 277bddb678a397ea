/** The calls of a replayed program: each with its recorded outcome, once the program has made it. */

import type { Bridge } from "../../bridge/index.ts";
import { GloveboxError, isErrorCode, isJsonObject } from "../../domain/index.ts";
import type { CallRecord, Json, LabelSource, PublicError, ResultId } from "../../domain/index.ts";

import type { JournaledDelivery } from "../journal.ts";
import type { KeptExecution } from "./kept.ts";

/** Takes the place of the bridge when the result is settled. */
export interface ReplayTrace extends Pick<Bridge, "records" | "failureOf" | "labels" | "dryRun"> {
  /** `seq` is the number of the call in the replay. */
  repeat(given: JournaledDelivery, seq: number): void;
  /** Records a call without a reply. */
  leaveOpen(seq: number, tool: string): void;
  /** The handle of a large result. */
  readonly handle?: ResultId;
  /** The error if a large result could not be stored, which the program did not cause. */
  readonly noRoom?: PublicError;
}

export interface TraceOptions {
  /** True for a replay that stops early: calls without a reply are still open. */
  readonly isPart?: boolean;
  /** What the session had read before. */
  readonly labels?: readonly LabelSource[];
}

/** `result` has the recorded outcomes. */
export function traceReplay(
  result: KeptExecution["result"],
  { isPart = false, labels: before = [] }: TraceOptions,
): ReplayTrace {
  const calls = new Map<number, CallRecord>();
  const failures = new Map<number, PublicError>();
  let labels = before;
  return {
    repeat({ delivery, call }, seq) {
      if (!call) return;
      calls.set(seq, { ...call.record, seq });
      if (delivery.kind === "failure") failures.set(seq, parseFailure(delivery.text));
      // Labels only grow, and calls are not made in the order of their replies.
      if (call.labels && call.labels.length > labels.length) labels = call.labels;
    },
    leaveOpen(seq, tool) {
      const known = result?.calls.find((call) => call.seq === seq);
      const open = { seq, tool, effect: "unknown", decision: "deny", outcome: "unknown", ms: 0 } as const;
      calls.set(seq, isPart ? { ...open, ...known, outcome: "unknown" } : (known ?? open));
    },
    records: () => [...calls.values()].toSorted((a, b) => a.seq - b.seq),
    failureOf: (seq) => failures.get(seq),
    labels: () => labels,
    dryRun: () => result?.dryRun && { writes: result.dryRun.writes.filter(({ seq }) => calls.has(seq)) },
    ...(result?.truncated && { handle: result.truncated.handle }),
    ...(result?.error?.code === "LIMIT_SIZE" && { noRoom: result.error }),
  };
}

/** Throws `REQUEST_INVALID` for a failure that no bridge wrote. */
export function parseFailure(text: string): PublicError {
  const raw: Json = JSON.parse(text);
  if (!isJsonObject(raw)) throw invalidFailure();
  const { code, message, retry } = raw;
  const isError = isErrorCode(code) && typeof message === "string" && typeof retry === "boolean";
  if (!isError) throw invalidFailure();
  return raw as unknown as PublicError;
}

function invalidFailure(): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", "The recording has a failed call without a valid error");
}
