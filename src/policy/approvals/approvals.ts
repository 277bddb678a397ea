/** What can be asked of the queue of questions to people. No model has a way to decide one. */

import type { Approval, ApprovalId, ApprovalRequests, ExecutionId, Principal } from "../../domain/index.ts";

/** What a person says. Without a scope it counts for the one call. */
export interface ApprovalChoice {
  readonly verdict: "approve" | "reject";
  readonly scope?: NonNullable<Approval["scope"]>;
  readonly note?: string;
}

/** A page of the queue: those that wait first, then newest first. */
export interface ApprovalQuery {
  /** 200 at most; left out, 50, or all of one execution. */
  readonly limit?: number;
  /** Only those that wait; settled ones too when left out. */
  readonly isPending?: boolean;
  readonly execution?: ExecutionId;
  /** Go on after this one. */
  readonly after?: ApprovalId;
}

/** Several processes may have the same queue open; the first decision counts. Closing it ends the waiting. */
export interface Approvals extends ApprovalRequests, AsyncDisposable {
  /**
   * For operators: POLICY_DENIED for anybody else, whatever id is known. REQUEST_NOT_FOUND when there is none,
   * REQUEST_CONFLICT when it was settled before. A wider scope settles those that wait and are alike, too.
   */
  decide(id: ApprovalId, choice: ApprovalChoice, by: Principal): Promise<Approval>;
  /** One that `find` rejects is in it, marked as damaged. */
  list(query: ApprovalQuery): Promise<readonly Approval[]>;
  /** What of an execution waits, oldest first. Opens no arguments, so it can be asked often. */
  waiting(execution: ExecutionId): Promise<readonly Pick<Approval, "id" | "principal">[]>;
  /** Takes back what was decided, or a question that still waits. Rejects as `decide` does. */
  revoke(id: ApprovalId, by: Principal): Promise<Approval>;
  /** Hears of everything that is settled from now on, by whichever process. Returns the way to stop listening. */
  onDecided(listener: (approval: Approval) => void): () => void;
}
