/** One request to run a program: its calls, its states, and the result that a client reads. */

import type { Approval } from "./approval.ts";
import type { PublicError } from "./errors.ts";
import type { ApprovalId, Digest, ExecutionId, Instant, PrincipalId, ResultId, ToolAddress } from "./ids.ts";
import type { Json } from "./json.ts";
import type { Decision } from "./policy.ts";
import type { Finding } from "./program.ts";
import type { Effect, LabelSource } from "./tool.ts";

/** What runs programs; `docs/reference/engines.md` compares them. */
export type EngineName = "isolate" | "quickjs" | "workerd" | "auto";

export interface IsolationLayer {
  readonly name: "namespaces" | "landlock" | "seccomp" | "sealed" | "rlimits";
  readonly present: boolean;
  /** What it prevents, or why it is missing. */
  readonly message: string;
  readonly hint?: string;
}

export interface Execution {
  readonly id: ExecutionId;
  readonly principal: PrincipalId;
  readonly source: Digest;
  readonly startedAt: Instant;
  /** The name of the process that runs it. */
  readonly owner?: string;
}

/** One call of a tool by a program. (execution, seq) is unique. */
export interface ToolCall {
  readonly execution: ExecutionId;
  readonly seq: number;
  readonly principal: PrincipalId;
  readonly address: ToolAddress;
  readonly args: Json;
}

/** The reply to a call. Only text crosses the wall, and a failure is a value. */
export type Reply = { readonly ok: true; readonly json: string } | { readonly ok: false; readonly error: PublicError };

/** A file in the result of a call, such as an image. */
export interface Attachment {
  /** Where its description belongs in the result; the value there is a placeholder. */
  readonly path: readonly (string | number)[];
  readonly kind: "image" | "audio" | "blob";
  readonly mimeType: string;
  readonly base64: string;
}

export interface CallRecord {
  readonly seq: number;
  readonly tool: string;
  readonly effect: Effect;
  readonly decision: Decision["kind"];
  readonly outcome: "ok" | "error" | "denied" | "pending" | "unknown";
  readonly ms: number;
  /** The number of the call of a skill that made this call; absent for a call of the program itself. */
  readonly under?: number;
  /** Present if a dry run answered the call from its schema. */
  readonly dryRun?: true;
}

/** The calls that a dry run did not make: those that may change something, and reads that would have needed approval. */
export interface DryRun {
  readonly writes: readonly {
    readonly seq: number;
    readonly tool: ToolAddress;
    readonly effect: Effect;
    /** `ask` if it would have needed approval. */
    readonly decision: Exclude<Decision["kind"], "deny">;
    /** Without secrets, long strings shortened; absent if too large to show. */
    readonly args?: Json;
  }[];
}

export interface LogLine {
  readonly level: "log" | "info" | "warn" | "error" | "debug";
  readonly text: string;
  /** Since the start of the program. */
  readonly atMs: number;
}

/** What a client can observe while an execution runs. Nothing depends on a listener. */
export type ExecutionEvent =
  /** The first event: from now on the execution can be viewed by its id. */
  | { readonly kind: "opened"; readonly execution: ExecutionId }
  | { readonly kind: "log"; readonly line: LogLine }
  | { readonly kind: "called"; readonly seq: number; readonly tool: string }
  | { readonly kind: "answered"; readonly record: CallRecord }
  | { readonly kind: "asked"; readonly approval: Approval }
  | { readonly kind: "progress"; readonly seq: number; readonly tool: string; readonly progress: CallProgress };

/** The progress of one call, as its upstream reports it. The message is the server's, cleaned and shortened. */
export interface CallProgress {
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}

/** The object of `run --json`, of the library, and of `structuredContent` with `detail: "full"`. Fields without a value are absent. */
export interface ExecutionResult {
  readonly execution: ExecutionId;
  readonly state: "completed" | "failed" | "paused" | "cancelled";
  readonly value?: Json;
  readonly logs: readonly LogLine[];
  readonly calls: readonly CallRecord[];
  readonly error?: PublicError;
  readonly findings: readonly Finding[];
  readonly approvals?: readonly ApprovalId[];
  /** The calls that these approvals are about, in the same order. */
  readonly questions?: readonly (Pick<Approval, "seq" | "tool" | "reason" | "expiresAt"> & {
    readonly approval: ApprovalId;
    /** What the person runs; present in answers to MCP clients. */
    readonly commands?: Readonly<Record<"show" | "approve" | "reject", string>>;
    /** Its address on the page of a running server; absent if none serves this store. */
    readonly link?: string;
  })[];
  /** Of a value that was too large to return; `shape` is its outline. */
  readonly truncated?: { readonly handle: ResultId; readonly bytes: number; readonly shape: string };
  /** Present for a dry run, even if it skipped no call. */
  readonly dryRun?: DryRun;
  /** What the session has read up to the end of this execution, and by which calls; absent if nothing. */
  readonly labels?: readonly LabelSource[];
  readonly stats: Readonly<
    Record<"queueMs" | "wallMs" | "cpuMs" | "peakMemoryBytes" | "calls" | "outputBytes", number>
  > & {
    /** How often another engine took the program over; absent if it did not run. */
    readonly switches?: number;
  };
  /** The engine that gave the result. */
  readonly engine: EngineName;
  /** How the program was separated from the machine; `docs/reference/isolation.md` defines the levels. */
  readonly isolation: "strict" | "confined" | "process";
}

/** The current view of an execution: its result, or what is known so far while it runs. */
export interface ExecutionView extends Omit<ExecutionResult, "state"> {
  readonly state: ExecutionResult["state"] | "running";
}

/** Which part of a kept result to read. Offsets count array items, object entries, characters of a string, or matches of `grep`. */
export interface ResultQuery {
  readonly path?: string;
  readonly offset?: number;
  readonly limit?: number;
  /** Compared without regard to case. */
  readonly grep?: string;
}
