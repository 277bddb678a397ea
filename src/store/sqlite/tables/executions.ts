/** The table of executions: a row is inserted before the program starts and closed once with its result. */

import type { DatabaseSync } from "node:sqlite";

import {
  GloveboxError,
  defined,
  isErrorCode,
  parseDigest,
  parseExecutionId,
  parsePrincipalId,
} from "../../../domain/index.ts";
import type { Execution, ExecutionId, ExecutionResult } from "../../../domain/index.ts";
import type {
  ExecutionEnding,
  StoredOpening,
  ExecutionOutcome,
  ExecutionStore,
  ExecutionSummary,
  ExecutionPage,
  StoredExecution,
} from "../../executions.ts";

import type { Connection } from "../connection.ts";
import { INSERT_PIECE } from "./journals.ts";
import { createRequestKeys } from "./request-keys.ts";
import { idOf, integerOf, textOf } from "../row.ts";
import type { Row } from "../row.ts";
import { isTaken } from "../to-store-error.ts";

const OPEN = "INSERT INTO executions (id, principal, source, source_text, started_at, owner) VALUES (?, ?, ?, ?, ?, ?)";
const CLOSE = `UPDATE executions SET ended_at = ?, state = ?, error_code = ?, result = ?
  WHERE id = ? AND (state IS NULL OR state = 'paused')`;
const SUMMARY = "SELECT id, principal, source, started_at, owner, ended_at, state, error_code FROM executions";
const UNFINISHED = `${SUMMARY} WHERE state IS NULL ORDER BY started_at, id`;
const PAUSED = `${SUMMARY} WHERE state = 'paused' ORDER BY started_at, id`;
const OLDER = "(started_at, id) < (SELECT started_at, id FROM executions WHERE id = :before)";
const CLAIM = `UPDATE executions SET owner = ?, state = NULL, ended_at = NULL, error_code = NULL
  WHERE id = ? AND state IS ? AND owner IS ?`;

const STATES: readonly ExecutionResult["state"][] = ["completed", "failed", "paused", "cancelled"];

export function createExecutions({ database, read, write, commit }: Connection): ExecutionStore {
  const insert = database.prepare(OPEN);
  const insertPiece = database.prepare(INSERT_PIECE);
  const update = database.prepare(CLOSE);
  const select = database.prepare("SELECT * FROM executions WHERE id = ?");
  const unfinished = database.prepare(UNFINISHED);
  const paused = database.prepare(PAUSED);
  const claim = database.prepare(CLAIM);

  const keys = createRequestKeys(database);

  const open = ({ id, principal, source, sourceText, startedAt, owner }: StoredOpening): void => {
    insert.run(id, principal, source, sourceText, startedAt, owner ?? null);
  };
  const close = (id: ExecutionId, { endedAt, state, errorCode, result }: ExecutionEnding): void => {
    const { changes } = update.run(endedAt, state, errorCode ?? null, result, id);
    if (Number(changes) === 0) throw notOpen(id, select.get(id) !== undefined);
  };

  return {
    open: async (opening) => {
      try {
        await commit(() => open(opening));
      } catch (thrown) {
        const message = `The execution ${opening.id} already exists`;
        throw isTaken(thrown) ? new GloveboxError("REQUEST_CONFLICT", message) : thrown;
      }
    },
    openOnce: ({ journal = [], ...opening }, key) =>
      write(() => {
        const holder = keys.take(opening, key);
        if (holder) return holder;
        open(opening);
        for (const { execution, piece, sealed } of journal) insertPiece.run(execution, piece, sealed);
        return undefined;
      }),
    close: (id, ending) => write(() => close(id, ending)),
    find: (id) =>
      read(() => {
        const row = select.get(id);
        return row && toExecution(row);
      }),
    list: (page) => read(() => list(database, page)),
    listUnfinished: () => read(() => unfinished.all().map(toSummary)),
    listPaused: () => read(() => paused.all().map(toSummary)),
    claim: (id, { was, from, by }) =>
      write(() => Number(claim.run(by, id, was === "paused" ? was : null, from ?? null).changes) > 0),
  };
}

/** Newest first; ids break ties, so that a page never repeats or skips an execution of the same millisecond. */
function list(database: DatabaseSync, { limit, before, state }: ExecutionPage): readonly ExecutionSummary[] {
  const conditions = [...(state === undefined ? [] : ["state IS :state"]), ...(before === undefined ? [] : [OLDER])];
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const values = defined({ limit: Math.max(0, limit), before, state: state === "running" ? null : state });
  return database
    .prepare(`${SUMMARY} ${where} ORDER BY started_at DESC, id DESC LIMIT :limit`)
    .all(values)
    .map(toSummary);
}

function notOpen(id: ExecutionId, exists: boolean): GloveboxError {
  if (!exists) return new GloveboxError("REQUEST_NOT_FOUND", `The execution ${id} does not exist`);
  return new GloveboxError("REQUEST_CONFLICT", `The execution ${id} has already ended`);
}

function toExecution(row: Row): StoredExecution {
  const outcome = toOutcome(row);
  return {
    ...toOpening(row),
    sourceText: textOf(row, "source_text"),
    ending: outcome && { ...outcome, result: textOf(row, "result") },
  };
}

function toSummary(row: Row): ExecutionSummary {
  return { ...toOpening(row), ending: toOutcome(row) };
}

function toOpening(row: Row): Execution & { readonly openedBy?: string } {
  return {
    id: idOf(row, "id", parseExecutionId),
    principal: idOf(row, "principal", parsePrincipalId),
    source: idOf(row, "source", parseDigest),
    startedAt: integerOf(row, "started_at"),
    ...(row["owner"] !== null && { owner: textOf(row, "owner") }),
  };
}

function toOutcome(row: Row): ExecutionOutcome | null {
  if (row["state"] === null) return null;
  return {
    endedAt: integerOf(row, "ended_at"),
    state: idOf(row, "state", parseState),
    ...(row["error_code"] !== null && { errorCode: idOf(row, "error_code", parseErrorCode) }),
  };
}

function parseState(raw: unknown): ExecutionResult["state"] | undefined {
  return STATES.find((state) => state === raw);
}

function parseErrorCode(raw: unknown) {
  return isErrorCode(raw) ? raw : undefined;
}
