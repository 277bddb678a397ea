/** The table of approvals. Every change gets the next number, so that other processes can poll for changes. */

import type { DatabaseSync } from "node:sqlite";

import {
  APPROVAL_SCOPES,
  GloveboxError,
  defined,
  parseApprovalId,
  parseDigest,
  parseExecutionId,
  parsePrincipalId,
  parseRuleId,
  parseToolAddress,
} from "../../../domain/index.ts";
import { KEPT_ARGUMENT_BYTES } from "../../approvals.ts";
import type {
  ApprovalBound,
  ApprovalCall,
  ApprovalChange,
  ApprovalHead,
  ApprovalPage,
  ApprovalRow,
  ApprovalSelection,
  ApprovalStore,
} from "../../approvals.ts";
import {
  bytes,
  createShape,
  integer,
  labelSources,
  nullable,
  oneOf,
  optional,
  parsed,
  readColumn,
  text,
} from "../../row.ts";

import { toWhere } from "../connection.ts";
import type { Connection } from "../connection.ts";

const WAITER = { id: parsed(parseApprovalId), principal: parsed(parsePrincipalId) };
const FIELDS = {
  ...WAITER,
  execution: parsed(parseExecutionId),
  seq: integer,
  session: optional(text),
  tool: parsed(parseToolAddress),
  definition: parsed(parseDigest),
  effect: oneOf("read", "write", "destroy", "unknown"),
  argsDigest: parsed(parseDigest),
  rule: parsed(parseRuleId),
  reason: text,
  labels: labelSources,
  createdAt: integer,
  expiresAt: integer,
  state: oneOf("pending", "approved", "rejected", "expired", "revoked"),
  scope: optional(oneOf(...APPROVAL_SCOPES)),
  decidedBy: optional(text),
  decidedAt: optional(integer),
  note: optional(text),
};
/** All columns but the arguments, which may be large. */
const HEAD = createShape(FIELDS);
const ROW = createShape({ ...FIELDS, sealedArgs: bytes });
const WAITING_APPROVAL = createShape(WAITER);

const SELECT = `SELECT ${HEAD.columns} FROM approvals`;
const NEXT = "(SELECT coalesce(max(change), 0) + 1 FROM approvals)";
const INSERT = `INSERT INTO approvals (${ROW.columns}, change) VALUES (${ROW.columns.replaceAll(/\w+/g, "?")}, ${NEXT})`;
const UPDATE = `UPDATE approvals SET state = ?1, scope = ?2, decided_by = ?3, decided_at = ?4, note = ?5,
  sealed_args = CASE WHEN ?7 IS NOT NULL THEN ?7 WHEN ?1 <> 'pending' AND length(sealed_args) > ${KEPT_ARGUMENT_BYTES} THEN x'' ELSE sealed_args END,
  change = ${NEXT} WHERE id = ?6`;
const RELATED = `${SELECT} WHERE execution = ?1 AND tool = ?2
  UNION ${SELECT} WHERE principal = ?3 AND tool = ?4 AND args_digest = ?5 AND scope = 'session'
  UNION ${SELECT} WHERE principal = ?3 AND tool = ?4 AND scope = 'session-tool' AND state IN ('approved', 'rejected')`;
const PENDING = `SELECT count(*) AS principal, coalesce(sum(length(sealed_args)), 0) AS bytes,
  coalesce(sum(execution = ?3), 0) AS execution, coalesce(sum(session IS ?4), 0) AS session FROM approvals
  WHERE state = 'pending' AND principal = ?1 AND expires_at > ?2`;
/** Uses the index by state: columns behind the arguments in a row cannot be read without loading the arguments. */
const WAITING = `SELECT id, principal FROM approvals INDEXED BY approvals_by_state
  WHERE state = 'pending' AND expires_at > ? AND execution = ? ORDER BY expires_at, seq`;
const ALIKE = `${SELECT} WHERE id = ?1
  UNION ALL SELECT * FROM (${SELECT} WHERE state = 'pending' AND id <> ?1
    AND (principal, tool) = (SELECT principal, tool FROM approvals WHERE id = ?1) ORDER BY created_at, id)`;
const CHANGED = `SELECT ${HEAD.columns}, change FROM approvals WHERE change > ? ORDER BY change`;
/** Keeps the newest change at any age, because numbering continues from it. */
const FORGET = `DELETE FROM approvals WHERE state <> 'pending' AND expires_at < ?
  AND change < (SELECT max(change) FROM approvals)`;
/** 0 for a pending approval. */
const RANK = "(state <> 'pending' OR expires_at <= :now)";

