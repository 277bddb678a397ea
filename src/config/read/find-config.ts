/** Finds the configuration file that applies to a working directory. */

import { lstat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";

import { GloveboxError } from "../../domain/index.ts";

const FILE_NAMES = ["glovebox.config.json", "glovebox.config.jsonc", "glovebox.config.ts"] as const;

/** Where to search. Both folders are absolute; `explicit` may be relative to `cwd`. */
export interface ConfigSearch {
  readonly cwd: string;
  readonly userConfigFolder: string;
  /** A path given by the user; it is used or refused, never ignored. */
  readonly explicit?: string | undefined;
}

/** Returns the absolute path of the file: the given one, else the nearest upward from `cwd`, else the user's. */
export async function findConfig({ cwd, userConfigFolder, explicit }: ConfigSearch): Promise<string | undefined> {
  if (!isAbsolute(cwd) || !isAbsolute(userConfigFolder))
    throw new TypeError("The folders of a configuration search must be absolute");
  if (explicit !== undefined) return getExplicit(resolve(cwd, explicit));
  for (const folder of [...listUpward(resolve(cwd)), userConfigFolder]) {
    const found = await findInFolder(folder);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Follows the XDG standard: a relative or empty `XDG_CONFIG_HOME` counts as unset. */
export function toUserConfigFolder(xdgConfigHome: string | undefined, home: string): string {
  const isSet = xdgConfigHome !== undefined && isAbsolute(xdgConfigHome);
  return join(isSet ? xdgConfigHome : join(home, ".config"), "glovebox");
}

async function getExplicit(path: string): Promise<string> {
  if (await exists(path)) return path;
  const hint = "Check the path of --config";
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

function listUpward(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...listUpward(parent)];
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
