/**
 * Searches records. Scans the table from its end and stops at the limit. There is deliberately no index: each one would
 * slow down every append, and a scan over 100,000 records takes a fraction of a second.
 */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";

import type { LedgerQuery } from "../../store.ts";

import type { Row } from "../row.ts";

interface SqlCondition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** The fields with the outcome of calls, executions, decisions and refusals. */
const OUTCOMES = ["$.outcome", "$.state", "$.decision", "$.code"];

/** Excludes records that a cut dropped, even if they were put back, and records below the first number. */
const KEPT: SqlCondition = {
  sql: "seq > coalesce((SELECT max(seq) FROM statements WHERE kind = 'cut'), 0)",
  values: [],
};

/** Newest first. */
export function searchLedger(database: DatabaseSync, query: LedgerQuery): Row[] {
  const conditions = [KEPT, ...toConditions(query)];
  const where = `WHERE ${conditions.map(({ sql }) => `(${sql})`).join(" AND ")}`;
  const values = conditions.flatMap((condition) => condition.values);
  const statement = database.prepare(`SELECT * FROM ledger ${where} ORDER BY seq DESC LIMIT ?`);
  statement.setReadBigInts(true);
  return statement.all(...values, Math.max(0, query.limit));
}

function toConditions(query: LedgerQuery): readonly SqlCondition[] {
  const { actor, subject, action, outcome, execution, since, until, before } = query;
  const found: (SqlCondition | undefined)[] = [
    before === undefined ? undefined : { sql: "seq < ?", values: [before] },
    since === undefined ? undefined : { sql: "at >= ?", values: [since] },
    until === undefined ? undefined : { sql: "at <= ?", values: [until] },
    actor === undefined ? undefined : { sql: "actor = ?", values: [actor] },
    subject === undefined ? undefined : { sql: "subject = ?", values: [subject] },
    action === undefined ? undefined : { sql: "action = ? OR substr(action, 1, ?) = ?", values: toAction(action) },
    execution === undefined ? undefined : isOf(execution),
    outcome === undefined ? undefined : endsAs(outcome),
  ];
  return found.filter((condition) => condition !== undefined);
}

function toAction(action: string): readonly SQLInputValue[] {
  return [action, action.length + 1, `${action}.`];
}

/** Searches the text first: most records do not match, and parsing JSON is expensive. */
function isOf(execution: string | readonly string[]): SqlCondition {
  if (typeof execution !== "string") return isOfAny(JSON.stringify(execution));
  const sql = "subject = ? OR (instr(detail, ?) > 0 AND json_valid(detail) AND detail ->> '$.execution' = ?)";
  return { sql, values: [execution, execution, execution] };
}

function isOfAny(executions: string): SqlCondition {
  const any = "IN (SELECT value FROM json_each(?))";
  return {
    sql: `subject ${any} OR (json_valid(detail) AND detail ->> '$.execution' ${any})`,
    values: [executions, executions],
  };
}

function endsAs(outcome: string): SqlCondition {
  const sql = OUTCOMES.map((path) => `detail ->> '${path}' = ?`).join(" OR ");
  return {
    sql: `instr(detail, ?) > 0 AND json_valid(detail) AND (${sql})`,
    values: [outcome, ...OUTCOMES.map(() => outcome)],
  };
}