export function createApprovals({ database, read, write }: Connection): ApprovalStore {
  const insert = database.prepare(INSERT);
  const update = database.prepare(UPDATE);
  const related = database.prepare(RELATED);
  const pending = database.prepare(PENDING);
  const waiting = database.prepare(WAITING);
  const select = database.prepare("SELECT * FROM approvals WHERE id = ?");
  const changed = database.prepare(CHANGED);
  const newest = database.prepare("SELECT coalesce(max(change), 0) AS change FROM approvals");
  const firstDue = database.prepare("SELECT min(expires_at) AS due FROM approvals WHERE state = 'pending'");
  const forget = database.prepare(FORGET);
  const selectFor = createSelections(database);

  const findRelated = ({ execution, principal, tool, argsDigest }: ApprovalCall): readonly ApprovalHead[] =>
    related.all(execution, tool, principal, tool, argsDigest).map(HEAD.parse);
  const refuseTooMany = (row: ApprovalRow, most: ApprovalBound): void => {
    const { principal, createdAt, execution, session, sealedArgs } = row;
    const found = pending.get(principal, createdAt, execution, session ?? null);
    const count = (column: "principal" | "execution" | "session"): number => readColumn(found, column, integer);
    if (count("execution") >= most.perExecution)
      throw tooMany(`${execution} has ${most.perExecution} pending approvals, which is the maximum`, AWAIT_SOME);
    if (count("session") >= most.perSession)
      throw tooMany(`The session of ${principal} has ${most.perSession} pending approvals, which is the maximum`);
    if (count("principal") >= most.perPrincipal)
      throw tooMany(`${principal} has ${most.perPrincipal} pending approvals, which is the maximum`);
    if (count("principal") > 0 && readColumn(found, "bytes", integer) + sealedArgs.length > most.bytes)
      throw tooMany(`The arguments of the pending approvals of ${principal} would exceed ${most.bytes} bytes`);
  };
  const apply = (id: string, change: ApprovalChange): void => void update.run(...toUpdate(id, change));

  return {
    related: (call) => read(() => findRelated(call)),
    claim: (row, choose, most) =>
      write(() => {
        const known = choose(findRelated(row));
        if (known) return known.id;
        refuseTooMany(row, most);
        insert.run(...ROW.toValues(row));
        return row.id;
      }),
    find: (id) => read(() => ROW.parseIfFound(select.get(id))),
    list: (page) => read(() => list(database, page)),
    waiting: (execution, now) => read(() => waiting.all(now, execution).map(WAITING_APPROVAL.parse)),
    change: (selection, next) =>
      write(() =>
        selectFor(selection).flatMap((head) => {
          const change = next(head);
          if (!change) return [];
          apply(head.id, change);
          return [merge(head, change)];
        }),
      ),
    changes: (after) =>
      read(() => {
        const rows = changed.all(after ?? Number.MAX_SAFE_INTEGER);
        const last = readColumn(rows.at(-1) ?? newest.get(), "change", integer);
        return { changed: rows.map(HEAD.parse), last, dueAt: readColumn(firstDue.get(), "due", nullable(integer)) };
      }),
    forget: (before) => write(() => void forget.run(before)),
  };
}

function toUpdate(id: string, { state, scope, decidedBy, decidedAt, note, sealedArgs }: ApprovalChange) {
  const changed = [state, scope ?? null, decidedBy ?? null, decidedAt ?? null, note ?? null] as const;
  return [...changed, id, sealedArgs ?? null] as const;
}

function createSelections(database: DatabaseSync): (selection: ApprovalSelection) => readonly ApprovalHead[] {
  const statements = {
    one: database.prepare(`${SELECT} WHERE id = ?`),
    alike: database.prepare(ALIKE),
    execution: database.prepare(`${SELECT} WHERE execution = ? ORDER BY created_at, id`),
    due: database.prepare(`${SELECT} WHERE state = 'pending' AND expires_at <= ? ORDER BY expires_at, id`),
  };
  return ({ kind, ...selected }) => statements[kind].all(...Object.values(selected)).map(HEAD.parse);
}

function list(
  database: DatabaseSync,
  { limit, now, isPending, execution, after }: ApprovalPage,
): readonly ApprovalRow[] {
  const where = toWhere([
    isPending === true && `NOT ${RANK}`,
    execution !== undefined && "execution = :execution",
    after !== undefined &&
      `(${RANK}, -created_at, id) > (SELECT ${RANK}, -created_at, id FROM approvals WHERE id = :after)`,
  ]);
  const values = defined({ now, limit, execution, after });
  const sql = `SELECT * FROM approvals ${where} ORDER BY ${RANK}, -created_at, id LIMIT :limit`;
  return database.prepare(sql).all(values).map(ROW.parse);
}

/** Fields that the change does not contain are removed. */
function merge(head: ApprovalHead, { sealedArgs: _, ...change }: ApprovalChange): ApprovalHead {
  const { scope: _scope, decidedBy: _by, decidedAt: _at, note: _note, ...request } = head;
  return { ...request, ...change };
}

const AWAIT_SOME = "Await earlier calls before the next one, or make fewer calls that need approval";
const DECIDE_SOME = "Decide some of them first; list them with `glovebox approvals`";

function tooMany(message: string, hint = DECIDE_SOME): GloveboxError {
  return new GloveboxError("LIMIT_BUSY", message, { hint });
}
