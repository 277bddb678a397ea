/** Proves that a version in the store is exactly what was submitted, and whether it is what was approved. */

import { parseJson } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { digestOf, toPlainJson } from "../text/index.ts";
import type { FailingTests } from "./failing-tests.ts";
import type { ApprovedFolder } from "./folder/approved-folder.ts";
import { parseSkill } from "./parse-skill.ts";
import { parsePowers } from "./powers.ts";
import type { SkillPower } from "./powers.ts";
import { findForgery, parseApproval, parseFiles, parseGrants } from "./sign-version.ts";
import type { SkillKeys } from "./keys/open-keyring.ts";
import { LOCK_FILE, digestSkill } from "./skill.ts";
import type { ParsedSkill, SkillFiles, SkillGrant, SkillRow } from "./skill.ts";

export interface VersionPowers {
  readonly store: Pick<Store["skills"], "file">;
  readonly keys: SkillKeys;
  readonly failing: FailingTests;
  /** Absent for a store in memory. */
  readonly folder?: ApprovedFolder | undefined;
}

export interface SkillVersion {
  readonly row: SkillRow;
  readonly files: SkillFiles;
  readonly skill: ParsedSkill;
  readonly grants: readonly SkillGrant[];
  readonly powers: readonly SkillPower[];
}

export type Verified =
  | ({ readonly ok: true } & SkillVersion)
  /** `problem` continues a sentence: it names the file, or what was changed. */
  | { readonly ok: false; readonly problem: string };

const failed = (problem: string): Verified => ({ ok: false, problem });

/** The bytes of one version, whatever its state is. */
export async function readVersion(row: SkillRow, { store }: Pick<VersionPowers, "store">): Promise<Verified> {
  const [digests, grants] = [parseFiles(row.files), parseGrants(row.grants)];
  if (!digests || !grants) return failed("its record in the store is damaged");
  if (digestSkill(digests) !== row.digest) return failed("its record was changed: the digests of its files differ");
  const files = new Map<string, Uint8Array>();
  for (const [path, digest] of Object.entries(digests)) {
    const bytes = await store.file(digest);
    if (!bytes) return failed(`${path} is missing in the store`);
    if (digestOf(bytes) !== digest) return failed(`${path} was changed in the store`);
    files.set(path, bytes);
  }
  const skill = parseSkill(files);
  if (skill.name !== row.name || skill.address !== row.address) return failed("its record was changed: another name");
  return { ok: true, row, files, skill, grants, powers: parsePowers(row.grants) };
}

/** An approved version: its signature, its bytes, and its files in the folder of approved skills. */
export async function verifyVersion(row: SkillRow, powers: VersionPowers): Promise<Verified> {
  const forgery = await findForgery(row, powers.keys);
  if (forgery !== undefined) return failed(forgery);
  const read = await readVersion(row, powers);
  const problem = await powers.failing.find(row);
  if (read.ok && problem !== undefined) return failed(problem);
  if (!read.ok || !powers.folder || row.state !== "approved") return read;
  await powers.folder.publish(row.name, row.version);
  const path = await powers.folder.findDifference(row.name, withLock(read));
  return path === undefined ? read : failed(`${path} differs from what was approved`);
}

/** The files with the lock, which states what was approved, by whom and with which key. */
export function withLock({ row, files }: Pick<SkillVersion, "row" | "files">): SkillFiles {
  const { name, version, digest, author } = row;
  const grants = parseJson(row.grants);
  const lock = { name, version, digest, author, files: parseFiles(row.files), grants };
  const text = `${toPlainJson({ ...lock, approval: parseApproval(row.signature) ?? null }, 2)}\n`;
  return new Map([...files, [LOCK_FILE, Buffer.from(text)]]);
}
