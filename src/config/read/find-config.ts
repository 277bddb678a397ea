/** Finds the configuration file that applies to a working directory. */

import { lstat, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";

import { GloveboxError } from "../../domain/index.ts";
import { checkOwner } from "./check-owner.ts";

const FILE_NAMES = ["glovebox.config.json", "glovebox.config.jsonc", "glovebox.config.ts"] as const;

/** Where to search. All folders are absolute; `explicit` may be relative to `cwd`. */
export interface ConfigSearch {
  readonly cwd: string;
  /** The search ends here. */
  readonly home: string;
  readonly userConfigFolder: string;
  /** The user of this process, if the system has users. */
  readonly uid: number | undefined;
  /** A path given by the user; it is used or refused, never ignored. */
  readonly explicit?: string | undefined;
}

export interface FoundConfig {
  /** Absolute. */
  readonly path: string;
  /** Naming a file is consent. A file in a project may come from another person, so it needs consent. */
  readonly from: "argument" | "project" | "user";
}

/**
 * Returns the given file, else the nearest upward from `cwd`, else the user's. The search ends at the home folder and
 * where another file system begins. Throws CONFIG_UNTRUSTED for a file that another user wrote or can change.
 */
export async function findConfig(search: ConfigSearch): Promise<FoundConfig | undefined> {
  const { cwd, home, userConfigFolder, uid, explicit } = search;
  if (![cwd, home, userConfigFolder].every((folder) => isAbsolute(folder)))
    throw new TypeError("The folders of a configuration search must be absolute");
  if (explicit !== undefined) return { path: await getExplicit(resolve(cwd, explicit)), from: "argument" };
  for (const folder of [...(await listUpward(resolve(cwd), home)), userConfigFolder]) {
    const path = await findInFolder(folder);
    if (path === undefined) continue;
    await checkOwner(path, uid);
    return { path, from: folder === userConfigFolder ? "user" : "project" };
  }
  return undefined;
}

/** `explicit` can also be a folder to search from. */
export async function getConfigToTrust(search: ConfigSearch): Promise<string> {
  const target = resolve(search.cwd, search.explicit ?? ".");
  const isFolder = await stat(target).then(
    (status) => status.isDirectory(),
    () => false,
  );
  const found = await findConfig(isFolder ? { ...search, cwd: target, explicit: undefined } : search);
  if (!found) {
    const hint = "Pass the path of the file, or of its folder";
    throw new GloveboxError("CONFIG_INVALID", `${target}: no configuration was found`, { hint });
  }
  await checkOwner(found.path, search.uid);
  return found.path;
}

/** Follows the XDG standard: a relative or empty variable counts as unset. */
export function toUserFolder(variable: string | undefined, home: string, usual: ".config" | ".local/state"): string {
  const isSet = variable !== undefined && isAbsolute(variable);
  return join(isSet ? variable : join(home, usual), "glovebox");
}

async function getExplicit(path: string): Promise<string> {
  if (await exists(path)) return path;
  const hint = "Check the path";
  throw new GloveboxError("CONFIG_INVALID", `${path}: file not found`, { hint });
}

/** Two files in one folder are an error: edits of the unused one would have no effect. */
async function findInFolder(folder: string): Promise<string | undefined> {
  const paths = FILE_NAMES.map((name) => join(folder, name));
  const present = await Promise.all(paths.map(exists));
  const found = paths.filter((_, index) => present[index]);
  if (found.length <= 1) return found[0];
  const message = `${found.join(" and ")} both exist, but only one of them can be used`;
  throw new GloveboxError("CONFIG_INVALID", message, { hint: "Remove all but one, or choose one with --config" });
}

/** `cwd` and the folders above it that are searched. */
export async function listUpward(
  cwd: string,
  home: string,
  findDevice: (folder: string) => Promise<number | undefined> = getDevice,
): Promise<readonly string[]> {
  const last = await realpath(home).catch(() => home);
  const device = await findDevice(cwd);
  const folders = [cwd];
  for (let folder = cwd; folder !== last && folder !== home && folder !== dirname(folder);) {
    folder = dirname(folder);
    if ((await findDevice(folder)) !== device) break;
    folders.push(folder);
  }
  return folders;
}

async function getDevice(folder: string): Promise<number | undefined> {
  return stat(folder).then(
    ({ dev }) => dev,
    () => undefined,
  );
}

/** A broken link counts as existing, so that loading it fails with an error. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    const hint = "Check the permissions of the folder, or choose a file with --config";
    throw new GloveboxError("CONFIG_INVALID", `${path}: cannot be accessed (${String(code)})`, { hint, cause });
  }
}
