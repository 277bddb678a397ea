/** The progress and the lease of each export of the ledger. */

import type { ExportRow, ExportStore } from "../../store.ts";

import type { Connection } from "../connection.ts";
import { integerOf, textOf } from "../row.ts";
import type { Row } from "../row.ts";

const CLAIM = `INSERT INTO exports (id, cursor, holder, held_until) VALUES (?, 0, ?, ?)
  ON CONFLICT DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
  WHERE holder = excluded.holder OR held_until <= ?`;
const NOTE = "UPDATE exports SET cursor = ?, sent_at = ?, failed_at = ?, failure = ? WHERE id = ?";

export function createExports({ database, read, write }: Connection): ExportStore {
  const claim = database.prepare(CLAIM);
  const release = database.prepare("UPDATE exports SET held_until = 0 WHERE id = ? AND holder = ?");
  const update = database.prepare(NOTE);
  const select = database.prepare("SELECT * FROM exports WHERE id = ?");
  const all = database.prepare("SELECT * FROM exports ORDER BY id");
  return {
    claim: ({ id, holder, now, until }) =>
      write(() => {
        if (Number(claim.run(id, holder, until, now).changes) === 0) return undefined;
        const row = select.get(id);
        return row && toExport(row);
      }),
    holder: (id) =>
      read(() => {
        const row = select.get(id);
        return row && textOf(row, "holder");
      }),
    release: async ({ id, holder }) => {
      await write(() => release.run(id, holder));
    },
    note: async ({ id, cursor, sentAt, failedAt, failure }) => {
      await write(() => update.run(cursor, sentAt, failedAt, failure, id));
    },
    list: () => read(() => all.all().map(toExport)),
  };
}

function toExport(row: Row): ExportRow {
  return {
    id: textOf(row, "id"),
    cursor: integerOf(row, "cursor"),
    sentAt: row["sent_at"] === null ? null : integerOf(row, "sent_at"),
    failedAt: row["failed_at"] === null ? null : integerOf(row, "failed_at"),
    failure: row["failure"] === null ? null : textOf(row, "failure"),
  };
}
