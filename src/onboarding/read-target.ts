/** Files that are read before they are changed, and written in one step. */

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

import { GloveboxError } from "../domain/index.ts";

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
/** Before the number of the process that writes the draft of a file. */
const DRAFT = ".glovebox-";
const MODE_BITS = 0o7777;
/** `~/.claude.json` has histories of projects, and gets large. */
const MAX_BYTES = 64 * 1024 * 1024;

export interface Target {
  /** As it was named. */
  readonly path: string;
  /** Without links: this file is replaced. */
  readonly realPath: string;
  /** `undefined` if the file does not exist. */
  readonly text: string | undefined;
}

/** A file, and the text that it gets. */
export interface FileEdit extends Target {
  readonly after: string;
  /** Whose file it is. */
  readonly title: string;
}

/** Throws CONFIG_INVALID for what is not a readable text file. */
export function readTarget(path: string): Target {
  try {
    const realPath = realpathSync(path);
    const { size } = statSync(realPath);
    if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(realPath));
    return { path, realPath, text };
  } catch (cause) {
    if (codeOf(cause) === "ENOENT" && !existsSync(path)) return { path, realPath: path, text: undefined };
    throw refuse(path, "read", cause);
  }
}

/** Throws CONFIG_INVALID if this file, or its folder, cannot be written. Creates nothing. */
export function checkWritable({ realPath, text }: Target): void {
  let folder = dirname(realPath);
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (text !== undefined) accessSync(realPath, constants.W_OK);
  } catch (cause) {
    throw refuse(realPath, "written", cause);
  }
}

/** Replaces the file in one step, with the mode that it had; a new one is private. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const draft = `${path}${DRAFT}${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
    const mode = existsSync(path) ? statSync(path).mode & MODE_BITS : PRIVATE_FILE;
    const file = openSync(draft, "w", PRIVATE_FILE);
    try {
      const bytes = typeof content === "string" ? Buffer.from(content) : content;
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    chmodSync(draft, mode);
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw refuse(path, "written", cause);
  }
}

/** Drafts of this file that a killed process left. */
export function removeDrafts(path: string): void {
  if (!existsSync(dirname(path))) return;
  const start = `${basename(path)}${DRAFT}`;
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
      rmSync(join(dirname(path), name), { force: true });
}

function refuse(path: string, verb: "read" | "written", cause: unknown): GloveboxError {
  const reason = codeOf(cause) ?? (cause instanceof Error ? cause.message : String(cause));
  const hint = verb === "read" ? "Check the file" : "Check its permissions and those of its folder, and the disk";
  return new GloveboxError("CONFIG_INVALID", `${path} cannot be ${verb} (${reason})`, { cause, hint });
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : undefined;
}
