/** Executions, their idempotency keys and journals, and requests to cancel them. */

import type { DatabaseSync } from "node:sqlite";

import { GloveboxError, parseDigest, parseExecutionId, parsePrincipalId } from "../../../domain/index.ts";
import type { Execution, ExecutionId, PrincipalId } from "../../../domain/index.ts";
import { CANCELLATION, JOURNAL_PIECE, KEY_HOLDER, OUTCOME } from "../../executions.ts";
import type {
  CancellationStore,
  ExecutionEnding,
  ExecutionStore,
  ExecutionSummary,
  ListedExecution,
  JournalPiece,
  JournalStore,
  KeyHolder,
  RequestKey,
  StoredExecution,
  StoredOpening,
} from "../../executions.ts";
import { bytes, createShape, integer, optional, parsed, readColumn, text } from "../../row.ts";
import type { RawRow } from "../../row.ts";

import { insertInto } from "../connection.ts";
import type { Connection } from "../connection.ts";
import { listExecutions, skipExecutions } from "./list-executions.ts";
import type { ColumnSeal } from "../column-seal.ts";
import { ifTaken } from "../to-store-error.ts";

const EXECUTION = createShape({
  id: parsed(parseExecutionId),
  principal: parsed(parsePrincipalId),
  source: parsed(parseDigest),
  startedAt: integer,
  owner: optional(text),
});

const IS_OPEN = "(state IS NULL OR state = 'paused')";
const OPEN = "INSERT INTO executions (id, principal, source, source_text, started_at, owner) VALUES (?, ?, ?, ?, ?, ?)";
const CLOSE = `UPDATE executions SET ended_at = ?, state = ?, error_code = ?, result = NULL, sealed_result = ?
  WHERE id = ? AND ${IS_OPEN}`;
const LISTED = `${EXECUTION.columns}, ${OUTCOME.columns}`;
const SUMMARY = `SELECT ${LISTED} FROM executions`;
const HEAD = `${LISTED}, source_text`;
const CLAIM = `UPDATE executions SET owner = ?, state = NULL, ended_at = NULL, error_code = NULL
  WHERE id = ? AND state IS ? AND owner IS ?`;
const ADD_TOOL = "INSERT OR IGNORE INTO execution_tools (execution, tool) VALUES (?, ?)";
const INSERT_PIECE = insertInto("journals", JOURNAL_PIECE);

/** Ended executions that are too old, or exceed the total size together with newer ones. Reads an index only. */
const ENDED = `SELECT rowid, ended_at, sum(bytes) OVER (ORDER BY ended_at DESC, rowid DESC) AS upto
  FROM executions WHERE state IS NOT NULL AND state <> 'paused'`;
const OUTDATED = `SELECT id FROM executions WHERE rowid IN (
  SELECT rowid FROM (${ENDED}) WHERE ended_at < ? OR upto > ?)`;

