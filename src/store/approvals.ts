/** Approvals in the store. Arguments are sealed before they are stored. */

import type { Approval, ApprovalId, ExecutionId, Instant } from "../domain/index.ts";

/** An approval without its arguments, plan and evidence, which may be large. */
export type ApprovalHead = Omit<Approval, "args" | "argsShown" | "plan" | "evidence">;

/** An approval with its sealed arguments, plan and evidence; empty once they were dropped. */
export interface ApprovalRow extends ApprovalHead {
  readonly sealedArgs: Uint8Array;
}

/** The fields of a call that decide whether an approval applies to it. */
export type ApprovalCall = Pick<
  Approval,
  "execution" | "seq" | "principal" | "session" | "tool" | "definition" | "effect" | "argsDigest" | "rule"
>;

/** A page: pending ones first, then newest first. */
export interface ApprovalPage {
  readonly limit: number;
  /** A pending approval that has expired by this time does not count as pending. */
  readonly now: Instant;
  /** Only pending ones. */
  readonly isPending?: boolean;
  readonly execution?: ExecutionId;
  /** Continue after this one; an unknown id gives an empty page. */
  readonly after?: ApprovalId;
}

/** Limits for pending approvals. Requests of a principal without a session are one session. */
export interface ApprovalBound {
  readonly perExecution: number;
  readonly perSession: number;
  readonly perPrincipal: number;
  /** The total size of sealed arguments of one principal. A single one may be larger. */
  readonly bytes: number;
}

/** Longer arguments are dropped when the approval is no longer pending. */
export const KEPT_ARGUMENT_BYTES = 64 * 1024;

/** The approvals that a change applies to. */
export type ApprovalSelection =
  | { readonly kind: "one"; readonly id: ApprovalId }
  /** This one first, then the pending ones of the same principal and tool. */
  | { readonly kind: "alike"; readonly id: ApprovalId }
  | { readonly kind: "execution"; readonly execution: ExecutionId }
  /** Pending ones whose time is over. */
  | { readonly kind: "due"; readonly now: Instant };

/** The fields that change after the request. */
export interface ApprovalChange extends Pick<Approval, "state" | "scope" | "decidedBy" | "decidedAt" | "note"> {
  /** Replaces the sealed arguments: with the answer of an input request, or empty once it was delivered. */
  readonly sealedArgs?: Uint8Array;
}

/** The changes after a cursor, whichever process made them. */
export interface ApprovalChanges {
  readonly changed: readonly ApprovalHead[];
  /** The cursor for the next call. */
  readonly last: number;
  /** When the first pending approval expires; `null` if none is pending. */
  readonly dueAt: Instant | null;
}

/** Callbacks run inside a transaction, perhaps twice, and must be synchronous. */
export interface ApprovalStore {
  /** Returns approvals that may apply: of the same execution and tool, or remembered for principal and tool, with these or any arguments. */
  related(call: ApprovalCall): Promise<readonly ApprovalHead[]>;
  /**
   * Atomically returns the id of the related approval that `choose` returns, or inserts the new row.
   * Rejects with LIMIT_BUSY if more than `most` would be pending.
   */
  claim(
    row: ApprovalRow,
    choose: (related: readonly ApprovalHead[]) => ApprovalHead | undefined,
    most: ApprovalBound,
  ): Promise<ApprovalId>;
  find(id: ApprovalId): Promise<ApprovalRow | undefined>;
  list(page: ApprovalPage): Promise<readonly ApprovalRow[]>;
  /** Returns the pending approvals of an execution, the first to expire first. Cheap: reads no arguments. */
  waiting(execution: ExecutionId, now: Instant): Promise<readonly Pick<Approval, "id" | "principal">[]>;
  /**
   * Atomically applies what `next` returns to each selected approval; `undefined` leaves it unchanged. Returns the changed
   * ones. An approval that is no longer pending loses arguments above `KEPT_ARGUMENT_BYTES`.
   */
  change(
    selection: ApprovalSelection,
    next: (head: ApprovalHead) => ApprovalChange | undefined,
  ): Promise<readonly ApprovalHead[]>;
  /** `after` is an earlier `last`. Without it, returns the current cursor and no changes. */
  changes(after?: number): Promise<ApprovalChanges>;
  /** Removes decided approvals that expired before this time. */
  forget(before: Instant): Promise<void>;
}
