/** Carries out a planned import. Killed at any step, it leaves every file whole, and can be undone. */

import { rmSync } from "node:fs";

import { GloveboxError } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import type { InitPlan } from "./plan-init.ts";
import { checkWritable, readTarget, writeWhole } from "./read-target.ts";
import type { FileEdit } from "./read-target.ts";
import { openUndoLog } from "./undo-log.ts";
import type { BackupSeal, ChangedFile } from "./undo-log.ts";

export interface InitPowers {
  readonly stateFolder: string;
  /** The path of the store whose vault has the secrets and the key of `seal`. */
  readonly store: string;
  readonly seal: BackupSeal;
  readonly setSecret: (name: string, value: string) => Promise<void>;
}

/** Throws CONFIG_INVALID, and changes nothing, if a file changed since the plan or cannot be written. */
export async function applyInit(
  { edits, secrets }: InitPlan,
  config: string,
  { stateFolder, store, seal, setSecret }: InitPowers,
): Promise<void> {
  for (const edit of edits) checkFresh(edit);
  for (const edit of edits) checkWritable(edit);
  const log = openUndoLog(stateFolder);
  const former = log.read();
  const files = new Map(former?.files.map((file) => [file.realPath, file]));
  for (const edit of edits) {
    const known = files.get(edit.realPath);
    // The first import saw the original.
    if (!known && edit.text !== undefined) log.keep(edit.realPath, edit.text, seal);
    const after = new Set([...(known?.after ?? []), digestOf(edit.after)]);
    files.set(edit.realPath, { ...(known ?? toChanged(edit)), after: [...after] });
  }
  const names = new Set([...(former?.secrets ?? []), ...secrets.map(({ name }) => name)]);
  log.write({ config, store, files: [...files.values()], secrets: [...names] });
  for (const { name, value } of secrets) await setSecret(name, value);
  writeAll(edits);
}

function toChanged({ path, realPath, text, title }: FileEdit): Omit<ChangedFile, "after"> {
  return { path, realPath, title, ...(text !== undefined && { before: digestOf(text) }) };
}

function checkFresh({ path, text }: FileEdit): void {
  if (readTarget(path).text === text) return;
  throw new GloveboxError("CONFIG_INVALID", `${path} changed after its changes were shown`, {
    hint: "Run the command again; nothing was changed",
  });
}

/** Throws CONFIG_INVALID if the file changed since it was read. */
export function writeEdit(edit: FileEdit): void {
  checkFresh(edit);
  writeWhole(edit.realPath, edit.after);
}

/** If one file cannot be written, the others get their former content back. */
function writeAll(edits: readonly FileEdit[]): void {
  const written: FileEdit[] = [];
  try {
    for (const edit of edits) {
      writeEdit(edit);
      written.push(edit);
    }
  } catch (thrown) {
    for (const { realPath, text } of written.toReversed()) {
      if (text === undefined) rmSync(realPath, { force: true });
      else writeWhole(realPath, text);
    }
    throw thrown;
  }
}
