/** Pages of the list of executions. Each condition has an index, or looks at a bounded part of the list. */

import type { DatabaseSync } from "node:sqlite";

import { defined } from "../../../domain/index.ts";
import type { ExecutionPage } from "../../executions.ts";
import { integer, readColumn, text } from "../../row.ts";
import type { RawRow } from "../../row.ts";
import { toWhere } from "../connection.ts";

/** The beginning of a source in a list. */
const HEAD_CHARS = 200;
/** Tools of one execution in a list. */
const LISTED_TOOLS = 6;
/** Of a tool with more executions, the list is read from its newest entry until the page is full. */
const FEW = 2_000;

const MORE = `substr(source_text, 1, ${HEAD_CHARS}) AS head,
  (SELECT group_concat(tool, ' ') FROM (SELECT tool FROM execution_tools WHERE execution = id LIMIT ${LISTED_TOOLS}))
    AS tools`;
const placeOf = (name: string): string => `(SELECT started_at, id FROM executions WHERE id = :${name})`;
/** Never looks at values: they are sealed. */
const MATCHES = `instr(lower(source_text), lower(:search)) > 0 OR instr(lower(error_code), lower(:search)) > 0
  OR EXISTS (SELECT 1 FROM execution_tools WHERE execution = id AND instr(lower(tool), lower(:search)) > 0)`;
const IS_TOOL = "tool = :tool";
/** Namespaces end with a dot, and a slash is the character after it. */
const IN_NAMESPACE = "tool >= :namespace || '.' AND tool < :namespace || '/'";

interface ListedRow {
  readonly row: RawRow;
  readonly head: string;
  readonly tools: readonly string[];
}

/** Newest first; ids break ties, so that a page never repeats or skips an execution of the same millisecond. */
export function listExecutions(
  { database, columns }: { readonly database: DatabaseSync; readonly columns: string },
  page: ExecutionPage,
): readonly ListedRow[] {
  const { limit, before, downTo, state, principal, tool, namespace, since, until, search } = page;
  const where = toWhere([
    before !== undefined && `(started_at, id) < ${placeOf("before")}`,
    downTo !== undefined && `(started_at, id) >= ${placeOf("downTo")}`,
    state !== undefined && "state IS :state",
    principal !== undefined && "principal = :principal",
    since !== undefined && "started_at >= :since",
    until !== undefined && "started_at <= :until",
    tool !== undefined && hasTool(database, IS_TOOL, { tool }),
    namespace !== undefined && hasTool(database, IN_NAMESPACE, { namespace }),
    search !== undefined && MATCHES,
  ]);
  const stored = state === "running" ? null : state;
  const values = defined({ before, downTo, state: stored, principal, tool, namespace, since, until, search });
  return database
    .prepare(`SELECT ${columns}, ${MORE} FROM executions ${where} ORDER BY started_at DESC, id DESC LIMIT :limit`)
    .all({ ...values, limit: Math.max(0, limit) })
    .map((row) => ({ row, head: readColumn(row, "head", text), tools: toTools(row["tools"]) }));
}

/** The few executions of a rare tool are looked up; a page of a frequent tool is full soon. */
function hasTool(database: DatabaseSync, condition: string, values: Record<string, string>): string {
  const some = `SELECT count(*) AS found FROM (SELECT 1 FROM execution_tools WHERE ${condition} LIMIT ${FEW})`;
  const found = readColumn(database.prepare(some).get(values) ?? {}, "found", integer);
  if (found < FEW) return `id IN (SELECT execution FROM execution_tools WHERE ${condition})`;
  return `EXISTS (SELECT 1 FROM execution_tools WHERE execution = id AND ${condition})`;
}

function toTools(joined: unknown): readonly string[] {
  return typeof joined === "string" ? joined.split(" ") : [];
}

/** Reads an index only. */
export function skipExecutions(
  database: DatabaseSync,
  { before, count }: { readonly before?: string; readonly count: number },
): string | undefined {
  const where = toWhere([before !== undefined && `(started_at, id) < ${placeOf("before")}`]);
  const sql = `SELECT id FROM executions ${where} ORDER BY started_at DESC, id DESC LIMIT 1 OFFSET :count`;
  const row = database.prepare(sql).get({ count, ...defined({ before }) });
  return row && readColumn(row, "id", text);
}
