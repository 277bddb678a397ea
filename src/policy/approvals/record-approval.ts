/** What the ledger is told about approvals: who, what, how far, and digests; never the arguments themselves. */

import type { LedgerEntry } from "../../ledger/index.ts";
import type { Approval, JsonObject, Principal } from "../../domain/index.ts";
import type { ApprovalHead } from "../../store/index.ts";

type ApprovalVerdict = Pick<Approval, "state" | "scope" | "note">;

/** Written before anybody can decide it. */
export function describeRequest(head: ApprovalHead): LedgerEntry {
  const { effect, reason, expiresAt, principal } = head;
  return describe(head, principal, "approval.requested", { effect, reason, expiresAt });
}

/** Written before the decision counts. `through` is the decision for another call that reached this one. */
export function describeDecision(
  head: ApprovalHead,
  { state, scope, note }: ApprovalVerdict,
  by: string,
  through?: ApprovalHead,
): LedgerEntry {
  return describe(head, by, "approval.decided", {
    verdict: state,
    ...(scope !== undefined && { scope }),
    ...(note !== undefined && { note }),
    ...(through && { through: through.id }),
  });
}

/** A decision that was written down, and that another process was faster than: it has no effect. */
export function describeOvertaken(head: ApprovalHead, by: Principal): LedgerEntry {
  return describe(head, by.id, "approval.overtaken", {});
}

/** A call that a remembered decision answers without asking again. */
export function describeUse(head: ApprovalHead, { execution, seq }: Pick<Approval, "execution" | "seq">): LedgerEntry {
  const { scope, state } = head;
  const detail = {
    verdict: state,
    ...(scope !== undefined && { scope }),
    asked: { execution: head.execution, seq: head.seq },
  };
  return describe({ ...head, execution, seq }, head.principal, "approval.used", detail);
}

/** Taken back by a person, or by the gateway when nobody waits any more. */
export function describeRevocation(head: ApprovalHead, by: string): LedgerEntry {
  return describe(head, by, "approval.revoked", { former: head.state });
}

/** Nobody decided it in time. */
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
