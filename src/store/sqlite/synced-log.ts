/**
 * Makes commits durable without holding up the event loop. SQLite itself would wait for the disk inside COMMIT, on
 * the gateway's only thread; here COMMIT only writes, and whoever needs it durable waits for a flush of the
 * write-ahead log, which all who wait at the time share.
 */

import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";

const flushFile = promisify(fdatasync);

export interface SyncedLog {
  /**
   * Resolves when everything that was committed before this call is on disk. After a flush that failed it rejects for
   * good: the kernel may have dropped what it could not write, and a later success would say nothing about that.
   */
  synced(): Promise<void>;
  /** Waits for the flush under way. */
  close(): Promise<void>;
}

/** The log must exist; a second descriptor on it is safe, because SQLite's locks are on its other two files. */
export function openSyncedLog(path: string): SyncedLog {
  const descriptor = openSync(path, "r+");
  const log = createSyncedLog(() => flushFile(descriptor));
  return {
    synced: () => log.synced(),
    async close() {
      await log.close();
      closeSync(descriptor);
    },
  };
}

/** One flush at a time. A commit is covered only by a flush that began after it: a late comer waits for the next. */
export function createSyncedLog(flush: () => Promise<void>): SyncedLog {
  let failure: Promise<never> | undefined;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const begin = async (): Promise<void> => {
    next = undefined;
    try {
      await flush();
      running = undefined;
    } catch (thrown) {
      failure = Promise.reject(thrown);
      failure.catch(() => undefined);
      throw thrown;
    }
  };

  return {
    async synced() {
      if (failure) return failure;
      if (!running) return (running = begin());
      next ??= running.then(() => (running = begin()));
      return next;
    },
    close: async () => {
      await (next ?? running)?.catch(() => undefined);
    },
  };
}
