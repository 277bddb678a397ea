/** The file with the master key: created once and atomically, and readable by its owner only. */

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname } from "node:path";

import { GloveboxError } from "../../domain/index.ts";

import { KEY_BYTES } from "../cipher.ts";
import type { Random } from "../cipher.ts";
import { parseKey } from "./parse-key.ts";

/** 64 hex digits and a line break. */
const FILE_BYTES = 65;
const OTHERS = 0o077;
/** Suffix of unfinished files. */
export const DRAFT = ".new";

/** What to do about a key file that cannot be used, or that others could read. */
export interface KeyRemedies {
  readonly unusable: string;
  readonly shared: string;
}

const MASTER_KEY: KeyRemedies = {
  unusable: "Make its folder writable for this user, or set GLOVEBOX_ENCRYPTION_KEY to 64 random hex digits",
  shared: "Run `chmod 600` on it; if others could have read it, set every secret again under a new key",
};

/**
 * Returns `undefined` if the file does not exist. Checks the open file, so that it cannot be swapped in between.
 * Messages name the file without its folder, because a model may see them.
 */
export function readKeyFile(path: string, remedies: KeyRemedies = MASTER_KEY): Uint8Array | undefined {
  const source = `The key file ${basename(path)}`;
  const file = openExisting(path, source, remedies);
  if (file === undefined) return undefined;
  try {
    checkAccess(file, source, remedies);
    const content = Buffer.alloc(FILE_BYTES + 1);
    const length = readSync(file, content, 0, content.length, 0);
    return parseKey(content.toString("latin1", 0, length).replace(/\r?\n$/, ""), source);
  } finally {
    closeSync(file);
  }
}

/**
 * Creates the file and returns its key, or the key of another process that was faster.
 * Writes a draft and links it into place: a crash leaves no partial key, and linking never overwrites.
 */
export function createKeyFile(path: string, random: Random, remedies: KeyRemedies = MASTER_KEY): Uint8Array {
  const source = `The key file ${basename(path)}`;
  const text = Buffer.from(random(KEY_BYTES)).toString("hex");
  const draft = `${path}.${Buffer.from(random(8)).toString("hex")}${DRAFT}`;
  parseKey(text, source);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeDurably(draft, `${text}\n`);
    linkUnlessPresent(draft, path);
    syncFolder(path);
  } catch (thrown) {
    throw unusable(source, thrown, remedies);
  }
  const key = readKeyFile(path, remedies);
  if (!key) throw unusable(source, undefined, remedies);
  return key;
}

function openExisting(path: string, source: string, remedies: KeyRemedies): number | undefined {
  try {
    // A link could lead to a file that another user controls. Opening a pipe must not block.
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw unusable(source, thrown, remedies);
  }
}

function checkAccess(file: number, source: string, remedies: KeyRemedies): void {
  const found = fstatSync(file);
  if (!found.isFile()) throw unusable(source, undefined, remedies);
  // Windows has no numeric owners and mode bits; there the folder's access list protects the file.
  if (process.platform === "win32") return;
  if (found.uid !== process.getuid?.()) throw notOwned(source, found.uid);
  if ((found.mode & OTHERS) === 0) return;
  const mode = (found.mode & 0o777).toString(8).padStart(4, "0");
  throw new GloveboxError("CONFIG_INVALID", `${source} is accessible to other users: its mode is ${mode}`, {
    hint: remedies.shared,
  });
}

/** The owner could change the key, or knows it. */
function notOwned(source: string, owner: number): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `${source} belongs to another user (${owner})`, {
    hint: "Start Glovebox as that user, or run `chown` on the file",
  });
}

/** Makes new and moved names in the folder of `path` survive a power cut. */
export function syncFolder(path: string): void {
  // Windows cannot open folders, and persists names by itself.
  if (process.platform === "win32") return;
  const folder = openSync(dirname(path), constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes the draft, whether or not another process was faster. */
function linkUnlessPresent(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (thrown) {
    if (codeOf(thrown) !== "EEXIST") throw thrown;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Names the reason by its code only: messages of the file system contain paths. */
export function unusable(source: string, thrown: unknown, remedies: KeyRemedies = MASTER_KEY): GloveboxError {
  const code = codeOf(thrown);
  if (code === "ENOSPC") {
    const message = `The disk is full: cannot create ${source.replace("The key", "the key")}`;
    return new GloveboxError("STORE_UNAVAILABLE", message, { cause: thrown, hint: "Free some space" });
  }
  return new GloveboxError("CONFIG_INVALID", `${source} cannot be used (${code ?? "not a file"})`, {
    cause: thrown,
    hint: remedies.unusable,
  });
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
}
