/** Moves the store of an earlier version, with its keys, out of the folder of a project. */

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { GloveboxError } from "../../domain/index.ts";

import { openReadOnly, whenFree } from "./connection.ts";
import type { ConnectionOptions } from "./connection.ts";
import { isLatest } from "./migrate.ts";
import { checkLength, makeFolder } from "./prepare-file.ts";
import { isBusy, toFileReason } from "./to-store-error.ts";

/** The store, its head and the keys. The operator may have put other files, such as rules, into the same folder. */
const OWN_FILE = /^(?:glovebox|ledger)\./;
/** SQLite removes these when the store is closed. Beside a moved store they would be applied to it. */
const SIDE_FILE = /-(?:wal|shm|journal)$/;
/** A copy before it has its name, and the original of a complete copy. */
const [COPY, ORIGINAL] = [".moving", ".moved"];
const JOURNAL = "-journal";
const COPY_BYTES = 1024 * 1024;
/** In the folder above that of the store. It remains: a process may wait for it. */
const LOCK_FILE = "moving.lock";
const KEEP = "or keep it there: set `store.url` to its path, in a folder that no server reaches";

export interface MoveOptions extends ConnectionOptions {
  /** Where an earlier version had this store. */
  readonly former?: string;
  /** Called with a sentence for the operator. */
  readonly announce?: (text: string) => void;
  /** For tests of another file system. */
  readonly rename?: typeof renameSync;
}

/**
 * Moves `former` to `path`, once. A crash loses nothing: the store itself moves last, and the next call continues.
 * Throws STORE_UNAVAILABLE, and leaves the store as it is, while another process has it open.
 */
export async function moveFormer(options: MoveOptions): Promise<void> {
  const { path, former, announce } = options;
  if (former === undefined || !isPresent(former)) return;
  const [from, to] = [dirname(former), dirname(path)];
  if (existsSync(path) && existsSync(former))
    return announce?.(`${former} is not used, because ${path} exists. Remove it, or set store.url to its path`);
  try {
    checkLinks(former);
    makeFolder(to);
    using lock = openExclusive(join(dirname(to), LOCK_FILE));
    await whenFree(options, () => lock.exec("BEGIN EXCLUSIVE"));
    if (!isPresent(former)) return; // another process was faster
    await moveFiles(options, former);
  } catch (thrown) {
    throw toMoveError(thrown, former, path);
  }
  announce?.(`The store and its keys were moved from ${from} to ${to}, out of the project`);
}

function isPresent(former: string): boolean {
  return existsSync(former) || existsSync(former + ORIGINAL);
}

/** A link would still lead to its former place, or nowhere. */
function checkLinks(former: string): void {
  const link = [dirname(former), former].find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
  if (link === undefined) return;
  throw new GloveboxError("STORE_UNAVAILABLE", `Cannot move the store: ${link} is a link`, {
    hint: `Move what it leads to yourself, ${KEEP}`,
  });
}

async function moveFiles(options: MoveOptions, former: string): Promise<void> {
  const [from, to] = [dirname(former), dirname(options.path)];
  for (const name of listNames(from).filter((each) => each.endsWith(ORIGINAL))) {
    const moved = name.slice(0, -ORIGINAL.length);
    nameCopy(join(from, moved), join(to, moved));
  }
  if (existsSync(former)) {
    using _store = await lockStore(options, former);
    rmSync(`${former}-shm`, { force: true }); // an index of the log, which is merged
    const others = listNames(from).filter((name) => name !== basename(former));
    for (const name of [...others, basename(former)]) moveFile(join(from, name), join(to, name), options.rename);
  }
  rmSync(former + JOURNAL, { force: true }); // its change is complete, or was undone
  syncFolder(to);
  if (readdirSync(from).length === 0) rmdirSync(from);
}

function listNames(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => OWN_FILE.test(name) && !SIDE_FILE.test(name));
}

/** Merges the log into the file, and keeps every other process out until it is closed. */
async function lockStore(options: MoveOptions, former: string): Promise<DatabaseSync> {
  checkLength(former);
  await whenFree({ ...options, path: former }, () => {
    if (existsSync(former + JOURNAL)) undoChange(former);
    using database = openReadOnly(former);
    isLatest(database, former);
  });
  const database = openExclusive(former);
  try {
    await whenFree({ ...options, path: former }, () => {
      database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    });
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** A move that was killed may have left a change to undo, which SQLite does at the first read that may also write. */
function undoChange(path: string): void {
  using database = openExclusive(path);
  database.exec("SELECT 1 FROM sqlite_schema");
}

function openExclusive(path: string): DatabaseSync {
  return new DatabaseSync(path, { timeout: 0 });
}

function moveFile(from: string, to: string, rename = renameSync): void {
  if (existsSync(to)) {
    throw new GloveboxError("STORE_UNAVAILABLE", `Cannot move ${from}: ${to} exists`, {
      hint: "Find out which of the two belongs to the store, and remove the other",
    });
  }
  try {
    rename(from, to);
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "EXDEV")) throw thrown;
    copyFile(from, to);
  }
}

/** To another file system. The copy gets its name when it is complete and the original has lost its own. */
function copyFile(from: string, to: string): void {
  // Open until the original is renamed, because closing it drops the lock of this process on the store.
  const source = openSync(from, "r");
  try {
    rmSync(to + COPY, { force: true });
    const copy = openSync(to + COPY, "wx", fstatSync(source).mode & 0o777);
    try {
      const buffer = Buffer.alloc(COPY_BYTES);
      for (let size = readSync(source, buffer); size > 0; size = readSync(source, buffer)) writeAll(copy, buffer, size);
      fsyncSync(copy);
    } finally {
      closeSync(copy);
    }
    syncFolder(dirname(to));
    renameSync(from, from + ORIGINAL);
  } finally {
    closeSync(source);
  }
  nameCopy(from, to);
}

function writeAll(file: number, buffer: Buffer, size: number): void {
  for (let done = 0; done < size;) done += writeSync(file, buffer, done, size - done);
}

function nameCopy(from: string, to: string): void {
  if (existsSync(to + COPY)) renameSync(to + COPY, to);
  syncFolder(dirname(to));
  rmSync(from + ORIGINAL);
}

/** Makes new names survive a power cut. Windows cannot open folders, and persists names by itself. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function toMoveError(thrown: unknown, former: string, path: string): unknown {
  const message = `Cannot move the store from ${former} to ${path}`;
  if (thrown instanceof GloveboxError && isBusy(thrown.cause)) {
    const hint = `End the gateway that uses it, for example by closing its MCP client, and start again; ${KEEP}`;
    return new GloveboxError("STORE_UNAVAILABLE", `${message}: another process has it open`, { hint, cause: thrown });
  }
  const reason = toFileReason(thrown);
  if (reason === undefined) return thrown;
  const hint = `Give this user write access to both folders, ${KEEP}`;
  return new GloveboxError("STORE_UNAVAILABLE", `${message}: ${reason}`, { hint, cause: thrown });
}
