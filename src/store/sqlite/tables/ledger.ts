/** The ledger, the signed statements about it, which are the only way to delete records, and its exports. */

import type { DatabaseSync } from "node:sqlite";

import { defined } from "../../../domain/index.ts";
import { integer, readColumn, text } from "../../row.ts";
import type { RawRow } from "../../row.ts";
import { EXPORT, LEDGER_RECORD, STATEMENT } from "../../store.ts";
import type { ExportStore, LedgerQuery, LedgerStore, StatementStore, StoredRecord } from "../../store.ts";

import { insertInto, toWhere } from "../connection.ts";
import type { Connection } from "../connection.ts";
import { ifTaken } from "../to-store-error.ts";

/** Excludes records that a cut dropped, even if they were put back, and records below the first number. */
const KEPT = "seq > coalesce((SELECT max(seq) FROM statements WHERE kind = 'cut'), 0)";
/** The conditions on details search the text first: most records do not match, and parsing JSON is expensive. */
const FILTERS: Readonly<Record<string, string>> = {
  before: "seq < :before",
  since: "at >= :since",
  until: "at <= :until",
  actor: "actor = :actor",
  subject: "subject = :subject OR (substr(:subject, -2) = '.*' AND instr(subject, rtrim(:subject, '*')) = 1)",
  action: "action = :action OR substr(action, 1, length(:action) + 1) = :action || '.'",
  execution:
    "subject = :execution OR (instr(detail, :execution) > 0 AND json_valid(detail) AND detail ->> '$.execution' = :execution)",
  executions: `subject IN (SELECT value FROM json_each(:executions))
    OR (json_valid(detail) AND detail ->> '$.execution' IN (SELECT value FROM json_each(:executions)))`,
  // Calls, executions, decisions and refusals have their outcome in different fields.
  outcome: `instr(detail, :outcome) > 0 AND json_valid(detail)
    AND :outcome IN (detail ->> '$.outcome', detail ->> '$.state', detail ->> '$.decision', detail ->> '$.code')`,
};

/** Appending is the hot path of the gateway, so its values are not computed from the shape. */
export function createLedger({ database, read, write, commit, flushed }: Connection): LedgerStore {
  const insert = database.prepare("INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  const last = database.prepare("SELECT * FROM ledger ORDER BY seq DESC LIMIT 1");
  const range = database.prepare("SELECT * FROM ledger WHERE seq >= ? ORDER BY seq LIMIT ?");

  // An integer above the safe range must not prevent reading the damaged record and those after it.
  for (const statement of [last, range]) statement.setReadBigInts(true);

  const insertAll = (records: readonly StoredRecord[]): "appended" => {
    for (const { seq, at, actor, action, subject, detail, previous, digest } of records) {
      insert.run(seq, at, actor, action, subject, detail, previous, digest);
    }
    return "appended";
  };

  return {
    append: (records, isFlushed = true) =>
      (isFlushed ? write : commit)(() => insertAll(records)).catch(ifTaken(() => "taken")),
    flushed,
    last: () => read(() => LEDGER_RECORD.parseIfFound(last.get())),
    search: (query) => read(() => search(database, query).map(LEDGER_RECORD.parse)),
    read: ({ from, limit }) => read(() => range.all(from, Math.max(0, limit)).map(LEDGER_RECORD.parse)),
  };
}

/**
 * Newest first. Scans the table from its end and stops at the limit. There is deliberately no index: each one would slow
 * down every append, and a scan over 100,000 records takes a fraction of a second.
 */
function search(database: DatabaseSync, query: LedgerQuery): readonly RawRow[] {
  const { limit, actor, subject, action, outcome, execution, since, until, before } = query;
  const executed =
    typeof execution === "string" ? { execution } : { executions: execution && JSON.stringify(execution) };
  const values = defined({ before, since, until, actor, subject, action, ...executed, outcome });
  const conditions = Object.keys(values).map((name) => FILTERS[name] ?? "");
  const statement = database.prepare(
    `SELECT * FROM ledger ${toWhere([KEPT, ...conditions])} ORDER BY seq DESC LIMIT :limit`,
  );
  statement.setReadBigInts(true);
  return statement.all({ ...values, limit: Math.max(0, limit) });
}

const CHECKPOINT =
  "SELECT * FROM statements WHERE kind = 'checkpoint' AND at <= ? AND seq <= ? ORDER BY number DESC LIMIT 1";
const DROP =
  "DELETE FROM ledger WHERE seq <= (SELECT min(first + ?, ?) FROM (SELECT min(seq) - 1 AS first FROM ledger))";

export function createStatements({ database, read, write }: Connection): StatementStore {
  const insert = database.prepare(insertInto("statements", STATEMENT));
  const last = database.prepare("SELECT * FROM statements ORDER BY number DESC LIMIT 1");
  const lastCut = database.prepare("SELECT * FROM statements WHERE kind = 'cut' ORDER BY number DESC LIMIT 1");
  const range = database.prepare("SELECT * FROM statements WHERE number >= ? ORDER BY number LIMIT ?");
  const checkpoint = database.prepare(CHECKPOINT);
  const dropRecords = database.prepare(DROP);
  const dropStatements = database.prepare("DELETE FROM statements WHERE number <= ?");

  const append = (row: Parameters<StatementStore["append"]>[0]): "appended" => {
    insert.run(...STATEMENT.toValues(row));
    return "appended";
  };
  const drop = (limit: number, upTo: number): number => {
    const cut = lastCut.get();
    if (!cut) return 0;
    const dropped = Number(dropRecords.run(limit, readColumn(cut, "seq", integer)).changes);
    if (dropped < limit) dropStatements.run(upTo);
    return dropped;
  };

  return {
    append: (row) => write(() => append(row)).catch(ifTaken(() => "taken")),
    last: () => read(() => STATEMENT.parseIfFound(last.get())),
    lastCut: () => read(() => STATEMENT.parseIfFound(lastCut.get())),
    read: ({ from, limit }) => read(() => range.all(from, Math.max(0, limit)).map(STATEMENT.parse)),
    findCheckpoint: ({ at, seq }) => read(() => STATEMENT.parseIfFound(checkpoint.get(at, seq))),
    drop: (limit, upTo) => write(() => drop(limit, upTo)),
  };
}

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
        const isTaken = Number(claim.run(id, holder, until, now).changes) === 0;
        return isTaken ? undefined : EXPORT.parseIfFound(select.get(id));
      }),
    holder: (id) =>
      read(() => {
        const row = select.get(id);
        return row && readColumn(row, "holder", text);
      }),
    release: ({ id, holder }) => write(() => void release.run(id, holder)),
    note: ({ id, cursor, sentAt, failedAt, failure }) =>
      write(() => void update.run(cursor, sentAt, failedAt, failure, id)),
    list: () => read(() => all.all().map(EXPORT.parse)),
  };
}
