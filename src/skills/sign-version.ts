/** The signature of an approval: over the digests of all files, the grants, and who approved. */

import { z } from "zod";

import { checkSignedText, parsePublicKey } from "../ledger/index.ts";
import { canonicalJson, parseConnectorId, parseDigest, parseJson, parseToolAddress } from "../domain/index.ts";
import type { Digest, Instant, Json } from "../domain/index.ts";
import { parsePower } from "./powers.ts";
import type { SkillKeys } from "./keys/open-keyring.ts";
import type { FileDigests, SkillGrant, SkillRow } from "./skill.ts";

const PURPOSE = "glovebox skill approval, version 1";

const parsedBy = <Value>(parse: (raw: unknown) => Value | undefined) =>
  z.custom<Value>((raw) => parse(raw) !== undefined);

const APPROVAL = z.strictObject({
  reviewer: z.string().max(1_024),
  at: z.int(),
  /** The reviewer is the author, which only a gateway without logins permits. */
  selfReviewed: z.boolean(),
  key: parsedBy(parsePublicKey),
  signature: z.string().regex(/^[A-Za-z0-9_-]{86}$/),
});
export type SkillApproval = Readonly<z.infer<typeof APPROVAL>>;

const FILES = z.record(z.string(), parsedBy<Digest>(parseDigest));
const GRANTS = z.array(
  z.strictObject({
    address: parsedBy(parseToolAddress),
    connector: parsedBy(parseConnectorId),
    remoteName: z.string(),
    definition: parsedBy(parseDigest),
    effect: z.enum(["read", "write", "destroy", "unknown"]),
  }),
);

/** What is signed besides the reviewer. */
export type SignedRow = Pick<SkillRow, "name" | "version" | "address" | "digest" | "files" | "grants" | "author">;

export async function signVersion(
  row: SignedRow,
  approval: { readonly reviewer: string; readonly at: Instant; readonly selfReviewed: boolean },
  keys: SkillKeys,
): Promise<SkillApproval> {
  return { ...approval, ...(await keys.sign(PURPOSE, toText(row, approval))) };
}

/** Returns what is wrong with the signature of a row; `undefined` if this gateway signed exactly this. */
export async function findForgery(row: SkillRow, keys: SkillKeys): Promise<string | undefined> {
  const approval = parseApproval(row.signature);
  if (!approval) return "its approval is not signed";
  const { signature, key, ...signed } = approval;
  return keys.findFault({ key, signature, purpose: PURPOSE, text: toText(row, signed) });
}

/** For a version that is revoked: its approval stays readable and proves nothing any more. */
export function eraseSignature(text: string | null): string | undefined {
  const approval = parseApproval(text);
  return approval && JSON.stringify({ ...approval, signature: ERASED });
}

const ERASED = "A".repeat(86);

/** Whether the key that an approval names made its signature, whichever gateway has that key. */
export async function isSignedBy(row: SignedRow, { signature, key, ...signed }: SkillApproval): Promise<boolean> {
  return checkSignedText(key, { purpose: PURPOSE, text: toText(row, signed), signature });
}

function toText(
  { name, version, address, digest, files, grants, author }: SignedRow,
  approval: Omit<SkillApproval, "key" | "signature">,
): string {
  const parts: Json = { name, version, address, digest, author, ...approval };
  return canonicalJson({ ...parts, files: parseJson(files) ?? null, grants: parseJson(grants) ?? null });
}

export function parseApproval(text: string | null): SkillApproval | undefined {
  return text === null ? undefined : APPROVAL.safeParse(parseJson(text)).data;
}

export function parseFiles(text: string): FileDigests | undefined {
  return FILES.safeParse(parseJson(text)).data;
}

/** The tools among stored grants; `undefined` if anything else is there than tools and powers. */
export function parseGrants(text: string): readonly SkillGrant[] | undefined {
  const all = parseJson(text);
  return Array.isArray(all) ? GRANTS.safeParse(all.filter((one: unknown) => !parsePower(one))).data : undefined;
}
