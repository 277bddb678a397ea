/** Files with keys: created once and atomically, and readable by their owner only. */

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

import { GloveboxError } from "../../domain/index.ts";

import { KEY_BYTES } from "../cipher.ts";
import type { Random } from "../cipher.ts";
import { deriveMasterKey } from "../seal.ts";
import type { MasterKey } from "../seal.ts";

/** 64 hex digits and a line break. */
const FILE_BYTES = 65;
const OTHERS = 0o077;
/** Suffix of unfinished files. */
const DRAFT = ".new";

/** What to do about a key file that cannot be used, or that others could read. */
interface KeyRemedies {
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
  // The owner could change the key, or knows it.
  if (found.uid !== process.getuid?.())
    throw new GloveboxError("CONFIG_INVALID", `${source} belongs to another user (${found.uid})`, {
      hint: "Start Glovebox as that user, or run `chown` on the file",
    });
  if ((found.mode & OTHERS) === 0) return;
  const mode = (found.mode & 0o777).toString(8).padStart(4, "0");
  throw new GloveboxError("CONFIG_INVALID", `${source} is accessible to other users: its mode is ${mode}`, {
    hint: remedies.shared,
  });
}

/** Makes new and moved names in the folder of `path` survive a power cut. */
function syncFolder(path: string): void {
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

/**
 * The file with the target key of a rotation is beside that of the key in use. It changes only under the write lock of the
 * store, so there is one next key at a time, and it replaces the former only once the store is sealed with it. Returns
 * `undefined` when no rotation is in progress.
 */
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

/** For the private key that signs the ledger: 32 random bytes in a separate file. */
const SIGNING_KEY: KeyRemedies = {
  unusable: "Make its folder writable for this user",
  shared: "Run `chmod 600` on it; if others could have read it, records signed with it prove nothing against them",
};

/** Creates the seed of the key on first start. Throws CONFIG_INVALID when the file cannot be used. Never overwrites a file. */
export function loadSigningKey(path: string, random: Random): { readonly seed: Uint8Array; readonly isNew: boolean } {
  const found = readKeyFile(path, SIGNING_KEY);
  if (found) return { seed: found, isNew: false };
  return { seed: createKeyFile(path, random, SIGNING_KEY), isNew: true };
}

/** As `loadSigningKey`, but creates nothing: returns `undefined` if the file does not exist. */
export function findSigningKey(path: string): Uint8Array | undefined {
  return readKeyFile(path, SIGNING_KEY);
}

const HEX = /^[0-9a-fA-F]{64}$/;
/** Random keys have about 30 different bytes; fewer than this occur less than once in 10¹⁰ keys. */
const DIFFERENT_BYTES = 16;

const REMEDY = "Use 64 random hex digits, for example from `openssl rand -hex 32`";

/** Parses 64 hex digits as a key and refuses weak ones. Messages name its `source` and never contain the key. */
export function parseKey(text: string, source: string): Uint8Array {
  if (!HEX.test(text)) {
    const what =
      text.length === 64 ? "has characters that are not hex digits" : `has ${text.length} characters, not 64`;
    throw new GloveboxError("CONFIG_INVALID", `${source} is not a key: it ${what}`, { hint: REMEDY });
  }
  const bytes = Uint8Array.from(Buffer.from(text, "hex"));
  if (isWeak(bytes)) {
    throw new GloveboxError("CONFIG_INVALID", `${source} is too weak: its bytes follow a pattern`, { hint: REMEDY });
  }
  return bytes;
}

/** True for repetitions such as `00…` or `0123…0123…` and for even steps such as `000102…`. */
function isWeak(bytes: Uint8Array): boolean {
  if (new Set(bytes).size < DIFFERENT_BYTES) return true;
  const steps = bytes.slice(1).map((byte, index) => byte - (bytes[index] ?? 0));
  return new Set(steps).size === 1;
}
