/** Undoes imports: every file gets its bytes back, or, if it was edited since, its servers. */

import { rmSync } from "node:fs";

import { GloveboxError } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import { CLIENTS } from "./clients.ts";
import { editServers, readServers } from "./edit-servers.ts";
import type { ServerFile } from "./edit-servers.ts";
import { listClientPlaces } from "./find-files.ts";
import type { Places } from "./find-files.ts";
import { isOwnEntry } from "./own-entry.ts";
import { readTarget, removeDrafts, writeWhole } from "./read-target.ts";
import { openUndoLog } from "./undo-log.ts";
import type { BackupSeal, ChangedFile, UndoRecord } from "./undo-log.ts";

export interface UndoneFile {
  readonly path: string;
  readonly title: string;
  /**
   * `restored`: as before the import. `removed`: it did not exist before. `edited`: changed since, so only its servers
   * came back. `kept`: our configuration was changed since, so it stays. `failed`: not changed, for `error`.
   */
  readonly outcome: "restored" | "removed" | "edited" | "kept" | "failed";
  readonly error?: GloveboxError;
}

/** What an undo would do, and the function that does it. */
export interface PlannedUndo {
  readonly file: ChangedFile;
  readonly outcome: UndoneFile["outcome"];
  readonly error?: GloveboxError;
  readonly apply: () => void;
}

/** Our configuration is first in the record and last in the undo. */
export function planUndo(
  record: UndoRecord,
  { stateFolder, seal, places }: { readonly stateFolder: string; readonly seal: BackupSeal; readonly places: Places },
): readonly PlannedUndo[] {
  const log = openUndoLog(stateFolder);
  return record.files.toReversed().map((file): PlannedUndo => {
    try {
      const open = (): string => log.open(file.realPath, seal);
      return { file, ...planFile(file, { open, places, isConfig: file.path === record.config }) };
    } catch (thrown) {
      return { file, outcome: "failed", error: toError(file, thrown), apply: () => undefined };
    }
  });
}

/** Undoes each file. The record is forgotten once all succeeded, so that the rest can be tried again. */
export function applyUndo(stateFolder: string, files: readonly PlannedUndo[]): readonly UndoneFile[] {
  const undone = files.map(({ file: { path, title, realPath }, outcome, error, apply }): UndoneFile => {
    if (error) return { path, title, outcome, error };
    try {
      apply();
      removeDrafts(realPath);
      return { path, title, outcome };
    } catch (thrown) {
      return { path, title, outcome: "failed", error: toError({ path }, thrown) };
    }
  });
  if (undone.every(({ outcome }) => outcome !== "failed")) openUndoLog(stateFolder).forget();
  return undone;
}

function planFile(
  { path, realPath, before, after }: ChangedFile,
  { open, places, isConfig }: { readonly open: () => string; readonly places: Places; readonly isConfig: boolean },
): Pick<PlannedUndo, "outcome" | "apply"> {
  const { text } = readTarget(realPath);
  const current = text === undefined ? undefined : digestOf(text);
  const isOurs = current !== undefined && after.includes(current);
  if (current === before) return { outcome: before === undefined ? "removed" : "restored", apply: () => undefined };
  if (before === undefined) {
    if (isOurs) return { outcome: "removed", apply: () => rmSync(realPath, { force: true }) };
  } else if (isOurs || text === undefined) {
    const original = open();
    return { outcome: "restored", apply: () => writeWhole(realPath, original) };
  }
  if (isConfig || text === undefined) return { outcome: "kept", apply: () => undefined };
  const edited = putBack(text, before === undefined ? undefined : open(), listFiles(path, places));
  return { outcome: "edited", apply: () => writeWhole(realPath, edited) };
}

/** Removes our entry, and adds what the import removed, unless an entry with this name is there again. */
function putBack(text: string, original: string | undefined, files: readonly ServerFile[]): string {
  let edited = text;
  for (const file of files) {
    const now = readServers(edited, file);
    const former = original === undefined ? {} : readServers(original, file);
    const remove = Object.entries(now).flatMap(([name, entry]) => (isOwnEntry(name, entry) ? [name] : []));
    const missing = Object.entries(former).filter(([name]) => remove.includes(name) || !Object.hasOwn(now, name));
    const set: Record<string, Json> = Object.fromEntries(missing);
    edited = editServers(edited, file, { remove, set });
  }
  return edited;
}

function listFiles(path: string, places: Places): readonly ServerFile[] {
  return CLIENTS.flatMap((client) => listClientPlaces(client, places))
    .filter((place) => place.path === path)
    .map(({ client, keys }) => ({ path, keys, format: client.format, isList: client.isList === true }));
}

function toError({ path }: Pick<ChangedFile, "path">, thrown: unknown): GloveboxError {
  if (thrown instanceof GloveboxError) return thrown;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new GloveboxError("CONFIG_INVALID", `The backup of ${path} cannot be opened: ${reason}`, {
    cause: thrown,
    hint: "Set GLOVEBOX_ENCRYPTION_KEY as it was, restore the key beside the store, or edit the file by hand",
  });
}
