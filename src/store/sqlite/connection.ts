/**
 * One open SQLite file and the two ways to use it: `read` and `write`.
 * A lock is waited for without holding up the event loop; SQLite's own waiting would stop every execution.
 */

import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import { GloveboxError } from "../../domain/index.ts";

import { createWriteBatcher } from "./write-batcher.ts";
import { createFileCheck } from "./file-check.ts";
import { integerOf, textOf } from "./row.ts";
import { openSyncedLog } from "./synced-log.ts";
import { isBusy, toStoreError } from "./to-store-error.ts";
import { inTransaction } from "./transaction.ts";

const MEMORY = ":memory:";

/** SQLite itself waits this long, synchronously: enough for the usual commit of another process. */
const PATIENCE_MS = 10;
const RETRY_MS = 10;
/** The write-ahead log shrinks to this after a checkpoint, so that one burst does not keep the space forever. */
const LOG_BYTES = 16 * 1024 * 1024;

/** What `connect` needs to know about the file. */
export interface ConnectionOptions {
  readonly path: string;
  /** How long a lock of another process is waited for. */
  readonly busyMs: number;
  /** Stops the file from growing beyond this many pages of 4 KiB. */
  readonly maxPages?: number;
}

/** A file that is open for reading and writing. */
export interface Connection {
  readonly database: DatabaseSync;
  readonly read: <Value>(work: () => Value) => Promise<Value>;
  /** In one transaction, durable once it resolves. `work` runs again when the file was locked. */
  readonly write: <Value>(work: () => Value) => Promise<Value>;
  /** As `write`, but it waits for no disk: it outlives this process, and a power cut from the next `write` on, or a moment later. */
  readonly commit: <Value>(work: () => Value) => Promise<Value>;
  /** Resolves when all that was committed before is on disk. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Runs `attempt` until no other process is in its way, for `busyMs` at most. */
export async function whenFree<Value>(options: ConnectionOptions, attempt: () => Value): Promise<Value> {
  const deadline = performance.now() + options.busyMs;
  for (;;) {
    try {
      return attempt();
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() >= deadline) throw toStoreError(thrown, options.path);
    }
    await sleep(RETRY_MS);
  }
}

/** Opens the file without being able to change it; the caller closes it. */
export function openReadOnly(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: PATIENCE_MS });
}

/** Opens the file for good. It must exist and be known to be ours. */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const database = await whenFree(options, () => openForWriting(options));
  const checkFile = createFileCheck(options.path);
  const log = options.path === MEMORY ? undefined : openSyncedLog(`${options.path}-wal`);
  const attempt = <Value>(transaction: () => Value, isDurable: boolean): Promise<Value> =>
    whenFree(options, () => {
      checkFile(isDurable);
      return transaction();
    });
  const fail = (thrown: unknown): never => {
    throw toStoreError(thrown, options.path);
  };
  const flush = async (): Promise<void> => log?.synced();
  const joined = createWriteBatcher(database, { commit: attempt, flush });
  return {
    database,
    read: (work) => whenFree(options, work),
    commit: (work) => joined.commit(work).catch(fail),
    write: (work) => joined.write(work).catch(fail),
    flush: () => flush().catch(fail),
    async close() {
      if (!database.isOpen) return;
      joined.stop();
      database.close();
      await log?.close();
    },
  };
}

/** Opens the file without a way to change it; the file must exist. */
export async function connectToRead(options: ConnectionOptions): Promise<Connection> {
  const database = await whenFree(options, () => openAnyway(options.path));
  const refuse = async (): Promise<never> => {
    throw new GloveboxError("STORE_UNAVAILABLE", `The store was opened for reading only: ${options.path}`, {
      hint: "Start Glovebox to write to it",
    });
  };
  return {
    database,
    read: (work) => whenFree(options, work),
    commit: refuse,
    write: refuse,
    flush: async () => undefined,
    async close() {
      if (database.isOpen) database.close();
    },
  };
}

/** Where side files can be neither found nor made, and no log holds anything, the file is all there is. */
function openAnyway(path: string): DatabaseSync {
  const database = openReadOnly(path);
  try {
    database.prepare("PRAGMA user_version").get();
    return database;
  } catch (thrown) {
    database.close();
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    if (isBusy(thrown) || (log?.size ?? 0) > 0) throw thrown;
  }
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
}

function openForWriting(options: ConnectionOptions): DatabaseSync {
  const database = new DatabaseSync(options.path, {
    timeout: PATIENCE_MS,
    defensive: true,
    enableForeignKeyConstraints: true,
    enableDoubleQuotedStringLiterals: false,
    allowExtension: false,
  });
  try {
    configure(database, options);
    // An empty write transaction shows now, and not at the first call, that the file can be written.
    inTransaction(database, () => integerOf(database.prepare("PRAGMA user_version").get() ?? {}, "user_version"));
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

function configure(database: DatabaseSync, { path, maxPages }: ConnectionOptions): void {
  const mode = textOf(database.prepare("PRAGMA journal_mode = WAL").get() ?? {}, "journal_mode");
  if (mode !== "wal" && mode !== "memory") {
    throw new GloveboxError("STORE_UNAVAILABLE", `The folder of ${path} does not support a write-ahead log`, {
      hint: "Name a file on a local disk in `store.url`",
    });
  }
  // NORMAL leaves out the flush after each commit, which `synced-log.ts` makes; checkpoints flush as before.
  database.exec(`PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${LOG_BYTES}; PRAGMA trusted_schema = OFF`);
  if (maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${Math.trunc(maxPages)}`);
}
