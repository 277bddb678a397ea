/** Stored results: limited in total size, bound to a principal, and removed after their expiry. */

import { GloveboxError, parseExecutionId, parsePrincipalId, parseResultId } from "../../../domain/index.ts";
import type { ResultStore, ResultSummary, StoredResult } from "../../store.ts";

import type { Connection } from "../connection.ts";
import { parseSources } from "./labels.ts";
import { bytesOf, idOf, integerOf, textOf } from "../row.ts";
import type { Row } from "../row.ts";

/** By name: SQLite reloads the schema for an unknown column, after another process has migrated the file. */
const COLUMNS = "id, principal, execution, mime_type, bytes, shape, body, created_at, expires_at, labels";
const SUMMARY = "id, principal, execution, mime_type, bytes, shape, created_at, expires_at, labels";
const MINE = "FROM results WHERE id = ? AND principal = ? AND expires_at > ?";
/** Results that do not fit together with all newer ones. */
const OVER = `DELETE FROM results WHERE id IN (
  SELECT id FROM (SELECT id, SUM(bytes) OVER (ORDER BY created_at DESC, rowid DESC) AS held FROM results)
  WHERE held > ?)`;

export function createResults({ database, read, write }: Connection): ResultStore {
  const expire = database.prepare("DELETE FROM results WHERE expires_at <= ?");
  const evict = database.prepare(OVER);
  const insert = database.prepare(`INSERT INTO results (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const select = database.prepare(`SELECT * ${MINE}`);
  const selectSummary = database.prepare(`SELECT ${SUMMARY} ${MINE}`);

  return {
    put: async (result, totalBytes) => {
      if (result.bytes > totalBytes) throw tooLarge(result, totalBytes);
      const { id, principal, execution, mimeType, bytes, shape, body, createdAt, expiresAt } = result;
      const labels = JSON.stringify(result.labels);
      await write(() => {
        expire.run(createdAt);
        evict.run(totalBytes - bytes);
        insert.run(id, principal, execution, mimeType, bytes, shape, body, createdAt, expiresAt, labels);
      });
    },
    find: (id, { principal, now }) =>
      read(() => {
        const row = select.get(id, principal, now);
        return row && { ...toSummary(row), body: bytesOf(row, "body") };
      }),
    findSummary: (id, { principal, now }) =>
      read(() => {
        const row = selectSummary.get(id, principal, now);
        return row && toSummary(row);
      }),
  };
}

function tooLarge({ bytes }: StoredResult, totalBytes: number): GloveboxError {
  const message = `A result of ${bytes} bytes cannot be stored: the limit of all results is ${totalBytes} bytes (results.totalBytes)`;
  return new GloveboxError("LIMIT_SIZE", message, { hint: "Return a summary, a count or a selection" });
}

function toSummary(row: Row): ResultSummary {
  return {
    id: idOf(row, "id", parseResultId),
    principal: idOf(row, "principal", parsePrincipalId),
    execution: idOf(row, "execution", parseExecutionId),
    mimeType: textOf(row, "mime_type"),
    bytes: integerOf(row, "bytes"),
    shape: textOf(row, "shape"),
    labels: parseSources(textOf(row, "labels")),
    createdAt: integerOf(row, "created_at"),
    expiresAt: integerOf(row, "expires_at"),
  };
}
