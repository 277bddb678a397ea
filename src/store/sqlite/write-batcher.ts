/**
 * Groups concurrent writes into one transaction, because the transaction is most of the cost of a small write. Each write
 * still succeeds or fails on its own, and writes are committed in order, so a crash leaves no gaps.
 */

import type { DatabaseSync } from "node:sqlite";

import { isBusy } from "./to-store-error.ts";

/** The maximum delay until unflushed commits are on disk, while the process lives. */
const FLUSH_DELAY_MS = 200;

type RunTransaction = <Value>(work: () => Value) => Value;
/** Settles the promise of a write. */
type Notify = () => void;

interface PendingWrite {
  /** Does the work, again after a rollback. Call the result once the transaction is committed, or durable. */
  readonly run: () => Notify;
  readonly reject: (thrown: unknown) => void;
  readonly isDurable: boolean;
}

export interface CommitTarget {
  /** Runs a transaction, again if the file was locked. `isDurable`: a `flush` follows. Rejects if it is lost. */
  commit<Value>(transaction: () => Value, isDurable: boolean): Promise<Value>;
  /** Resolves when everything committed before is on disk. */
  flush(): Promise<void>;
}

/** Runs functions in a transaction, again if the file was locked, and resolves with what they returned. */
export interface WriteBatcher {
  /** Resolves once the write is durable. */
  readonly write: <Value>(work: () => Value) => Promise<Value>;
  /** Does not wait for the disk: survives the end of the process, and a power cut after the next `write` or flush. */
  readonly commit: <Value>(work: () => Value) => Promise<Value>;
  /** Cancels the delayed flush. */
  readonly stop: () => void;
}

export function createWriteBatcher(database: DatabaseSync, journal: CommitTarget): WriteBatcher {
  const inTransaction = prepareTransaction(database);
  let waiting: PendingWrite[] = [];
  let isCommitting = false;
  let pendingFlush: NodeJS.Timeout | undefined;

  const stop = (): void => {
    clearTimeout(pendingFlush);
    pendingFlush = undefined;
  };
  const flush = (): Promise<void> => {
    stop();
    return journal.flush();
  };
  const flushLater = (): void => {
    // The next caller that waits for a flush gets the error.
    pendingFlush ??= setTimeout(() => void flush().catch(() => undefined), FLUSH_DELAY_MS).unref();
  };
  /** Writes that arrive while it waits for a lock form the next batch. */
  const commitAll = async (batch: readonly PendingWrite[], isDurable: boolean): Promise<readonly Notify[]> => {
    isCommitting = true;
    try {
      return await journal.commit(() => runAll(database, inTransaction, batch), isDurable);
    } finally {
      isCommitting = false;
      if (waiting.length > 0) setImmediate(() => void commitBatch());
    }
  };
  const commitBatch = async (): Promise<void> => {
    if (isCommitting || waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    try {
      const isFlushed = batch.some(({ isDurable }) => isDurable);
      const notifications = await commitAll(batch, isFlushed);
      for (const [index, notify] of notifications.entries()) if (!batch[index]?.isDurable) notify();
      if (!isFlushed) return flushLater();
      await flush();
      for (const [index, notify] of notifications.entries()) if (batch[index]?.isDurable) notify();
    } catch (thrown) {
      for (const { reject } of batch) reject(thrown);
    }
  };
  const join = <Value>(work: () => Value, isDurable: boolean): Promise<Value> => {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const run = (): Notify => {
      const value = work();
      return () => resolve(value);
    };
    // After this turn of the event loop, so that all of its writes join.
    if (waiting.length === 0) setImmediate(() => void commitBatch());
    waiting.push({ run, reject, isDurable });
    return promise;
  };
  return { write: (work) => join(work, true), commit: (work) => join(work, false), stop };
}

/** Runs all together; if one fails, again with a savepoint for each. */
function runAll(database: DatabaseSync, inTransaction: RunTransaction, batch: readonly PendingWrite[]) {
  try {
    return inTransaction(() => batch.map(({ run }) => run()));
  } catch (thrown) {
    if (batch.length === 1 || isBusy(thrown)) throw thrown;
    return inTransaction(() => batch.map((pending) => runWithSavepoint(database, pending)));
  }
}

/** Rolls back only the write that fails, unless SQLite ended the whole transaction. */
function runWithSavepoint(database: DatabaseSync, { run, reject }: PendingWrite): Notify {
  database.exec("SAVEPOINT one");
  try {
    const notify = run();
    database.exec("RELEASE one");
    return notify;
  } catch (thrown) {
    if (!database.isTransaction) throw thrown;
    database.exec("ROLLBACK TO one; RELEASE one");
    return () => reject(thrown);
  }
}

/**
 * Returns a function that runs one transaction. The statements are prepared once: every call of a program uses them twice.
 * IMMEDIATE takes the write lock at once: a transaction that starts as a reader could fail later.
 */
export function prepareTransaction(database: DatabaseSync): RunTransaction {
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  return (work) => {
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
  };
}
