/**
 * The file with the target key of a rotation, beside that of the key in use. It changes only under the write lock of the
 * store, so there is one next key at a time, and it replaces the former only once the store is sealed with it.
 */

import { readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { Random } from "../cipher.ts";
import { DRAFT, createKeyFile, readKeyFile, syncFolder, unusable } from "./key-file.ts";
import { deriveMasterKey } from "../seal.ts";
import type { MasterKey } from "../seal.ts";

/** Returns `undefined` when no rotation is in progress. */
export function findNextKey(keyFile: string): MasterKey | undefined {
  const bytes = readKeyFile(toNextFile(keyFile));
  return bytes && deriveMasterKey(bytes);
}

/** Returns the key of an interrupted rotation, or a new one. Needs the write lock. */
export function prepareNextKey(keyFile: string, random: Random): MasterKey {
  removeDrafts(keyFile);
  return deriveMasterKey(createKeyFile(toNextFile(keyFile), random));
}

/** Replaces the key file by the next one if that has this check value. Needs the write lock. */
export function promoteNextKey(keyFile: string, check: string): void {
  if (findNextKey(keyFile)?.check !== check) return;
  try {
    renameSync(toNextFile(keyFile), keyFile);
    syncFolder(keyFile);
  } catch (thrown) {
    throw unusable(`The key file ${basename(keyFile)}`, thrown);
  }
}

function toNextFile(keyFile: string): string {
  return `${keyFile}.next`;
}

/** Removes what a process left that was killed while it created a key. */
function removeDrafts(keyFile: string): void {
  const folder = dirname(keyFile);
  const isDraft = (name: string): boolean => name.startsWith(`${basename(keyFile)}.`) && name.endsWith(DRAFT);
  for (const name of readdirSync(folder).filter(isDraft)) rmSync(join(folder, name), { force: true });
}
