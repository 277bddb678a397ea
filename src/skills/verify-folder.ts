/** Verifies an exported skill without a store: its files against its lock, and the lock against the key that signed it. */

import { z } from "zod";

import { GloveboxError, canonicalJson, parseDigest, parseJson, parsePrincipalId } from "../domain/index.ts";
import type { Digest, JsonObject } from "../domain/index.ts";
import { parsePublicKey } from "../ledger/index.ts";
import { parseSkill } from "./parse-skill.ts";
import { isSignedBy, parseApproval, parseGrants } from "./sign-version.ts";
import { LOCK_FILE, digestFiles, digestSkill, withoutLock } from "./skill.ts";
import type { SkillFiles } from "./skill.ts";

const digest = z.custom<Digest>((raw) => parseDigest(raw) !== undefined);
const LOCK = z.strictObject({
  name: z.string(),
  version: z.int().min(1),
  digest,
  author: z.string().refine((text) => parsePrincipalId(text) !== undefined),
  files: z.record(z.string(), digest),
  grants: z.array(z.unknown()),
  approval: z.unknown(),
});

/** An exported version. It says who signed it, and never that this gateway approves it. */
export interface VerifiedFolder {
  readonly name: string;
  readonly version: number;
  readonly digest: Digest;
  readonly key: string;
  readonly reviewer: string;
  readonly at: number;
  readonly selfReviewed: boolean;
}

/**
 * Rejects with REQUEST_INVALID for a folder without a lock, and SKILL_FROZEN if a file, the lock or the signature differs,
 * or if another key than `wanted` signed it.
 */
export async function verifyFolder(all: SkillFiles, wanted?: string): Promise<VerifiedFolder> {
  const lock = all.get(LOCK_FILE);
  if (!lock)
    throw new GloveboxError("REQUEST_INVALID", `The folder has no ${LOCK_FILE}`, {
      hint: "Export an approved skill with `glovebox skills export`",
    });
  if (wanted !== undefined && parsePublicKey(wanted) === undefined)
    throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(wanted)} is not a public key`, {
      hint: "It begins with ed25519:",
    });
  const stated = LOCK.safeParse(parseJson(Buffer.from(lock).toString("utf8"))).data;
  const grants = stated && parseGrants(JSON.stringify(stated.grants));
  const approval = stated && parseApproval(JSON.stringify(stated.approval));
  const author = parsePrincipalId(stated?.author);
  if (!stated || !grants || !approval || !author) throw differs(`${LOCK_FILE} was changed`);
  const files = withoutLock(all);
  const path = findDifference(digestFiles(files), stated.files);
  if (path !== undefined) throw differs(`${path} differs from what was signed`);
  if (digestSkill(stated.files) !== stated.digest) throw differs(`${LOCK_FILE} was changed`);
  const { name, version } = stated;
  const { name: own, address } = parseSkill(files);
  const row = {
    ...stated,
    author,
    address,
    files: JSON.stringify(stated.files),
    grants: JSON.stringify(stated.grants),
  };
  if (own !== name || !(await isSignedBy(row, approval))) throw differs(`${LOCK_FILE} was changed`);
  const { signature: _, ...shown } = approval;
  if (wanted !== undefined && wanted !== approval.key) throw differs(`It is signed by another key, ${approval.key}`);
  return { name, version, digest: stated.digest, ...shown };
}

/** What an imported folder says about its origin, for its reviewer. Nothing of it is trusted. */
export async function describeImport(files: SkillFiles): Promise<JsonObject> {
  const verified = await verifyFolder(files).catch((thrown: unknown) => {
    if (thrown instanceof GloveboxError) return thrown.message;
    throw thrown;
  });
  return { kind: "export", signed: typeof verified === "string" ? verified : { ...verified } };
}

function findDifference(
  is: Readonly<Record<string, Digest>>,
  was: Readonly<Record<string, Digest>>,
): string | undefined {
  if (canonicalJson({ ...is }) === canonicalJson({ ...was })) return undefined;
  return [...new Set([...Object.keys(is), ...Object.keys(was)])].toSorted().find((path) => is[path] !== was[path]);
}

function differs(message: string): GloveboxError {
  return new GloveboxError("SKILL_FROZEN", message, {
    hint: "Export the skill again from the gateway that approved it",
  });
}
