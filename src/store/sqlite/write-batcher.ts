/**
 * Gives writes of one moment one transaction: most of a small write's cost is its transaction. Each stands or falls by
 * itself all the same, and none is committed before one that was asked for earlier: a kill leaves no holes.
 */

import type { DatabaseSync } from "node:sqlite";

import { isBusy } from "./to-store-error.ts";
import { inTransaction } from "./transaction.ts";

/** What waits for no disk is on disk so much later at the latest, while the process lives. */
const FOLLOW_MS = 200;

/** Tells whoever asked for a write how it went. */
type Notify = () => void;

interface PendingWrite {
  /** Does the work, perhaps again after it was taken back; the answer may be told once the transaction is committed, or durable where that is waited for. */
  readonly run: () => Notify;
  readonly reject: (thrown: unknown) => void;
  readonly isDurable: boolean;
}

export interface CommitTarget {
  /** Carries a transaction out, told whether a `flush` follows; it is run again when the file was locked. Rejects when it is lost. */
  commit<Value>(transaction: () => Value, isDurable: boolean): Promise<Value>;
  /** Resolves when all that was committed before is on disk. */
  flush(): Promise<void>;
}

/** What is given to these runs in a transaction; they resolve with what that returned. */
export interface WriteBatcher {
  /** Resolves once it is durable. */
  readonly write: <Value>(work: () => Value) => Promise<Value>;
  /** Waits for no disk: it is durable with the next `write`, or a moment later. */
  readonly commit: <Value>(work: () => Value) => Promise<Value>;
  /** Nothing follows. */
  readonly stop: () => void;
}

export function createWriteBatcher(database: DatabaseSync, journal: CommitTarget): WriteBatcher {
  let waiting: PendingWrite[] = [];
  let isCommitting = false;
  let following: NodeJS.Timeout | undefined;

  const stop = (): void => {
    clearTimeout(following);
    following = undefined;
  };
  const flush = (): Promise<void> => {
    stop();
    return journal.flush();
  };
  const follow = (): void => {
    // A flush that fails is told to the next who waits for one.
    following ??= setTimeout(() => void flush().catch(() => undefined), FOLLOW_MS).unref();
  };
  /** What comes while a lock holds it up leaves together after it. */
  const commitAll = async (batch: readonly PendingWrite[], isDurable: boolean): Promise<readonly Notify[]> => {
    isCommitting = true;
    try {
      return await journal.commit(() => runAll(database, batch), isDurable);
    } finally {
      isCommitting = false;
      if (waiting.length > 0) setImmediate(() => void leave());
    }
  };
  const leave = async (): Promise<void> => {
    if (isCommitting || waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    try {
      const isFlushed = batch.some(({ isDurable }) => isDurable);
      const told = await commitAll(batch, isFlushed);
      for (const [index, tell] of told.entries()) if (!batch[index]?.isDurable) tell();
      if (!isFlushed) return follow();
      await flush();
      for (const [index, tell] of told.entries()) if (batch[index]?.isDurable) tell();
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
    // After everything that this turn of the event loop still has to say: the ends of several executions, for one.
    if (waiting.length === 0) setImmediate(() => void leave());
    waiting.push({ run, reject, isDurable });
    return promise;
  };
  return { write: (work) => join(work, true), commit: (work) => join(work, false), stop };
}

/** First all together; when one of them fails, again with each held apart from the others. */
function runAll(database: DatabaseSync, batch: readonly PendingWrite[]): readonly Notify[] {
  try {
    return inTransaction(database, () => batch.map(({ run }) => run()));
  } catch (thrown) {
    if (batch.length === 1 || isBusy(thrown)) throw thrown;
    return inTransaction(database, () => batch.map((pending) => runApart(database, pending)));
  }
}

/** A write that fails takes back what it did, and leaves the others alone; a transaction that is over fails as a whole. */
function runApart(database: DatabaseSync, { run, reject }: PendingWrite): Notify {
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
