/** One transaction of one connection. */

import type { DatabaseSync, StatementSync } from "node:sqlite";

interface TransactionStatements {
  readonly begin: StatementSync;
  readonly commit: StatementSync;
}

/** Prepared once per connection: every call of a program uses them twice. */
const known = new WeakMap<DatabaseSync, TransactionStatements>();

/** IMMEDIATE takes the write lock at once: a transaction that starts as a reader could fail later. */
export function inTransaction<Value>(database: DatabaseSync, work: () => Value): Value {
  const { begin, commit } = findStatements(database);
  begin.run();
  try {
    const value = work();
    commit.run();
    return value;
  } catch (thrown) {
    // On a full disk SQLite has already rolled back.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw thrown;
  }
}

function findStatements(database: DatabaseSync): TransactionStatements {
  const found = known.get(database);
  if (found) return found;
  const statements = { begin: database.prepare("BEGIN IMMEDIATE"), commit: database.prepare("COMMIT") };
  known.set(database, statements);
  return statements;
}
