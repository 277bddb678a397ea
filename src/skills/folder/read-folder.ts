/** Reads the folder of a skill: regular files only, never through a link, and never more than a skill may have. */

import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";

import { GloveboxError } from "../../domain/index.ts";
import { LOCK_FILE, MOST_BYTES } from "../skill.ts";
import type { SkillFiles } from "../skill.ts";

const MOST_FILES = 200;
/** `tests/` is the only folder inside. */
const MOST_DEPTH = 2;
/** The lock has a line for each file. */
const MOST_LOCK_BYTES = 256 * 1024;

/** Rejects with REQUEST_INVALID for what is not a folder of plain files, and LIMIT_SIZE for a large one. */
export async function readFolder(folder: string): Promise<SkillFiles> {
  const paths = await listFiles(folder, "", 1);
  const files = new Map<string, Uint8Array>();
  let left = MOST_BYTES;
  for (const path of paths.toSorted()) {
    const bytes = await readPlainFile(join(folder, path), path === LOCK_FILE ? MOST_LOCK_BYTES : left);
    if (path !== LOCK_FILE) left -= bytes.byteLength;
    files.set(path, bytes);
  }
  return files;
}

async function listFiles(folder: string, prefix: string, depth: number): Promise<readonly string[]> {
  const stats = await lstat(join(folder, prefix)).catch(() => undefined);
  if (!stats?.isDirectory()) throw invalid(`${join(folder, prefix)} is not a folder`);
  const entries = await readdir(join(folder, prefix), { withFileTypes: true });
  if (entries.length > MOST_FILES) throw invalid(`${folder} has more than ${MOST_FILES} files`);
  const found: string[] = [];
  for (const entry of entries) {
    const path = `${prefix}${entry.name}`;
    if (entry.isFile()) found.push(path);
    else if (entry.isDirectory() && depth < MOST_DEPTH) found.push(...(await listFiles(folder, `${path}/`, depth + 1)));
    else throw invalid(`${path} is not a plain file`);
  }
  return found;
}

/** The file may be replaced by a link or grow after it was listed, so both are checked on the open file. */
async function readPlainFile(path: string, mostBytes: number): Promise<Uint8Array> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: unknown) => {
      throw new GloveboxError("REQUEST_INVALID", `${path} cannot be read`, { cause, hint: "A skill has plain files" });
    },
  );
  if (!(await file.stat()).isFile()) throw invalid(`${path} is not a plain file`);
  const buffer = Buffer.alloc(mostBytes + 1);
  let size = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, size, buffer.byteLength - size);
    size += bytesRead;
    if (bytesRead === 0 || size > mostBytes) break;
  }
  if (size <= mostBytes) return buffer.subarray(0, size);
  throw new GloveboxError("LIMIT_SIZE", `A skill may have ${MOST_BYTES} bytes; ${path} makes it larger`, {
    hint: "Remove what the skill does not need, such as large tests",
  });
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", message, {
    hint: "A skill is a folder with SKILL.md, skill.ts and tests/*.json; links are refused",
  });
}
