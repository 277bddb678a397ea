/** Stored results: limited in total size, bound to a principal, and removed after their expiry. Labels of principals. */

import { GloveboxError } from "../../../domain/index.ts";
import { bytes, optional, readColumn } from "../../row.ts";
import type { RawRow } from "../../row.ts";
import { RESULT, RESULT_SUMMARY, TAKEN_LABELS } from "../../store.ts";
import type { LabelStore, ResultStore, ResultSummary, StoredResult } from "../../store.ts";

import type { ColumnSeal } from "../column-seal.ts";
import { insertInto } from "../connection.ts";
import type { Connection } from "../connection.ts";

const MINE = "FROM results WHERE id = ? AND principal = ? AND expires_at > ?";
/** Results that do not fit together with all newer ones. */
const OVER = `DELETE FROM results WHERE id IN (
  SELECT id FROM (SELECT id, SUM(bytes) OVER (ORDER BY created_at DESC, rowid DESC) AS held FROM results)
  WHERE held > ?)`;

const INSERT = insertInto("results", { columns: `${RESULT.columns}, sealed_shape` });

export function createResults({ database, read, write, commit }: Connection, seal: ColumnSeal): ResultStore {
  const expire = database.prepare("DELETE FROM results WHERE expires_at <= ?");
  const evict = database.prepare(OVER);
  // By name: SQLite reloads the schema for an unknown column, after another process has migrated the file.
  const insert = database.prepare(INSERT);
  const select = database.prepare(`SELECT * ${MINE}`);
  const selectSummary = database.prepare(`SELECT ${RESULT_SUMMARY.columns}, sealed_shape ${MINE}`);
  /** A row without a sealed shape was stored by an older version. */
  const openShape = <Row extends ResultSummary>(row: Row | undefined, raw: RawRow | undefined): Row | undefined => {
    const sealed = raw && readColumn(raw, "sealed_shape", optional(bytes));
    return row && sealed ? { ...row, shape: seal.openShape(row.id, sealed) } : row;
  };
  const openBody = (raw: RawRow | undefined): StoredResult | undefined => {
    const row = RESULT.parseIfFound(raw);
    if (!row || raw?.["sealed_shape"] === null) return row;
    return openShape({ ...row, body: seal.openBody(row.id, row.body) }, raw);
  };

  return {
    put: async (result, totalBytes) => {
      const { id, bytes: size, createdAt } = result;
      if (size > totalBytes) {
        const message = `A result of ${size} bytes cannot be stored: the limit of all results is ${totalBytes} bytes (results.totalBytes)`;
        throw new GloveboxError("LIMIT_SIZE", message, { hint: "Return a summary, a count or a selection" });
      }
      const values = RESULT.toValues({ ...result, shape: "", body: seal.closeBody(id, result.body) });
      const shape = seal.closeShape(id, result.shape);
      await commit(() => {
        expire.run(createdAt);
        evict.run(totalBytes - size);
        insert.run(...values, shape);
      });
    },
    expire: (now) => write(() => void expire.run(now)),
    find: (id, { principal, now }) => read(() => openBody(select.get(id, principal, now))),
    findSummary: (id, { principal, now }) =>
      read(() => {
        const raw = selectSummary.get(id, principal, now);
        return openShape(RESULT_SUMMARY.parseIfFound(raw), raw);
      }),
  };
}

export function createLabels({ database, write }: Connection): LabelStore {
  const put = database.prepare(insertInto("taken_labels", TAKEN_LABELS, "OR REPLACE"));
  const forget = database.prepare("DELETE FROM taken_labels WHERE taken_at <= ?");
  const selectAll = database.prepare("SELECT * FROM taken_labels ORDER BY principal");
  return {
    put: (row) => write(() => void put.run(...TAKEN_LABELS.toValues(row))),
    list: (since) =>
      write(() => {
        forget.run(since);
        return selectAll.all().map(TAKEN_LABELS.parse);
      }),
  };
}
