/** The calls of a program that is shown again: each as it went the first time, once the program has asked for it. */

import type { Bridge } from "../../bridge/index.ts";
import { GloveboxError, isErrorCode, isJsonObject } from "../../domain/index.ts";
import type { CallRecord, Json, LabelSource, PublicError, ResultId } from "../../domain/index.ts";

import type { JournaledDelivery } from "../journal.ts";
import type { KeptExecution } from "./kept.ts";

/** In the place of the bridge, where results are settled. */
export interface ReplayTrace extends Pick<Bridge, "records" | "failureOf" | "labels" | "dryRun"> {
  /** `seq` is the number that the call has this time. */
  repeat(given: JournaledDelivery, seq: number): void;
  /** A call that has no answer. */
  leaveOpen(seq: number, tool: string): void;
  /** What a large result was called. */
  readonly handle?: ResultId;
  /** What it was answered if there was no room for it: that is no doing of the program. */
  readonly noRoom?: PublicError;
}

export interface TraceOptions {
  /** Those without an answer have none yet. */
  readonly isPart?: boolean;
  /** What the session had read before. */
  readonly labels?: readonly LabelSource[];
}

/** `result` is how the same calls went the first time. */
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
      // A session only ever reads more, and calls are not asked for in the order of their answers.
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
