/** A question put to a person about one call, and what came of it. */

import type { ApprovalId, Digest, ExecutionId, Instant, PrincipalId, RuleId, ToolAddress } from "./ids.ts";
import type { Json } from "./json.ts";
import type { LabelSource } from "./label.ts";
import type { CallPlan } from "./program.ts";
import type { Effect } from "./tool.ts";

/**
 * How far a decision goes. `call`: this call only. `execution`: every call of the same tool under the same rule in this
 * execution. `session`: the same tool with the same arguments under the same rule, for this principal's session.
 */
export type ApprovalScope = "call" | "execution" | "session";

/** `revoked` is one that was taken back, or that nobody waits for any more; every state but `pending` is settled. */
export type ApprovalState = "pending" | "approved" | "rejected" | "expired" | "revoked";

/** In the order in which they widen. */
export const APPROVAL_SCOPES: readonly ApprovalScope[] = Object.freeze(["call", "execution", "session"]);

/** In the order in which they are shown. */
export const APPROVAL_STATES: readonly ApprovalState[] = Object.freeze([
  "pending",
  "approved",
  "rejected",
  "expired",
  "revoked",
]);

/**
 * Why arguments are not shown as they are. `beginning`: a text, the first part of their JSON, in lists. `dropped`: they
 * were long and the question is settled. `damaged`: the store does not have what was asked. `args` is `null` for both.
 */
export type ArgumentsShown = "beginning" | "dropped" | "damaged";

/** One question. Everything but the last five fields is fixed when it is asked. */
export interface Approval {
  readonly id: ApprovalId;
  readonly execution: ExecutionId;
  readonly seq: number;
  readonly principal: PrincipalId;
  /** The client's session that asked; left out for a principal whose client has none. */
  readonly session?: string;
  readonly tool: ToolAddress;
  /** The digest of the tool's definition as the program saw it. */
  readonly definition: Digest;
  readonly effect: Effect;
  /** What the call is made with, unless `argsShown` says otherwise. */
  readonly args: Json;
  readonly argsShown?: ArgumentsShown;
  readonly argsDigest: Digest;
  /** What the program could call, as its text told; left out when that is not known or too long. */
  readonly plan?: CallPlan;
  readonly rule: RuleId;
  readonly reason: string;
  /** What the session had read when the call was made. */
  readonly labels: readonly LabelSource[];
  readonly createdAt: Instant;
  /** Until when it can be decided, and until when a remembered decision counts. */
  readonly expiresAt: Instant;
  readonly state: ApprovalState;
  readonly scope?: ApprovalScope;
  /** Who settled it: a person, or the gateway when nobody waits for it any more. */
  readonly decidedBy?: string;
  readonly decidedAt?: Instant;
  /** What the person said about it; a program whose call was rejected reads it. */
  readonly note?: string;
}

/** A reviewer and the store write scopes; anything else is none. */
export function parseApprovalScope(raw: unknown): ApprovalScope | undefined {
  return APPROVAL_SCOPES.find((scope) => scope === raw);
}
