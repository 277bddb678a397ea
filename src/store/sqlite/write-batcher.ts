/**
 * Groups concurrent writes into one transaction, because the transaction is most of the cost of a small write. Each write
 * still succeeds or fails on its own, and writes are committed in order, so a crash leaves no gaps.
 */

import type { DatabaseSync } from "node:sqlite";

import { isBusy } from "./to-store-error.ts";

/** Unflushed commits are on disk within 200 ms while the process lives; the rest is for the flush itself. */
const FLUSH_DELAY_MS = 150;

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
  /** Resolves when everything committed before is on disk. */
  readonly flush: () => Promise<void>;
  /** Like `flush`, but waits for the delayed flush. Returns the same promise for all commits that one flush covers. */
  readonly flushed: () => Promise<void>;
  /** Starts the delayed flush, if there is one, and waits for it. Never rejects. */
  readonly stop: () => Promise<void>;
}

export function createWriteBatcher(database: DatabaseSync, journal: CommitTarget): WriteBatcher {
  const inTransaction = prepareTransaction(database);
  let waiting: PendingWrite[] = [];
  let isCommitting = false;
  const { flush, flushLater, flushed, stop } = createDelayedFlush(journal);

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
  return {
    write: (work) => join(work, true),
    commit: (work) => join(work, false),
    flush,
    flushed,
    stop,
  };
}

function ignore(): void {}

/** Flushes some time after a commit that did not wait for the disk, unless another flush comes first. */
function createDelayedFlush(journal: Pick<CommitTarget, "flush">) {
  /** For commits after the start of `lastFlush`. */
  let pending: (PromiseWithResolvers<void> & { readonly timer: NodeJS.Timeout }) | undefined;
  let lastFlush: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    const covered = pending;
    clearTimeout(covered?.timer);
    pending = undefined;
    lastFlush = journal.flush();
    lastFlush.then(covered?.resolve, covered?.reject ?? ignore);
    return lastFlush;
  };
  const flushLater = (): void => {
    if (pending) return;
    const timer = setTimeout(() => void flush().catch(ignore), FLUSH_DELAY_MS).unref();
    pending = { ...Promise.withResolvers<void>(), timer };
    pending.promise.catch(ignore); // callers that wait for a flush get the error
  };
  return {
    flush,
    flushLater,
    flushed: (): Promise<void> => pending?.promise ?? lastFlush,
    stop: async (): Promise<void> => (pending ? flush().catch(ignore) : undefined),
  };
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
