/** Makes the folder and the file of a store, readable by this user only, and leaves an existing file alone. */

import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

import { GloveboxError } from "../../domain/index.ts";

import { notStore, toFileError } from "./to-store-error.ts";

/** The smallest page that SQLite knows. */
const PAGE_BYTES = 512;

/** SQLite gives its side files the mode of the main file, so 0600 here covers all of them. */
export function prepareFile(path: string): void {
  try {
    makeFolder(dirname(path));
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return create(path);
    if (found.isDirectory()) throw isFolder(path);
    // SQLite takes a file that is too short for a page as empty and would write over it.
    if (found.size > 0 && found.size < PAGE_BYTES) throw notStore(path);
  } catch (thrown) {
    throw toFileError(thrown, path);
  }
}

/** One level after the other: below /proc the recursive form of `mkdirSync` never comes to an end. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (thrown) {
    // Another process was faster.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw thrown;
  }
}

/**
 * Only for a file that is not there: an existing one is never opened here, because closing it again would drop
 * the locks that this process may hold on it through another connection (POSIX locks belong to the process).
 */
function create(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (thrown) {
    // Another process was faster.
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw thrown;
  }
}

function isFolder(path: string): GloveboxError {
  return new GloveboxError("STORE_UNAVAILABLE", `The store cannot be made at ${path}: that is a folder`, {
    hint: "Name a file in `store.url`, for example `sqlite:./.glovebox/glovebox.db`",
  });
}
