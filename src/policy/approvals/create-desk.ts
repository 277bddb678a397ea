/** The queue as an operator's surface meets it: ids are text, what is shown has no secrets, and nothing can be asked. */

import { mapTexts, parseApprovalId } from "../../domain/index.ts";
import type { Approval, ApprovalId, HeldChange, Json, Principal } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import type { ApprovalChoice, ApprovalQuery, Approvals } from "./approvals.ts";
import { reviewApproval } from "./review.ts";
import type { ApprovalReview } from "./review.ts";
import { notFound } from "./watch-approvals.ts";

/** For operators' surfaces only; `decide` and `revoke` refuse everybody else all the same. */
export interface ApprovalDesk {
  /** Long arguments are cut; `show` has them whole. */
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
  /** Takes secrets out of a text. */
  readonly hide: (text: string) => string;
  /** What is held back in the place of the tool that was asked about. */
  readonly findChange: (approval: Approval) => Promise<HeldChange | undefined>;
}

/** It does not own the queue. */
export function createDesk({ approvals, store, hide, findChange }: DeskOptions): ApprovalDesk {
  const cover = (approval: Approval): Approval => {
    const plan = approval.plan && parseCopy(mapTexts(parsePlain(approval.plan), hide));
    return { ...approval, args: mapTexts(approval.args, hide), reason: hide(approval.reason), ...(plan && { plan }) };
  };
  return {
    list: async (query) => (await approvals.list(query)).map((approval) => cutArguments(cover(approval))),
    async show(raw) {
      const id = parseId(raw);
      const found = await approvals.find(id);
      if (!found) throw notFound(id);
      const { execution, ...review } = await reviewApproval(store, found);
      const shown = execution && { ...execution, source: hide(execution.source) };
      const change = await findChange(found);
      return { ...review, approval: cover(found), execution: shown, ...(change && { change }) };
    },
    decide: async (raw, choice, by) => cover(await approvals.decide(parseId(raw), choice, by)),
    revoke: async (raw, by) => cover(await approvals.revoke(parseId(raw), by)),
  };
}

/** Of arguments in a list, as JSON. */
export const LISTED_BYTES = 4_096;

function cutArguments(approval: Approval): Approval {
  const bytes = Buffer.from(JSON.stringify(approval.args));
  if (bytes.length <= LISTED_BYTES) return approval;
  // `stream` leaves out a character that is not whole.
  const args = new TextDecoder().decode(bytes.subarray(0, LISTED_BYTES), { stream: true });
  return { ...approval, args, argsShown: "beginning" };
}

function parseId(raw: string): ApprovalId {
  const id = parseApprovalId(raw);
  if (id === undefined) throw notFound(JSON.stringify(raw));
  return id;
}

/** A plan is plain JSON by its type, which the compiler does not see. */
function parsePlain(plan: NonNullable<Approval["plan"]>): Json {
  return plan as unknown as Json;
}

function parseCopy(plain: Json): NonNullable<Approval["plan"]> {
  return plain as unknown as NonNullable<Approval["plan"]>;
}
