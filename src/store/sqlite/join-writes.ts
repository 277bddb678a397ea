/**
 * Gives writes of one moment one transaction: most of a small write's cost is its transaction. Each stands or falls by
 * itself all the same.
 */

import type { DatabaseSync } from "node:sqlite";

import { inTransaction } from "./transaction.ts";

/** Tells whoever asked for a write how it went. */
type Tell = () => void;

interface Pending {
  /** Does the work; the answer may be told once the transaction is committed. */
  readonly run: () => Tell;
  readonly reject: (thrown: unknown) => void;
}

/** Carries a transaction out and makes it durable; it is run again when the file was locked. Rejects when it is lost. */
export type Commit = <Value>(transaction: () => Value) => Promise<Value>;

/** What the returned function is given runs in a transaction; it resolves with what that returned, once it is durable. */
export function joinWrites(database: DatabaseSync, commit: Commit): <Value>(work: () => Value) => Promise<Value> {
  let waiting: Pending[] = [];

  const leave = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    try {
      const told = await commit(() => inTransaction(database, () => runAll(database, batch)));
      for (const tell of told) tell();
    } catch (thrown) {
      for (const { reject } of batch) reject(thrown);
    }
  };

  return <Value>(work: () => Value): Promise<Value> => {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const run = (): Tell => {
      const value = work();
      return () => resolve(value);
    };
    if (waiting.length === 0) queueMicrotask(() => void leave());
    waiting.push({ run, reject });
    return promise;
  };
}

function runAll(database: DatabaseSync, batch: readonly Pending[]): readonly Tell[] {
  const [first, ...others] = batch;
  if (first && others.length === 0) return [first.run()];
  return batch.map((pending) => runApart(database, pending));
}

/** A write that fails takes back what it did, and leaves the others alone; a transaction that is over fails as a whole. */
function runApart(database: DatabaseSync, { run, reject }: Pending): Tell {
  database.exec("SAVEPOINT one");
  try {
    const tell = run();
    database.exec("RELEASE one");
    return tell;
  } catch (thrown) {
    if (!database.isTransaction) throw thrown;
    database.exec("ROLLBACK TO one; RELEASE one");
    return () => reject(thrown);
  }
}
