/** One transaction of one connection. */

import type { DatabaseSync } from "node:sqlite";

/** IMMEDIATE takes the write lock at once: a transaction that starts as a reader could fail half way. */
export function inTransaction<Value>(database: DatabaseSync, work: () => Value): Value {
  database.exec("BEGIN IMMEDIATE");
  try {
    const value = work();
    database.exec("COMMIT");
    return value;
  } catch (thrown) {
    // A full disk makes SQLite roll back by itself.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw thrown;
  }
}
