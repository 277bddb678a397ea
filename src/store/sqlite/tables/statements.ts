/** The table of signed statements about the ledger, and the only way to delete records. */

import type { StatementRow, StatementStore } from "../../store.ts";

import type { Connection } from "../connection.ts";
import { idOf, integerOf, textOf } from "../row.ts";
import type { Row } from "../row.ts";
import { isTaken } from "../to-store-error.ts";

const LAST = "SELECT * FROM statements ORDER BY number DESC LIMIT 1";
const LAST_CUT = "SELECT * FROM statements WHERE kind = 'cut' ORDER BY number DESC LIMIT 1";
const CHECKPOINT =
  "SELECT * FROM statements WHERE kind = 'checkpoint' AND at <= ? AND seq <= ? ORDER BY number DESC LIMIT 1";
const DROP =
  "DELETE FROM ledger WHERE seq <= (SELECT min(first + ?, ?) FROM (SELECT min(seq) - 1 AS first FROM ledger))";

export function createStatements({ database, read, write }: Connection): StatementStore {
  const insert = database.prepare("INSERT INTO statements VALUES (?, ?, ?, ?, ?)");
  const last = database.prepare(LAST);
  const lastCut = database.prepare(LAST_CUT);
  const range = database.prepare("SELECT * FROM statements WHERE number >= ? ORDER BY number LIMIT ?");
  const checkpoint = database.prepare(CHECKPOINT);
  const dropRecords = database.prepare(DROP);
  const dropStatements = database.prepare("DELETE FROM statements WHERE number <= ?");

  const drop = (limit: number, upTo: number): number => {
    const cut = lastCut.get();
    if (!cut) return 0;
    const dropped = Number(dropRecords.run(limit, integerOf(cut, "seq")).changes);
    if (dropped < limit) dropStatements.run(upTo);
    return dropped;
  };

  return {
    append: async ({ number, kind, seq, at, text }) => {
      try {
        await write(() => insert.run(number, kind, seq, at, text));
        return "appended";
      } catch (thrown) {
        if (isTaken(thrown)) return "taken";
        throw thrown;
      }
    },
    last: () => read(() => toRow(last.get())),
    lastCut: () => read(() => toRow(lastCut.get())),
    read: ({ from, limit }) => read(() => range.all(from, Math.max(0, limit)).map(toStatement)),
    findCheckpoint: ({ at, seq }) => read(() => toRow(checkpoint.get(at, seq))),
    drop: (limit, upTo) => write(() => drop(limit, upTo)),
  };
}

function toRow(row: Row | undefined): StatementRow | undefined {
  return row && toStatement(row);
}

function toStatement(row: Row): StatementRow {
  return {
    number: integerOf(row, "number"),
    kind: idOf(row, "kind", parseKind),
    seq: integerOf(row, "seq"),
    at: integerOf(row, "at"),
    text: textOf(row, "text"),
  };
}

function parseKind(raw: unknown): StatementRow["kind"] | undefined {
  return raw === "checkpoint" || raw === "cut" ? raw : undefined;
}
