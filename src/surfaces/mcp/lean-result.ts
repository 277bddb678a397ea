/**
 * The result of an execution as `structuredContent`: what a model needs for its next step. Calls that went well, statistics
 * and empty fields are left out, because clients put all of it into the context of the model.
 */

import { defined } from "../../domain/index.ts";
import type { CallRecord, ExecutionView, Finding, LabelSource } from "../../domain/index.ts";
import { omitRepeatedFindings } from "../omit-repeated.ts";

/** How many failed and refused calls are listed. Calls that wait or may have taken effect are always listed. */
export const MAX_FAILED_CALLS = 20;

/** `calls` has only those that failed, were refused, wait for approval or are unknown; `callCount` counts all. */
export interface LeanResult extends Pick<
  ExecutionView,
  "execution" | "state" | "value" | "error" | "approvals" | "questions" | "truncated" | "dryRun"
> {
  /** Which call brought a label is in the full result. */
  readonly labels?: readonly Pick<LabelSource, "label" | "tool">[];
  readonly logs?: ExecutionView["logs"];
  readonly callCount: number;
  readonly calls?: readonly CallRecord[];
  /** How many failed or refused calls are not listed; absent if none. */
  readonly callsOmitted?: number;
  readonly findings?: readonly Finding[];
}

export function toLeanResult(view: ExecutionView): LeanResult {
  const { execution, state, value, logs, approvals, questions, truncated, dryRun, labels, stats } = view;
  const { calls, omitted } = chooseCalls(view.calls);
  return {
    execution,
    state,
    ...defined({
      value,
      error: view.error,
      logs: unlessEmpty(logs),
      callCount: stats.calls,
      calls: unlessEmpty(calls),
      callsOmitted: omitted > 0 ? omitted : undefined,
      findings: unlessEmpty(omitRepeatedFindings(view)),
      approvals,
      questions,
      truncated,
      dryRun,
      labels: labels?.map(({ label, tool }) => ({ label, tool })),
    }),
  };
}

function chooseCalls(all: readonly CallRecord[]): { readonly calls: readonly CallRecord[]; readonly omitted: number } {
  const notable = all.filter(({ outcome }) => outcome !== "ok");
  const failed = notable.filter(isOver);
  const kept = new Set(failed.slice(0, MAX_FAILED_CALLS));
  return {
    calls: notable.filter((call) => !isOver(call) || kept.has(call)),
    omitted: failed.length - kept.size,
  };
}

function isOver({ outcome }: CallRecord): boolean {
  return outcome === "error" || outcome === "denied";
}

function unlessEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}
