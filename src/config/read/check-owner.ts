/** Refuses a configuration that another user of this machine wrote or can change. */

import type { Stats } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";

import { GloveboxError } from "../../domain/index.ts";

const ROOT = 0;
const GROUP_WRITE = 0o020;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

/**
 * Checks the file and its folder, and for a link also the file and the folder behind it. `uid` is the user of this
 * process; without one, as on Windows, nothing is checked.
 */
export async function checkOwner(path: string, uid: number | undefined): Promise<void> {
  if (uid === undefined) return;
  checkEntry(path, await lstat(path), uid);
  checkEntry(dirname(path), await stat(dirname(path)), uid);
  const real = await realpath(path).catch(() => path); // a broken link is reported when it is read
  if (real === path) return;
  checkEntry(real, await stat(real), uid);
  checkEntry(dirname(real), await stat(dirname(real)), uid);
}

/** Root counts as this user, because root can change everything. */
function checkEntry(path: string, status: Stats, uid: number): void {
  if (status.uid !== uid && status.uid !== ROOT) {
    throw refuse(`${path} belongs to another user (uid ${status.uid})`, "Copy it to a folder of your own");
  }
  if (isWritableByOthers(status)) {
    const mode = (status.mode & 0o7777).toString(8).padStart(4, "0");
    throw refuse(`${path} can be written by other users (mode ${mode})`, `Run \`chmod go-w ${path}\``);
  }
}

/** In a sticky folder no user can replace a file of another. A group with the owner's number is a private one. */
function isWritableByOthers(status: Stats): boolean {
  if (status.isSymbolicLink()) return false; // the mode of a link means nothing
  if (status.isDirectory() && (status.mode & STICKY) !== 0) return false;
  if ((status.mode & OTHERS_WRITE) !== 0) return true;
  return (status.mode & GROUP_WRITE) !== 0 && status.gid !== status.uid;
}

function refuse(message: string, remedy: string): GloveboxError {
  const hint = `${remedy}, or read the configuration and name it with --config`;
  return new GloveboxError("CONFIG_UNTRUSTED", message, { hint });
}
