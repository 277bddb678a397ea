/** Stored results: limited in total size, bound to a principal, and removed after their expiry. Labels of principals. */

import { GloveboxError } from "../../../domain/index.ts";
import { RESULT, RESULT_SUMMARY, TAKEN_LABELS } from "../../store.ts";
import type { LabelStore, ResultStore } from "../../store.ts";

import { insertInto } from "../connection.ts";
import type { Connection } from "../connection.ts";

const MINE = "FROM results WHERE id = ? AND principal = ? AND expires_at > ?";
/** Results that do not fit together with all newer ones. */
const OVER = `DELETE FROM results WHERE id IN (
  SELECT id FROM (SELECT id, SUM(bytes) OVER (ORDER BY created_at DESC, rowid DESC) AS held FROM results)
  WHERE held > ?)`;

export function createResults({ database, read, write }: Connection): ResultStore {
  const expire = database.prepare("DELETE FROM results WHERE expires_at <= ?");
  const evict = database.prepare(OVER);
  // By name: SQLite reloads the schema for an unknown column, after another process has migrated the file.
  const insert = database.prepare(insertInto("results", RESULT));
  const select = database.prepare(`SELECT * ${MINE}`);
  const selectSummary = database.prepare(`SELECT ${RESULT_SUMMARY.columns} ${MINE}`);

  return {
    put: async (result, totalBytes) => {
      const { bytes, createdAt } = result;
      if (bytes > totalBytes) {
        const message = `A result of ${bytes} bytes cannot be stored: the limit of all results is ${totalBytes} bytes (results.totalBytes)`;
        throw new GloveboxError("LIMIT_SIZE", message, { hint: "Return a summary, a count or a selection" });
      }
      await write(() => {
        expire.run(createdAt);
        evict.run(totalBytes - bytes);
        insert.run(...RESULT.toValues(result));
      });
    },
    expire: (now) => write(() => void expire.run(now)),
    find: (id, { principal, now }) => read(() => RESULT.parseIfFound(select.get(id, principal, now))),
    findSummary: (id, { principal, now }) =>
      read(() => RESULT_SUMMARY.parseIfFound(selectSummary.get(id, principal, now))),
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
