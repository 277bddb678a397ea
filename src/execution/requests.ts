/** What surfaces ask of executions with, whatever protocol it came by. */

import type { ExecutionEvent, Json, Limits, NetworkPolicy, Principal, TraceContext } from "../domain/index.ts";

import type { PlainCall } from "./run/call-tools.ts";

/** A program and what it may be given; the operator's own limits and policy hold besides. */
export interface ExecuteRequest {
  readonly principal: Principal;
  readonly code: string;
  readonly input?: Json;
  /** Can only tighten what the operator set. */
  readonly limits?: Partial<Limits>;
  /** `false` skips the rules of analysis; the sandbox holds without them. For the command line only. */
  readonly analysis?: boolean;
  /** `false` skips the type check alone. For the command line only. */
  readonly types?: boolean;
  /** Reads are made; whatever may change something is answered from its schema and listed in the result. */
  readonly dryRun?: boolean;
  /** Requests of one principal with the same one are one execution: the second gets what came of the first. */
  readonly idempotencyKey?: string;
  /** Where its program may send requests at most; can only tighten what the operator set. */
  readonly networkPolicy?: NetworkPolicy;
  readonly signal?: AbortSignal;
  /** The trace that the request belongs to; it goes on there when traces are on. */
  readonly trace?: TraceContext;
  /** Hears what goes on while it runs. Must not throw. */
  readonly onEvent?: (event: ExecutionEvent) => void;
}

/** An execution whose client does not wait for ever. */
export interface BeginRequest extends ExecuteRequest {
  readonly patienceMs: number;
  /** Ends patience before its time. */
  readonly until?: AbortSignal;
}

/** Tools that a client calls by themselves, all at once, as one execution without a program. */
export interface CallToolsRequest extends Pick<ExecuteRequest, "principal" | "signal" | "trace" | "onEvent"> {
  readonly calls: readonly PlainCall[];
}

/** Which execution, and how long one that still runs is waited for. */
export interface ViewRequest extends Pick<ExecuteRequest, "principal" | "signal"> {
  readonly execution: string;
  /** 20 s when left out. */
  readonly waitMs?: number;
}
