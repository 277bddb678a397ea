/** The queue for the surfaces of operators: takes ids as strings, hides secrets, and cannot request approvals. */

import { capText, redactApproval } from "../../text/index.ts";
import { defined, parseApprovalId } from "../../domain/index.ts";
import type { Approval, ApprovalId, HeldChange, Principal } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import type { ApprovalChoice, ApprovalQuery, Approvals } from "./open-approvals.ts";
import { reviewApproval } from "./review.ts";
import type { ApprovalReview } from "./review.ts";
import { notFound } from "./watch-approvals.ts";

/** For operators only; `decide` and `revoke` check that too. */
export interface ApprovalDesk {
  /** Shortens long arguments; `show` returns them whole. */
  list(query: ApprovalQuery): Promise<readonly Approval[]>;
  /** Rejects with REQUEST_NOT_FOUND. */
  show(id: string): Promise<ApprovalReview>;
  /** Rejects as `Approvals.decide` does. */
  decide(id: string, choice: ApprovalChoice, by: Principal): Promise<Approval>;
  revoke(id: string, by: Principal): Promise<Approval>;
}

export interface DeskOptions {
  readonly approvals: Pick<Approvals, "list" | "find" | "decide" | "revoke">;
  readonly store: Pick<Store, "executions" | "ledger">;
  readonly hide: (text: string) => string;
  /** Returns the held-back definition of the tool, if there is one. */
  readonly findChange: (approval: Approval) => Promise<HeldChange | undefined>;
}

/** Does not own the queue. */
export function createDesk({ approvals, store, hide, findChange }: DeskOptions): ApprovalDesk {
  const cover = (approval: Approval): Approval => redactApproval(approval, hide);
  return {
    list: async (query) => (await approvals.list(query)).map((approval) => cutArguments(cover(approval))),
    async show(raw) {
      const id = parseId(raw);
      const found = await approvals.find(id);
      if (!found) throw notFound(id);
      const { execution, ...review } = await reviewApproval(store, found);
      const shown = execution && { ...execution, source: hide(execution.source) };
      const change = await findChange(found);
      return { ...review, approval: cover(found), execution: shown, ...defined({ change }) };
    },
    decide: async (raw, choice, by) => cover(await approvals.decide(parseId(raw), choice, by)),
    revoke: async (raw, by) => cover(await approvals.revoke(parseId(raw), by)),
  };
}

export const LISTED_BYTES = 4_096;

function cutArguments(approval: Approval): Approval {
  const text = JSON.stringify(approval.args);
  const args = capText(text, LISTED_BYTES);
  return args === text ? approval : { ...approval, args, argsShown: "beginning" };
}

function parseId(raw: string): ApprovalId {
  const id = parseApprovalId(raw);
  if (id === undefined) throw notFound(JSON.stringify(raw));
  return id;
}
