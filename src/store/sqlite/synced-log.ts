/**
 * Makes commits durable without blocking the event loop. SQLite would wait for the disk inside COMMIT; here COMMIT only
 * writes, and callers that need durability await a flush of the write-ahead log, which concurrent callers share.
 */

import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";

const flushFile = promisify(fdatasync);

export interface SyncedLog {
  /**
   * Resolves when everything committed before this call is on disk. After a failed flush it rejects forever: the kernel may
   * have dropped what it could not write, and a later success would not show that.
   */
  synced(): Promise<void>;
  /** Waits for the flush in progress. */
  close(): Promise<void>;
}

/** The log must exist. A second descriptor is safe, because SQLite's locks are on its other two files. */
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

/** One flush at a time. A commit is covered only by a flush that started after it; otherwise it waits for the next. */
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
