/**
 * One open SQLite file. Waits for locks without blocking the event loop; SQLite's own waiting would block every
 * execution.
 */

import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import { GloveboxError } from "../../domain/index.ts";
import { readColumn, text } from "../row.ts";
import type { RowShape } from "../row.ts";

import { openSyncedLog } from "./synced-log.ts";
import { isBusy, toStoreError } from "./to-store-error.ts";
import { createWriteBatcher, prepareTransaction } from "./write-batcher.ts";
import type { WriteBatcher } from "./write-batcher.ts";

export const MEMORY = ":memory:";

/** How long SQLite itself waits, synchronously: enough for a typical commit of another process. */
const LOCK_WAIT_MS = 10;
const RETRY_MS = 10;
const BUSY_MS = 5_000;
/** The write-ahead log is truncated to this size after a checkpoint. */
const LOG_BYTES = 16 * 1024 * 1024;

/** An unflushed write reuses a check of the file of this age. */
const RECENT_MS = 5;

export interface ConnectionOptions {
  /** A file, or `:memory:` for a store that is lost when it is closed. */
  readonly path: string;
  /** How long to wait for a lock of another process. Defaults to 5 s. */
  readonly busyMs?: number;
  /** The maximum size of the file in pages of 4 KiB; a larger write fails as on a full disk. */
  readonly maxPages?: number;
}

export interface Connection extends Omit<WriteBatcher, "stop"> {
  readonly database: DatabaseSync;
  readonly read: <Value>(work: () => Value) => Promise<Value>;
  readonly close: () => Promise<void>;
}

/** Repeats `attempt` while another process holds a lock, for at most `busyMs`. */
export async function whenFree<Value>(options: ConnectionOptions, attempt: () => Value): Promise<Value> {
  const deadline = performance.now() + (options.busyMs ?? BUSY_MS);
  for (;;) {
    try {
      return attempt();
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() >= deadline) throw toStoreError(thrown, options.path);
    }
    await sleep(RETRY_MS);
  }
}

/** Opens the file read-only; the caller closes it. */
export function openReadOnly(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS });
}

/** Opens the file for writing. It must exist and be a Glovebox store. */
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
  const joined = createWriteBatcher(database, { commit: attempt, flush: async () => log?.synced() });
  return {
    database,
    read: (work) => whenFree(options, work),
    commit: (work) => joined.commit(work).catch(fail),
    write: (work) => joined.write(work).catch(fail),
    flush: () => joined.flush().catch(fail),
    flushed: () => joined.flushed(),
    async close() {
      if (!database.isOpen) return;
      // Closing the file flushes it only when no other process has it open.
      const flushed = joined.stop();
      database.close();
      await flushed;
      await log?.close();
    },
  };
}

/** Opens the file read-only; it must exist. */
export async function connectToRead(options: ConnectionOptions): Promise<Connection> {
  const database = await whenFree(options, () => openEvenReadOnly(options.path));
  const refuse = async (): Promise<never> => {
    throw new GloveboxError("STORE_UNAVAILABLE", `The store is open for reading only: ${options.path}`, {
      hint: "Start Glovebox to write to it",
    });
  };
  return {
    database,
    read: (work) => whenFree(options, work),
    commit: refuse,
    write: refuse,
    flush: async () => undefined,
    flushed: async () => undefined,
    async close() {
      if (database.isOpen) database.close();
    },
  };
}

/** Opens the file as immutable if its side files cannot be created and the log is empty. */
function openEvenReadOnly(path: string): DatabaseSync {
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
    timeout: LOCK_WAIT_MS,
    defensive: true,
    enableForeignKeyConstraints: true,
    enableDoubleQuotedStringLiterals: false,
    allowExtension: false,
  });
  try {
    configure(database, options);
    // An empty write transaction detects now, and not at the first call, whether the file can be written.
    prepareTransaction(database)(() => database.prepare("PRAGMA user_version").get());
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

function configure(database: DatabaseSync, { path, maxPages }: ConnectionOptions): void {
  const mode = readColumn(database.prepare("PRAGMA journal_mode = WAL").get(), "journal_mode", text);
  if (mode !== "wal" && mode !== "memory") {
    throw new GloveboxError("STORE_UNAVAILABLE", `The folder of ${path} does not support a write-ahead log`, {
      hint: "Set a file on a local disk in `store.url`",
    });
  }
  // NORMAL omits the flush after each commit, which `synced-log.ts` does; checkpoints still flush.
  database.exec(`PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${LOG_BYTES}; PRAGMA trusted_schema = OFF`);
  if (maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${Math.trunc(maxPages)}`);
}

/** Runs `work`, in a transaction, with freed space overwritten. */
export function eraseFreed<Value>(database: DatabaseSync, work: () => Value): Value {
  database.exec("PRAGMA secure_delete = ON");
  try {
    return work();
  } finally {
    database.exec("PRAGMA secure_delete = OFF");
  }
}

/**
 * Like `write`, and also removes the former content from the file: SQLite does not overwrite freed space, and its log
 * keeps former pages for a while.
 */
export async function writeAndErase<Value>({ database, read, write }: Connection, work: () => Value): Promise<Value> {
  const value = await write(() => eraseFreed(database, work));
  // Moves the log into the file and truncates it. While another connection reads, that happens later.
  await read(() => database.exec("PRAGMA wal_checkpoint(TRUNCATE)")).catch(() => undefined);
  return value;
}

/**
 * Returns a check to run before each write. SQLite writes to a deleted file without an error, and all of that would be
 * lost, so the check throws.
 */
function createFileCheck(path: string): (isDurable: boolean) => void {
  if (path === MEMORY) return () => undefined;
  const files = [path, `${path}-wal`].map((name) => ({ name, identity: identify(name) }));
  let checkedAt = -Infinity;
  return (isDurable) => {
    const now = performance.now();
    if (!isDurable && now - checkedAt < RECENT_MS) return;
    checkedAt = now;
    const lost = files.find(({ name, identity }) => identify(name) !== identity);
    if (!lost) return;
    checkedAt = -Infinity;
    throw new GloveboxError("STORE_UNAVAILABLE", `The store was deleted or replaced while open: ${lost.name}`, {
      hint: "Restore the file, or restart Glovebox",
    });
  };
}

function identify(name: string): string | undefined {
  const found = statSync(name, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev}:${found.ino}`;
}

/** Returns a statement that inserts `toValues` of the shape. */
export function insertInto(
  table: string,
  { columns }: Pick<RowShape<unknown>, "columns">,
  orReplace: "" | "OR REPLACE" = "",
): string {
  return `INSERT ${orReplace} INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, "?")})`;
}

/** Joins the conditions that apply. */
export function toWhere(conditions: readonly (string | false)[]): string {
  const applied = conditions.filter((condition) => condition !== false);
  return applied.length === 0 ? "" : `WHERE (${applied.join(") AND (")})`;
}
