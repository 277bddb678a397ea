/**
 * Stored results: limited in total size, bound to a principal, and removed after their expiry. A large body is written and
 * read in parts, between which the thread does other work. Labels of principals.
 */

import { setImmediate as nextTurn } from "node:timers/promises";

import { GloveboxError } from "../../../domain/index.ts";
import type { ResultId } from "../../../domain/index.ts";
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
/** Not if the result was removed meanwhile. */
const INSERT_PART = `INSERT INTO result_parts (result, part, sealed)
  SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM results WHERE id = ?1)`;
/** About a millisecond of work. A body that is not larger is in the row of its result. */
const PART_BYTES = 256 * 1024;
const IN_PARTS = new Uint8Array();

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
    return openShape(isInParts(row) ? row : { ...row, body: seal.openBody(row.id, row.body) }, raw);
  };
  const parts = createParts({ database, read, commit }, seal);

  return {
    put: async (result, totalBytes) => {
      const { id, bytes: size, createdAt } = result;
      if (size > totalBytes) {
        const message = `A result of ${size} bytes cannot be stored: the limit of all results is ${totalBytes} bytes (results.totalBytes)`;
        throw new GloveboxError("LIMIT_SIZE", message, { hint: "Return a summary, a count or a selection" });
      }
      const isLarge = result.body.byteLength > PART_BYTES;
      const body = isLarge ? IN_PARTS : seal.closeBody(id, result.body);
      const values = RESULT.toValues({ ...result, shape: "", body });
      const shape = seal.closeShape(id, result.shape);
      await commit(() => {
        expire.run(createdAt);
        evict.run(totalBytes - size);
        insert.run(...values, shape);
      });
      if (isLarge) await parts.put(id, result.body);
    },
    expire: (now) => write(() => void expire.run(now)),
    find: async (id, { principal, now }) => {
      const row = await read(() => openBody(select.get(id, principal, now)));
      return row && isInParts(row) ? parts.find(row) : row;
    },
    findSummary: (id, { principal, now }) =>
      read(() => {
        const raw = selectSummary.get(id, principal, now);
        return openShape(RESULT_SUMMARY.parseIfFound(raw), raw);
      }),
  };
}

/** A sealed body is never empty. */
function isInParts({ bytes: size, body }: StoredResult): boolean {
  return body.byteLength === 0 && size > 0;
}

function createParts({ database, read, commit }: Pick<Connection, "database" | "read" | "commit">, seal: ColumnSeal) {
  const insert = database.prepare(INSERT_PART);
  const select = database.prepare("SELECT sealed FROM result_parts WHERE result = ? AND part = ?");
  const remove = database.prepare("DELETE FROM results WHERE id = ?");
  return {
    /** Until the last part is there, the result is not found. */
    async put(id: ResultId, body: Uint8Array): Promise<void> {
      try {
        for (let part = 0; part * PART_BYTES < body.byteLength; part += 1) {
          const sealed = seal.closePart(id, part, body.subarray(part * PART_BYTES, (part + 1) * PART_BYTES));
          await commit(() => void insert.run(id, part, sealed));
        }
      } catch (thrown) {
        await commit(() => void remove.run(id)).catch(() => undefined);
        throw thrown;
      }
    },
    /** `undefined` if a part is missing. */
    async find(row: StoredResult): Promise<StoredResult | undefined> {
      const body = Buffer.allocUnsafe(row.bytes);
      let at = 0;
      for (let part = 0; at < body.length; part += 1) {
        const raw = await read(() => select.get(row.id, part));
        if (!raw) return undefined;
        const opened = seal.openPart(row.id, part, readColumn(raw, "sealed", bytes));
        body.set(opened, at);
        at += opened.byteLength;
        await nextTurn();
      }
      return { ...row, body };
    },
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
