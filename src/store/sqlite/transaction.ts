/** One transaction of one connection. */

import type { DatabaseSync, StatementSync } from "node:sqlite";

interface TransactionStatements {
  readonly begin: StatementSync;
  readonly commit: StatementSync;
}

/** Prepared once for a connection: there are two of each for every call of a program. */
const known = new WeakMap<DatabaseSync, TransactionStatements>();

/** IMMEDIATE takes the write lock at once: a transaction that starts as a reader could fail half way. */
export function inTransaction<Value>(database: DatabaseSync, work: () => Value): Value {
  const { begin, commit } = findEnds(database);
  begin.run();
  try {
    const value = work();
    commit.run();
    return value;
  } catch (thrown) {
    // A full disk makes SQLite roll back by itself.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw thrown;
  }
}

function findEnds(database: DatabaseSync): TransactionStatements {
  const found = known.get(database);
  if (found) return found;
  const ends = { begin: database.prepare("BEGIN IMMEDIATE"), commit: database.prepare("COMMIT") };
  known.set(database, ends);
  return ends;
}
