/** The ledger entries about approvals: who, what, scope and digests, never the arguments. */

import { defined } from "../../domain/index.ts";
import type { LedgerEntry } from "../../ledger/index.ts";
import type { Approval, JsonObject, Principal } from "../../domain/index.ts";
import type { ApprovalHead } from "../../store/index.ts";

type ApprovalVerdict = Pick<Approval, "state" | "scope" | "note">;

/** Recorded before the approval can be decided. */
export function describeRequest(head: ApprovalHead): LedgerEntry {
  const { effect, reason, expiresAt, principal } = head;
  return describe(head, principal, "approval.requested", { effect, reason, expiresAt });
}

/** Recorded before the decision takes effect. `through` is the decision about another call that also covers this one. */
export function describeDecision(
  head: ApprovalHead,
  { state, scope, note }: ApprovalVerdict,
  by: string,
  through?: ApprovalHead,
): LedgerEntry {
  return describe(head, by, "approval.decided", {
    verdict: state,
    ...defined({ scope, note, through: through?.id }),
  });
}

/** A recorded decision without effect, because another process was faster. */
export function describeOvertaken(head: ApprovalHead, by: Principal): LedgerEntry {
  return describe(head, by.id, "approval.overtaken", {});
}

/** A remembered decision was applied to a call. */
export function describeUse(head: ApprovalHead, { execution, seq }: Pick<Approval, "execution" | "seq">): LedgerEntry {
  const { scope, state } = head;
  const detail = {
    verdict: state,
    ...defined({ scope }),
    asked: { execution: head.execution, seq: head.seq },
  };
  return describe({ ...head, execution, seq }, head.principal, "approval.used", detail);
}

/** Withdrawn by a person, or by the gateway when the execution has ended. */
export function describeRevocation(head: ApprovalHead, by: string): LedgerEntry {
  return describe(head, by, "approval.revoked", { former: head.state });
}

/** Not decided in time. */
export function describeExpiry(head: ApprovalHead): LedgerEntry {
  return describe(head, "gateway", "approval.expired", {});
}

function describe(head: ApprovalHead, actor: string, action: string, detail: JsonObject): LedgerEntry {
  const { id, execution, seq, tool, definition, argsDigest, rule, principal } = head;
  return {
    actor,
    action,
    subject: id,
    detail: { execution, seq, principal, tool, definition, arguments: argsDigest, rule, ...detail },
  };
}
