/** Converts approvals to and from rows of the table. */

import type { SQLInputValue } from "node:sqlite";

import {
  APPROVAL_SCOPES,
  parseApprovalId,
  parseDigest,
  parseExecutionId,
  parsePrincipalId,
  parseRuleId,
  parseToolAddress,
} from "../../../domain/index.ts";
import type { Approval, Effect } from "../../../domain/index.ts";
import type { ApprovalHead, ApprovalRow, WaitingApproval } from "../../approvals.ts";

import { parseSources } from "./labels.ts";
import { bytesOf, idOf, integerOf, textOf } from "../row.ts";
import type { Row } from "../row.ts";

const APPROVAL_STATES: readonly Approval["state"][] = ["pending", "approved", "rejected", "expired", "revoked"];

/** All columns but the arguments, which may be large. */
export const HEAD =
  "id, execution, seq, principal, session, tool, definition, effect, args_digest, rule, reason, labels, created_at, " +
  "expires_at, state, scope, decided_by, decided_at, note";
/** In the order of `toValues`. */
export const COLUMNS = `${HEAD}, sealed_args`;

const EFFECTS: readonly Effect[] = ["read", "write", "destroy", "unknown"];

/** Returns the values of a new row in the order of `COLUMNS`. */
export function toValues(row: ApprovalRow): readonly SQLInputValue[] {
  const { id, execution, seq, principal, session, tool, definition, effect, argsDigest, rule, reason } = row;
  const { labels, createdAt, expiresAt, state, scope, decidedBy, decidedAt, note, sealedArgs } = row;
  const request = [id, execution, seq, principal, session ?? null, tool, definition, effect, argsDigest, rule, reason];
  const decision = [state, scope ?? null, decidedBy ?? null, decidedAt ?? null, note ?? null];
  return [...request, JSON.stringify(labels), createdAt, expiresAt, ...decision, sealedArgs];
}

/** For rows with the columns of `HEAD`. */
export function toHead(row: Row): ApprovalHead {
  return {
    id: idOf(row, "id", parseApprovalId),
    execution: idOf(row, "execution", parseExecutionId),
    seq: integerOf(row, "seq"),
    principal: idOf(row, "principal", parsePrincipalId),
    ...(row["session"] !== null && { session: textOf(row, "session") }),
    tool: idOf(row, "tool", parseToolAddress),
    definition: idOf(row, "definition", parseDigest),
    effect: idOf(row, "effect", (raw) => EFFECTS.find((effect) => effect === raw)),
    argsDigest: idOf(row, "args_digest", parseDigest),
    rule: idOf(row, "rule", parseRuleId),
    reason: textOf(row, "reason"),
    labels: parseSources(textOf(row, "labels")),
    createdAt: integerOf(row, "created_at"),
    expiresAt: integerOf(row, "expires_at"),
    ...toChange(row),
  };
}

export function toWaiting(row: Row): WaitingApproval {
  return { id: idOf(row, "id", parseApprovalId), principal: idOf(row, "principal", parsePrincipalId) };
}

export function toRow(row: Row): ApprovalRow {
  return { ...toHead(row), sealedArgs: bytesOf(row, "sealed_args") };
}

function toChange(row: Row): Pick<ApprovalHead, "state" | "scope" | "decidedBy" | "decidedAt" | "note"> {
  return {
    state: idOf(row, "state", (raw): Approval["state"] | undefined => APPROVAL_STATES.find((state) => state === raw)),
    ...(row["scope"] !== null && {
      scope: idOf(row, "scope", (raw) => APPROVAL_SCOPES.find((scope) => scope === raw)),
    }),
    ...(row["decided_by"] !== null && { decidedBy: textOf(row, "decided_by") }),
    ...(row["decided_at"] !== null && { decidedAt: integerOf(row, "decided_at") }),
    ...(row["note"] !== null && { note: textOf(row, "note") }),
  };
}
