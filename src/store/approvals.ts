/** What the store keeps about approvals. Arguments are sealed before they come here: the store sees bytes only. */

import type { Approval, ApprovalId, ExecutionId, Instant } from "../domain/index.ts";

/** An approval without what it is about, which may be large. */
export type ApprovalHead = Omit<Approval, "args" | "argsShown" | "plan">;

/** An approval with its arguments and plan as the vault sealed them; without bytes once they were dropped. */
export interface ApprovalRow extends ApprovalHead {
  readonly sealedArgs: Uint8Array;
}

/** Enough to know that somebody is to be asked. */
export type WaitingApproval = Pick<Approval, "id" | "principal">;

/** What of a call tells whether an approval is about it. */
export type ApprovalCall = Pick<
  Approval,
  "execution" | "seq" | "principal" | "session" | "tool" | "definition" | "effect" | "argsDigest" | "rule"
>;

/** A page: those that wait first, then newest first. */
export interface ApprovalPage {
  readonly limit: number;
  /** What counts as waiting: pending, and not yet expired by then. */
  readonly now: Instant;
  /** Only those that wait. */
  readonly isPending?: boolean;
  readonly execution?: ExecutionId;
  /** Go on after this one; an id that is not stored gives an empty page. */
  readonly after?: ApprovalId;
}

/** How much of one principal may wait. */
export interface ApprovalBound {
  readonly count: number;
  /** Of sealed arguments together. One alone may be larger. */
  readonly bytes: number;
}

/** Longer arguments are dropped when their question is settled: nobody has to judge them any more. */
export const KEPT_ARGUMENT_BYTES = 64 * 1024;

/** Which approvals a change looks at. */
export type ApprovalSelection =
  | { readonly kind: "one"; readonly id: ApprovalId }
  /** It first, then the pending ones of the same principal and tool. */
  | { readonly kind: "alike"; readonly id: ApprovalId }
  | { readonly kind: "execution"; readonly execution: ExecutionId }
  /** Those that are pending though their time is over. */
  | { readonly kind: "due"; readonly now: Instant };

/** The fields that change after an approval was asked for. */
export type ApprovalChange = Pick<Approval, "state" | "scope" | "decidedBy" | "decidedAt" | "note">;

/** Everything that was changed after a certain point, by whichever process. */
export interface ApprovalChanges {
  readonly changed: readonly ApprovalHead[];
  /** To be asked with next time. */
  readonly last: number;
  /** When the first of those that are pending expires; `null` when none is. */
  readonly dueAt: Instant | null;
}

/** Questions that were put to people. Callbacks run inside a transaction, perhaps twice, and must not wait. */
export interface ApprovalStore {
  /** Those that may be about a call: of its execution and tool, or remembered for its principal, tool and arguments. */
  related(call: ApprovalCall): Promise<readonly ApprovalHead[]>;
  /**
   * In one step: the id of the related one that `choose` takes, or else the new row is written.
   * Rejects with LIMIT_BUSY when more than `most` of one principal would be pending.
   */
  claim(
    row: ApprovalRow,
    choose: (related: readonly ApprovalHead[]) => ApprovalHead | undefined,
    most: ApprovalBound,
  ): Promise<ApprovalId>;
  find(id: ApprovalId): Promise<ApprovalRow | undefined>;
  list(page: ApprovalPage): Promise<readonly ApprovalRow[]>;
  /** Those of an execution that are pending at `now`, the first to expire first. Cheap: no arguments are read. */
  waiting(execution: ExecutionId, now: Instant): Promise<readonly WaitingApproval[]>;
  /**
   * In one step: each that is selected gets what `next` answers, or stays as it is. Answers those that were changed.
   * One that is settled by it loses arguments of more than `KEPT_ARGUMENT_BYTES`.
   */
  change(
    selection: ApprovalSelection,
    next: (head: ApprovalHead) => ApprovalChange | undefined,
  ): Promise<readonly ApprovalHead[]>;
  /** `after` is a `last` of before; left out, it answers where things stand and nothing that was changed. */
  changes(after?: number): Promise<ApprovalChanges>;
  /** Drops settled ones that expired before then. */
  forget(before: Instant): Promise<void>;
}
