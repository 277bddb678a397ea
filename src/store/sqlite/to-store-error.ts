/** Turns errors of SQLite and the file system into one message with a remedy. */

import { GloveboxError } from "../../domain/index.ts";
import { UNCHANGED, damaged } from "../row.ts";

/** Primary result codes, https://sqlite.org/rescode.html; the low byte of an extended code. */
const [BUSY, LOCKED, NOTADB] = [5, 6, 26];

/** Extended codes: a row with this key exists. */
const TAKEN: readonly number[] = [1555, 2067];

interface SqliteProblem {
  readonly text: (path: string) => string;
  readonly hint: string;
}

const ACCESS: SqliteProblem = {
  text: (path) => `Cannot write to the store: ${path} or its folder is read-only`,
  hint: "Give this user write access to the file and its folder, or set another file in `store.url`",
};
const LOCK: SqliteProblem = {
  text: (path) => `The store is locked: another process keeps writing to ${path}`,
  hint: "Wait, or end the process that has the file open",
};
const DAMAGED: SqliteProblem = { text: (path) => `The store is damaged: ${path}`, hint: UNCHANGED };

const PROBLEMS: ReadonlyMap<number, SqliteProblem> = new Map([
  // ERROR: all statements are fixed, so a table or column that they name is missing.
  [1, DAMAGED],
  [3, ACCESS], // PERM
  [8, ACCESS], // READONLY
  [BUSY, LOCK],
  [LOCKED, LOCK],
  // IOERR
  [10, { text: (path) => `The disk reported an error for ${path}`, hint: "Check the disk and the file system" }],
  [11, DAMAGED], // CORRUPT
  // FULL
  [13, { text: (path) => `The disk is full: ${path} cannot grow`, hint: "Free some space; no restart is needed" }],
  [
    14, // CANTOPEN
    {
      text: (path) => `Cannot open the store: ${path}`,
      hint: "Check that the folder exists and that this user may write to it",
    },
  ],
  [NOTADB, { text: (path) => `This is not a Glovebox store: ${path}`, hint: UNCHANGED }],
]);

const FILE_PROBLEMS: ReadonlyMap<string, string> = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["ENOTDIR", "a part of the path is a file"],
  ["EEXIST", "a part of the path is a file"],
  ["ENAMETOOLONG", "the path is too long"],
]);

/** Returns the extended result code, or `undefined` for an error that is not from SQLite. */
function resultCode(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !("errcode" in thrown)) return undefined;
  return typeof thrown.errcode === "number" ? thrown.errcode : undefined;
}

/** Returns true if waiting may help. */
export function isBusy(thrown: unknown): boolean {
  const code = (resultCode(thrown) ?? 0) & 0xff;
  return code === BUSY || code === LOCKED;
}

/** Handles the error of a write: returns what `act` returns if a row with this key exists, else throws the error. */
export function ifTaken<const Value>(act: () => Value): (thrown: unknown) => Value {
  return (thrown) => {
    if (TAKEN.includes(resultCode(thrown) ?? 0)) return act();
    throw thrown;
  };
}

/** Returns an error for the operator. Anything unknown is a bug and is returned unchanged. */
export function toStoreError(thrown: unknown, path: string): unknown {
  if (thrown instanceof Error && "code" in thrown && thrown.code === "ERR_INVALID_STATE") {
    return new GloveboxError("STORE_UNAVAILABLE", `The store is closed: ${path}`, { hint: "Restart Glovebox" });
  }
  if (thrown instanceof RangeError && "code" in thrown && thrown.code === "ERR_OUT_OF_RANGE")
    return damaged(`an integer in ${path} is too large`);
  const problem = PROBLEMS.get((resultCode(thrown) ?? 0) & 0xff);
  if (!problem) return thrown;
  return new GloveboxError("STORE_UNAVAILABLE", problem.text(path), { cause: thrown, hint: problem.hint });
}

/** Returns `undefined` for anything but an error of the file system. */
export function toFileReason(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown) || typeof thrown.code !== "string") return undefined;
  return thrown instanceof GloveboxError ? undefined : (FILE_PROBLEMS.get(thrown.code) ?? thrown.code);
}

/** For errors while the file or its folder is created. */
export function toFileError(thrown: unknown, path: string): unknown {
  const why = toFileReason(thrown);
  if (why === undefined) return thrown;
  return new GloveboxError("STORE_UNAVAILABLE", `Cannot create the store at ${path}: ${why}`, {
    cause: thrown,
    hint: "Set a file in a folder that this user can write to in `store.url`",
  });
}

export function notStore(path: string): GloveboxError {
  return new GloveboxError("STORE_UNAVAILABLE", `This is not a Glovebox store: ${path}`, { hint: UNCHANGED });
}