/** A row is inserted before the program starts and closed once with its result. */
export function createExecutions({ database, read, write, commit }: Connection, seal: ColumnSeal): ExecutionStore {
  const insert = database.prepare(OPEN);
  const insertPiece = database.prepare(INSERT_PIECE);
  const update = database.prepare(CLOSE);
  const select = database.prepare("SELECT * FROM executions WHERE id = ?");
  const selectHead = database.prepare(`SELECT ${HEAD} FROM executions WHERE id = ?`);
  const unfinished = database.prepare(`${SUMMARY} WHERE state IS NULL ORDER BY started_at, id`);
  const paused = database.prepare(`${SUMMARY} WHERE state = 'paused' ORDER BY started_at, id`);
  const claim = database.prepare(CLAIM);
  const addTool = database.prepare(ADD_TOOL);
  const keys = prepareKeys(database);
  const drop = prepareDrop(database);

  const open = ({ id, principal, source, sourceText, startedAt, owner }: StoredOpening): void => {
    insert.run(id, principal, source, sourceText, startedAt, owner ?? null);
  };
  const close = (id: ExecutionId, ending: Omit<ExecutionEnding, "result">, sealed: Uint8Array): void => {
    const { endedAt, state, errorCode, tools = [] } = ending;
    const { changes } = update.run(endedAt, state, errorCode ?? null, sealed, id);
    if (Number(changes) > 0) return tools.forEach((tool) => void addTool.run(id, tool));
    if (selectHead.get(id)) refuse(`The execution ${id} has already ended`);
    throw new GloveboxError("REQUEST_NOT_FOUND", `The execution ${id} does not exist`);
  };

  return {
    open: (opening) =>
      commit(() => open(opening)).catch(ifTaken(() => refuse(`The execution ${opening.id} already exists`))),
    openOnce: ({ journal = [], ...opening }, key) =>
      commit(() => {
        const holder = keys.take(opening, key);
        if (holder) return holder;
        open(opening);
        for (const { execution, piece, sealed } of journal) insertPiece.run(execution, piece, sealed);
        return undefined;
      }),
    // Sealed and requested in the turn of the caller: writes commit in the order of their requests.
    close: async (id, { result, ...outcome }) => {
      const sealed = seal.closeResult(id, result);
      await commit(() => close(id, outcome, sealed));
    },
    find: (id) =>
      read(() => {
        const row = select.get(id);
        return row && toExecution(row, seal);
      }),
    findHead: (id) =>
      read(() => {
        const row = selectHead.get(id);
        return row && toHead(row);
      }),
    findHolder: (principal, key) => read(() => keys.find(principal, key)),
    list: (page) => read(() => listExecutions({ database, columns: LISTED }, page).map(toListed)),
    skip: (page) => read(() => parseExecutionId(skipExecutions(database, page))),
    listUnfinished: () => read(() => unfinished.all().map(toSummary)),
    listPaused: () => read(() => paused.all().map(toSummary)),
    claim: (id, { was, from, by }) =>
      write(() => Number(claim.run(by, id, was === "paused" ? was : null, from ?? null).changes) > 0),
    drop: ({ endedBefore, totalBytes }) => write(() => drop(endedBefore, totalBytes)),
  };
}

function refuse(message: string): never {
  throw new GloveboxError("REQUEST_CONFLICT", message);
}

function toSummary(row: RawRow): ExecutionSummary {
  return { ...EXECUTION.parse(row), ending: row["state"] === null ? null : OUTCOME.parse(row) };
}

function toListed({ row, ...more }: ReturnType<typeof listExecutions>[number]): ListedExecution {
  return { ...toSummary(row), ...more };
}

function toHead(row: RawRow): ExecutionSummary & StoredOpening {
  return { ...toSummary(row), sourceText: readColumn(row, "source_text", text) };
}

/** A result without a seal was stored by an older version. */
function toExecution(row: RawRow, seal: ColumnSeal): StoredExecution {
  const { ending, ...opening } = toHead(row);
  if (!ending) return { ...opening, ending };
  const sealed = readColumn(row, "sealed_result", optional(bytes));
  const result = sealed ? seal.openResult(opening.id, sealed) : readColumn(row, "result", text);
  return { ...opening, ending: { ...ending, result } };
}

const REPLACE_HOLDER =
  "UPDATE request_keys SET execution = ? WHERE principal = ? AND key = ? AND request = ? AND execution = ?";

/** Returns a function that deletes outdated executions with all that belongs to them. Call it in a transaction. */
function prepareDrop(database: DatabaseSync): (endedBefore: number, totalBytes: number) => number {
  const outdated = database.prepare(OUTDATED);
  const removals = ["journals", "results", "request_keys", "execution_tools"].map(
    (table) => `${table} WHERE execution`,
  );
  const remove = [...removals, "executions WHERE id"].map((place) => database.prepare(`DELETE FROM ${place} = ?`));
  return (endedBefore, totalBytes) => {
    const gone = outdated.all(endedBefore, totalBytes).map((row) => readColumn(row, "id", text));
    for (const id of gone) for (const statement of remove) statement.run(id);
    return gone.length;
  };
}

