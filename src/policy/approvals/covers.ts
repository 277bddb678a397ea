/** Which approval applies to a call, and which calls a decision covers. Pure functions. */

import { HOUR_MS } from "../../timing/index.ts";
import type { Approval, Instant } from "../../domain/index.ts";
import type { ApprovalCall, ApprovalHead } from "../../store/index.ts";

/** How long a decision for a session is valid if the client has no sessions: else it would be valid for days. */
export const SESSIONLESS_MS = 8 * HOUR_MS;

/** Prefers the approval of this call to a remembered one, and a remembered rejection to a remembered approval. */
export function chooseFor(
  call: ApprovalCall,
  related: readonly ApprovalHead[],
  now: Instant,
): ApprovalHead | undefined {
  const own = related.filter((head) => isOwn(head, call));
  if (own.length > 0) return own.toSorted((a, b) => b.createdAt - a.createdAt)[0];
  const remembered = related.filter((head) => isRemembered(head, now) && reaches(head, call));
  return remembered.find(({ state }) => state === "rejected") ?? remembered[0];
}

/** Returns true if a decision about one call also applies to another one. Never for another tool or rule. */
export function reaches(decided: ApprovalHead, call: ApprovalCall): boolean {
  if (!isAlike(decided, call)) return false;
  switch (decided.scope) {
    case "execution":
      return decided.execution === call.execution;
    case "session":
      return decided.session === call.session && decided.argsDigest === call.argsDigest;
    case "session-tool":
      return decided.session === call.session;
    case "call":
    case undefined:
      return false;
    default:
      return decided.scope satisfies never;
  }
}

/** Returns true if a decision that became a rule settles another call, which asks the same with any or these arguments. */
export function settles(decided: ApprovalHead, call: ApprovalCall, args: "any" | "same"): boolean {
  return isAlike(decided, call) && (args === "any" || decided.argsDigest === call.argsDigest);
}

/** A pending approval whose time is over counts as expired, even before the store says so. */
export function stateAt({ state, expiresAt }: Pick<Approval, "state" | "expiresAt">, now: Instant): Approval["state"] {
  return state === "pending" && expiresAt <= now ? "expired" : state;
}

/** The same call of the same execution. A replay with other arguments makes another call. */
function isOwn(head: ApprovalHead, call: ApprovalCall): boolean {
  const isSame = head.execution === call.execution && head.seq === call.seq && head.argsDigest === call.argsDigest;
  return isSame && isAlike(head, call);
}

function isAlike(head: ApprovalHead, call: ApprovalCall): boolean {
  const isSameTool = head.tool === call.tool && head.definition === call.definition && head.effect === call.effect;
  return isSameTool && head.principal === call.principal && head.rule === call.rule;
}

function isRemembered({ state, expiresAt, scope, session, decidedAt = 0 }: ApprovalHead, now: Instant): boolean {
  if ((state !== "approved" && state !== "rejected") || expiresAt <= now) return false;
  const isOfSession = scope === "session" || scope === "session-tool";
  return !isOfSession || session !== undefined || now - decidedAt < SESSIONLESS_MS;
}
