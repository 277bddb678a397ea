/**
 * What an import changed, so that it can be undone. The list is written before the first change and has no content;
 * the former contents are sealed, because clients keep tokens in these files.
 */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { GloveboxError, isJsonObject, parseDigest } from "../domain/index.ts";
import type { Digest, Json, JsonObject } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import { readTarget, writeWhole } from "./read-target.ts";

/** Seals text, so that only this user's vault opens it. */
export interface BackupSeal {
  readonly close: (plain: string, context: string) => Uint8Array;
  readonly open: (sealed: Uint8Array, context: string) => string;
}

export interface ChangedFile {
  /** As the client names it, and without links. */
  readonly path: string;
  readonly realPath: string;
  readonly title: string;
  /** `undefined` if the file did not exist. */
  readonly before?: Digest;
  /** Of each import: a later one may have ended before it wrote the file. */
  readonly after: readonly Digest[];
}

export interface UndoRecord {
  readonly config: string;
  /** Beside it is the key of the backups. Written down, because the configuration may be broken later. */
  readonly store: string;
  readonly files: readonly ChangedFile[];
  /** Secrets that the import added to the vault. */
  readonly secrets: readonly string[];
}

const FOLDER = "init";
const LIST = "changes.json";

export function openUndoLog(stateFolder: string) {
  const listPath = join(stateFolder, FOLDER, LIST);
  const toBackup = (realPath: string): string =>
    join(stateFolder, FOLDER, `${digestOf(realPath).replace("sha256:", "")}.sealed`);
  return {
    /** `undefined` if there is nothing to undo. Throws CONFIG_INVALID if the list is damaged. */
    read(): UndoRecord | undefined {
      const { text } = readTarget(listPath);
      return text === undefined ? undefined : parseRecord(text, listPath);
    },
    write: (record: UndoRecord): void => writeWhole(listPath, `${JSON.stringify(record, null, 2)}\n`),
    keep: (realPath: string, text: string, seal: BackupSeal): void =>
      writeWhole(toBackup(realPath), seal.close(text, `init:${realPath}`)),
    /** Throws if the backup is missing or cannot be opened. */
    open(realPath: string, seal: BackupSeal): string {
      return seal.open(readFileSync(toBackup(realPath)), `init:${realPath}`);
    },
    forget: (): void => rmSync(join(stateFolder, FOLDER), { recursive: true, force: true }),
  };
}

function parseRecord(text: string, path: string): UndoRecord {
  const damaged = (cause?: unknown): GloveboxError =>
    new GloveboxError("CONFIG_INVALID", `${path} is damaged`, {
      cause,
      hint: "Restore the files of your clients by hand, then delete this file",
    });
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) throw damaged();
    const { config, store, files, secrets } = value;
    if (typeof config !== "string" || typeof store !== "string" || !Array.isArray(files) || !Array.isArray(secrets))
      throw damaged();
    return {
      config,
      store,
      files: files.map((file: Json) => parseFile(file, damaged)),
      secrets: secrets.map((name: Json) => (typeof name === "string" ? name : "")),
    };
  } catch (thrown) {
    throw thrown instanceof GloveboxError ? thrown : damaged(thrown);
  }
}

function parseFile(file: Json, damaged: () => GloveboxError): ChangedFile {
  const { path, realPath, title, before, after } = isJsonObject(file) ? file : ({} satisfies JsonObject);
  if (typeof path !== "string" || typeof realPath !== "string" || !Array.isArray(after)) throw damaged();
  const former = parseDigest(before);
  return {
    path,
    realPath,
    title: typeof title === "string" ? title : path,
    after: after.flatMap((digest: Json) => parseDigest(digest) ?? []),
    ...(former && { before: former }),
  };
}