/** `take` assigns a key to an execution, or returns its holder. Call it in a transaction. */
function prepareKeys(database: DatabaseSync) {
  const insert = database.prepare("INSERT INTO request_keys VALUES (?, ?, ?, ?)");
  const replace = database.prepare(REPLACE_HOLDER);
  const select = database.prepare("SELECT request, execution FROM request_keys WHERE principal = ? AND key = ?");
  const find = (principal: PrincipalId, key: string): KeyHolder | undefined =>
    KEY_HOLDER.parseIfFound(select.get(principal, key));
  const take = ({ id, principal }: Execution, { key, request, insteadOf }: RequestKey): KeyHolder | undefined => {
    if (insteadOf !== undefined && replace.run(id, principal, key, request, insteadOf).changes > 0) return undefined;
    const holder = find(principal, key);
    if (!holder) insert.run(principal, key, request, id);
    return holder;
  };
  return { find, take };
}

/** Journals of ended executions that are too old, or exceed the total size together with newer ones. */
const DROPPABLE = `SELECT execution FROM (
    SELECT execution, ended_at, sum(bytes) OVER (ORDER BY ended_at DESC, execution DESC) AS upto FROM (
      SELECT journals.execution, executions.ended_at, sum(length(sealed)) AS bytes
      FROM journals JOIN executions ON executions.id = journals.execution
      WHERE executions.state IS NOT NULL AND executions.state <> 'paused'
      GROUP BY journals.execution))
  WHERE ended_at < ? OR upto > ?`;

export function createJournals({ database, read, write, commit }: Connection): JournalStore {
  const insert = database.prepare(INSERT_PIECE);
  const select = database.prepare("SELECT * FROM journals WHERE execution = ? ORDER BY piece");
  const droppable = database.prepare(DROPPABLE);
  const remove = database.prepare("DELETE FROM journals WHERE execution = ?");

  const insertAll = (pieces: readonly JournalPiece[]): void => {
    for (const { execution, piece, sealed } of pieces) insert.run(execution, piece, sealed);
  };
  return {
    append: (pieces, isFlushed = true) =>
      (isFlushed ? write : commit)(() => insertAll(pieces())).catch(
        ifTaken(() => refuse("Another process is running this execution")),
      ),
    read: (execution) => read(() => select.all(execution).map(JOURNAL_PIECE.parse)),
    drop: ({ endedBefore, totalBytes }) =>
      write(() => {
        const gone = droppable.all(endedBefore, totalBytes);
        for (const row of gone) remove.run(readColumn(row, "execution", text));
        return gone.length;
      }),
  };
}

const ASK = `INSERT INTO cancellations (execution, asked_by, asked_at)
  SELECT id, ?, ? FROM executions WHERE id = ? AND ${IS_OPEN} ON CONFLICT DO NOTHING`;
const LIST = `SELECT ${CANCELLATION.columns} FROM cancellations JOIN executions ON id = execution
  WHERE ${IS_OPEN} ORDER BY asked_at, execution`;
const FORGET = `DELETE FROM cancellations WHERE execution NOT IN (SELECT id FROM executions WHERE ${IS_OPEN})`;

/** A later request removes those of executions that have ended. */
export function createCancellations({ database, read, write }: Connection): CancellationStore {
  const insert = database.prepare(ASK);
  const select = database.prepare("SELECT 1 FROM cancellations WHERE execution = ?");
  const forget = database.prepare(FORGET);
  const selectAll = database.prepare(LIST);

  return {
    request: ({ execution, askedBy, askedAt }) =>
      write(() => {
        forget.run();
        insert.run(askedBy, askedAt, execution);
        return select.get(execution) !== undefined;
      }),
    list: () => read(() => selectAll.all().map(CANCELLATION.parse)),
  };
}
