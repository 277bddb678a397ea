/** The table of the ledger. Appending is the hot path of the gateway, so the statements are prepared once. */

import type { LedgerStore, StoredRecord } from "../../store.ts";

import type { Connection } from "../connection.ts";
import { numberOf, textOf } from "../row.ts";
import type { Row } from "../row.ts";
import { searchLedger } from "./search-ledger.ts";
import { isTaken } from "../to-store-error.ts";

export function createLedger({ database, read, write, commit }: Connection): LedgerStore {
  const insert = database.prepare("INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  const last = database.prepare("SELECT * FROM ledger ORDER BY seq DESC LIMIT 1");
  const range = database.prepare("SELECT * FROM ledger WHERE seq >= ? ORDER BY seq LIMIT ?");

  // An integer above the safe range must not prevent reading the damaged record and those after it.
  for (const statement of [last, range]) statement.setReadBigInts(true);

  const insertAll = (records: readonly StoredRecord[]): void => {
    for (const { seq, at, actor, action, subject, detail, previous, digest } of records) {
      insert.run(seq, at, actor, action, subject, detail, previous, digest);
    }
  };

  return {
    append: async (records, isFlushed = true) => {
      try {
        await (isFlushed ? write : commit)(() => insertAll(records));
        return "appended";
      } catch (thrown) {
        if (isTaken(thrown)) return "taken";
        throw thrown;
      }
    },
    last: () =>
      read(() => {
        const row = last.get();
        return row && toRecord(row);
      }),
    search: (query) => read(() => searchLedger(database, query).map(toRecord)),
    read: ({ from, limit }) => read(() => range.all(from, Math.max(0, limit)).map(toRecord)),
  };
}

function toRecord(row: Row): StoredRecord {
  return {
    seq: numberOf(row, "seq"),
    at: numberOf(row, "at"),
    actor: textOf(row, "actor"),
    action: textOf(row, "action"),
    subject: textOf(row, "subject"),
    detail: textOf(row, "detail"),
    previous: textOf(row, "previous"),
    digest: textOf(row, "digest"),
  };
}
