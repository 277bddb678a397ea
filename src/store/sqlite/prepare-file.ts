/** Creates the folder and the file of a store, readable by this user only. Leaves an existing file unchanged. */

import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

import { GloveboxError } from "../../domain/index.ts";

import { notStore, toFileError } from "./to-store-error.ts";

/** The smallest page size of SQLite. */
const PAGE_BYTES = 512;

/** SQLite gives its side files the mode of the main file, so 0600 applies to all of them. */
export function prepareFile(path: string): void {
  try {
    makeFolder(dirname(path));
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return create(path);
    if (found.isDirectory()) {
      throw new GloveboxError("STORE_UNAVAILABLE", `Cannot create the store at ${path}: it is a folder`, {
        hint: "Set a file in `store.url`, for example `sqlite:/var/lib/glovebox/glovebox.db`",
      });
    }
    checkLength(path);
  } catch (thrown) {
    throw toFileError(thrown, path);
  }
}

/** SQLite treats a file that is shorter than a page as empty and would overwrite it. */
export function checkLength(path: string): void {
  const { size } = statSync(path);
  if (size > 0 && size < PAGE_BYTES) throw notStore(path);
}

/** Creates one level at a time: below /proc the recursive form of `mkdirSync` never returns. */
export function makeFolder(folder: string): void {
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
 * Only for a missing file. Never opens an existing one, because closing it would drop the locks that this process may hold
 * through another connection (POSIX locks belong to the process).
 */
function create(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (thrown) {
    // Another process was faster.
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw thrown;
  }
}
