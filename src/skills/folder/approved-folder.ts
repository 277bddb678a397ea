/**
 * The folder with the approved skills, for people and for clients that read Agent Skills. The gateway runs the bytes of
 * the store; a file here that differs from them freezes its skill, because people would trust what does not run.
 */

import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { GloveboxError } from "../../domain/index.ts";
import type { SkillFiles } from "../skill.ts";
import { readFolder } from "./read-folder.ts";

export interface ApprovedFolder {
  /** Writes a version beside its place, where nothing reads it. */
  stage(name: string, version: number, files: SkillFiles): Promise<void>;
  /** Moves a staged version to its place; does nothing if none is staged. */
  publish(name: string, version: number): Promise<void>;
  /** The path of the first file that is missing, differs or should not be there; `undefined` if there is none. */
  findDifference(name: string, files: SkillFiles): Promise<string | undefined>;
  remove(name: string): Promise<void>;
}

export function openApprovedFolder(root: string): ApprovedFolder {
  const stagedAt = (name: string, version: number): string => join(root, `.staged-${name}-${version}`);
  return {
    async stage(name, version, files) {
      const staged = stagedAt(name, version);
      await rm(staged, { recursive: true, force: true });
      await writeFolder(staged, files);
    },
    async publish(name, version) {
      const staged = stagedAt(name, version);
      if (!existsSync(staged)) return;
      await rm(join(root, name), { recursive: true, force: true });
      await rename(staged, join(root, name));
    },
    async findDifference(name, files) {
      const found = await readFolder(join(root, name)).catch((thrown: unknown) => thrown);
      if (!(found instanceof Map)) return describeUnreadable(name, thrownText(found));
      const paths = new Set<string>([...files.keys(), ...found.keys()]);
      return [...paths].toSorted().find((path) => !isSame(files.get(path), found.get(path)));
    },
    remove: (name) => rm(join(root, name), { recursive: true, force: true }),
  };
}

/** A new folder, readable by its owner only. Throws REQUEST_INVALID if it exists. */
export async function writeFolder(folder: string, files: SkillFiles): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await mkdir(folder, { mode: 0o700 }).catch((cause: unknown) => {
    throw new GloveboxError("REQUEST_INVALID", `${folder} cannot be created`, { cause, hint: "Name a new folder" });
  });
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, path), bytes, { flag: "wx", mode: 0o600 });
  }
}

function isSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one !== undefined && other !== undefined && Buffer.from(one).equals(other);
}

function thrownText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function describeUnreadable(name: string, problem: string): string {
  return `${name} (${problem})`;
}
