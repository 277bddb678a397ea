/** A person's decision about one call, pending or settled. */

import type { ApprovalId, Digest, ExecutionId, Instant, PrincipalId, RuleId, ToolAddress } from "./ids.ts";
import type { FlowEvidence } from "./evidence.ts";
import type { InputRequest } from "./input.ts";
import type { Json } from "./json.ts";
import type { ToolCall } from "./execution.ts";
import type { Decision } from "./policy.ts";
import type { CallPlan } from "./program.ts";
import type { Effect, LabelSource, Tool } from "./tool.ts";

/**
 * What a decision covers. `call`: this call only. `execution`: every call of the same tool under the same rule in this
 * execution. `session`: the same tool with the same arguments under the same rule, in this principal's session.
 * `session-tool`: the same tool with any arguments under the same rule, in this principal's session.
 */
export type ApprovalScope = "call" | "execution" | "session" | "session-tool";

/** From the narrowest to the widest. */
export const APPROVAL_SCOPES: readonly ApprovalScope[] = Object.freeze([
  "call",
  "execution",
  "session",
  "session-tool",
]);

/** One approval. Only the last five fields change after it is requested. */
export interface Approval {
  readonly id: ApprovalId;
  readonly execution: ExecutionId;
  readonly seq: number;
  readonly principal: PrincipalId;
  /** The session of the client; absent if the client has none. */
  readonly session?: string;
  readonly tool: ToolAddress;
  /** The digest of the tool's definition as the program saw it. */
  readonly definition: Digest;
  readonly effect: Effect;
  /** The arguments of the call, unless `argsShown` is set. */
  readonly args: Json;
  /**
   * `beginning`: `args` is a string, the start of their JSON (in lists). `dropped`: they were long and the approval is
   * settled. `damaged`: the stored arguments fail their check. `hidden`: the viewer may not see them.
   * `args` is `null` for all but the first.
   */
  readonly argsShown?: "beginning" | "dropped" | "damaged" | "hidden";
  readonly argsDigest: Digest;
  /** What the program could call, as found by analysis; absent if unknown or too long. */
  readonly plan?: CallPlan;
  /** What replays with other data showed; only for calls that the data-flow guard asks about. */
  readonly evidence?: FlowEvidence;
  readonly rule: RuleId;
  readonly reason: string;
  /** What the session had read when the call was made. */
  readonly labels: readonly LabelSource[];
  readonly createdAt: Instant;
  /** When it can no longer be decided, and when a remembered decision ends. */
  readonly expiresAt: Instant;
  /** `revoked`: taken back, or no longer needed. Every state except `pending` is settled. */
  readonly state: "pending" | "approved" | "rejected" | "expired" | "revoked";
  readonly scope?: ApprovalScope;
  /** Who settled it: a person, or the gateway if it was no longer needed. */
  readonly decidedBy?: string;
  readonly decidedAt?: Instant;
  /** The person's comment; a program whose call was rejected can read it. */
  readonly note?: string;
}

interface QueuedCall extends Pick<Approval, "session" | "labels" | "plan"> {
  /** Called only if a person has to be asked. Must not reject. */
  readonly evidence?: () => Promise<FlowEvidence> | undefined;
  readonly call: ToolCall;
  readonly tool: Pick<Tool, "digest" | "effect">;
}

/** A decision about a call, or a question of its upstream: then `args` of the approval is the question. */
export type ApprovalRequest = QueuedCall &
  (
    | { readonly decision: Pick<Extract<Decision, { readonly kind: "ask" }>, "rule" | "reason"> }
    | { readonly question: InputRequest["question"] }
  );

/** The approvals of executions: requested, awaited and withdrawn by the gateway, decided elsewhere by people. */
export interface ApprovalRequests {
  /**
   * Returns the approval of this call if there is one, else a remembered one that covers it, else a new pending one.
   * It is durable and in the ledger on return. Rejects with LIMIT_BUSY if too many are pending.
   */
  request(request: ApprovalRequest): Promise<Approval>;
  /** What a person answered to an input request; `cancel` if it is not answered or no longer kept. */
  takeAnswer(id: ApprovalId): Promise<InputRequest["answer"]>;
  /** Resolves once it is no longer pending, whichever process decided it; rejects when the signal fires. */
  whenDecided(id: ApprovalId, signal: AbortSignal): Promise<Approval>;
  /** Rejects with STORE_UNAVAILABLE if its arguments are not those of the request. */
  find(id: ApprovalId): Promise<Approval | undefined>;
  /** The approvals of one execution, pending ones first. One that `find` rejects is in it, marked as damaged. */
  list(query: { readonly execution: ExecutionId }): Promise<readonly Approval[]>;
  /** Settles the pending approvals of an execution that has ended, or only the one that is no longer needed. */
  withdraw(execution: ExecutionId, only?: ApprovalId): Promise<void>;
}
