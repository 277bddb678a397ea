/** What can be watched, without arguments, results or source. */

import type { Decision, Effect, ExecutionResult, Instant } from "../domain/index.ts";

/** A tool that exists; names that a program only made up are never here. */
export interface CalledTool {
  readonly address: string;
  readonly server: string;
  readonly effect: Effect;
  readonly decision: Decision["kind"];
  /** The data-flow guard had a say in the decision. */
  readonly isFlow: boolean;
}

/** One call that has its answer. */
export interface CallTelemetry {
  readonly kind: "call";
  readonly principal: string;
  readonly execution: string;
  readonly seq: number;
  /** `undefined` for a call that never got as far as a decision. */
  readonly tool: CalledTool | undefined;
  readonly outcome: string;
  readonly code: string | undefined;
  readonly ms: number;
  readonly endedAt: Instant;
}

/** One execution whose result is recorded. */
export interface ExecutionTelemetry {
  readonly kind: "execution";
  readonly principal: string;
  readonly execution: string;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly state: string;
  readonly code: string | undefined;
  readonly stats: ExecutionResult["stats"];
}

/** One commit of the ledger. */
export interface CommitTelemetry {
  readonly kind: "commit";
  readonly records: number;
  readonly ms: number;
}

export type TelemetryEvent = CallTelemetry | ExecutionTelemetry | CommitTelemetry;
