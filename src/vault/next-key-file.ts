/**
 * The file of the key that a rotation leads to, beside that of the key in use. Whoever changes it holds the write lock
 * of the store: so there is one next key at a time, and it takes the place of the former only once the store has it.
 */

import { readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { Random } from "./cipher.ts";
import { DRAFT, createKeyFile, readKeyFile, syncFolder, unusable } from "./key-file.ts";
import { deriveMasterKey } from "./seal.ts";
import type { MasterKey } from "./seal.ts";

/** `undefined` when no rotation is under way. */
export function findNextKey(keyFile: string): MasterKey | undefined {
  const bytes = readKeyFile(toNextFile(keyFile));
  return bytes && deriveMasterKey(bytes);
}

/** The key of a rotation that was cut short, or a new one. Needs the write lock. */
export function prepareNextKey(keyFile: string, random: Random): MasterKey {
  removeDrafts(keyFile);
  return deriveMasterKey(createKeyFile(toNextFile(keyFile), random));
}

/** Puts the next key in the place of the former if it is the one with this check value. Needs the write lock. */
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

/** A process that was killed while it made a key leaves a file that nobody would ever use or delete. */
function removeDrafts(keyFile: string): void {
  const folder = dirname(keyFile);
  const isDraft = (name: string): boolean => name.startsWith(`${basename(keyFile)}.`) && name.endsWith(DRAFT);
  for (const name of readdirSync(folder).filter(isDraft)) rmSync(join(folder, name), { force: true });
}
