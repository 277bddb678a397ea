/** The queue of approvals. A model has no way to decide one. */

import type { Approval, ApprovalId, ApprovalRequests, ExecutionId, Principal } from "../../domain/index.ts";

/** A person's decision. The scope defaults to the one call. */
export interface ApprovalChoice {
  readonly verdict: "approve" | "reject";
  readonly scope?: NonNullable<Approval["scope"]>;
  readonly note?: string;
}

/** A page of the queue: pending ones first, then newest first. */
export interface ApprovalQuery {
  /** At most 200. Defaults to 50, or to all approvals of one execution. */
  readonly limit?: number;
  /** Only pending ones. */
  readonly isPending?: boolean;
  readonly execution?: ExecutionId;
  /** Continue after this one. */
  readonly after?: ApprovalId;
}

/** Several processes can open the same queue; the first decision counts. Closing it rejects all waiting calls. */
export interface Approvals extends ApprovalRequests, AsyncDisposable {
  /**
   * Rejects with POLICY_DENIED unless `by` is an operator, with REQUEST_NOT_FOUND for an unknown id, and with
   * REQUEST_CONFLICT if it is no longer pending. A wider scope also decides the pending approvals that it covers.
   */
  decide(id: ApprovalId, choice: ApprovalChoice, by: Principal): Promise<Approval>;
  /** An approval that `find` rejects is included, marked as damaged. */
  list(query: ApprovalQuery): Promise<readonly Approval[]>;
  /** Returns the pending approvals of an execution, oldest first. Cheap: reads no arguments. */
  waiting(execution: ExecutionId): Promise<readonly Pick<Approval, "id" | "principal">[]>;
  /** Withdraws a decision or a pending request. Rejects as `decide` does. */
  revoke(id: ApprovalId, by: Principal): Promise<Approval>;
  /** Calls `listener` for every approval that is no longer pending, whichever process decided it. Returns a function that stops it. */
  onDecided(listener: (approval: Approval) => void): () => void;
}
