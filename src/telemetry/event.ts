/** Telemetry events. They contain no arguments, results or source. */

import type { Decision, Effect, ExecutionResult, Instant } from "../domain/index.ts";

/** A tool that exists: a name that a program made up is never here. */
export interface CalledTool {
  readonly address: string;
  readonly server: string;
  readonly effect: Effect;
  readonly decision: Decision["kind"];
  /** True if the data-flow guard took part in the decision. */
  readonly isFlow: boolean;
}

export interface CallTelemetry {
  readonly kind: "call";
  readonly principal: string;
  readonly execution: string;
  readonly seq: number;
  /** `undefined` for a call that ended before a decision. */
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

export type TelemetryEvent =
  | CallTelemetry
  | ExecutionTelemetry
  /** One commit of the ledger. */
  | { readonly kind: "commit"; readonly records: number; readonly ms: number };
