/** The interface of the store to skills: their versions, which never change, and the bytes of their files. */

import { parseDigest, parsePrincipalId, parseToolAddress } from "../domain/index.ts";
import type { Digest, Instant, PrincipalId } from "../domain/index.ts";

import { createShape, integer, nullable, oneOf, parsed, text } from "./row.ts";
import type { RowOf } from "./row.ts";

const STATES = ["draft", "pending_review", "approved", "rejected", "revoked", "retired"] as const;

type StoredState = (typeof STATES)[number];

/** One version. All but its state, its decision and its signature is written once. */
export const SKILL_VERSION = createShape({
  name: text,
  version: integer,
  address: parsed(parseToolAddress),
  /** Of the paths and digests of its files. */
  digest: parsed(parseDigest),
  /** JSON: the digest of each file by its path. */
  files: text,
  /** JSON: what it may call once it is approved; what it asks for before. */
  grants: text,
  /** JSON: where it came from. */
  origin: text,
  state: oneOf(...STATES),
  author: parsed(parsePrincipalId),
  createdAt: integer,
  decidedBy: nullable(text),
  decidedAt: nullable(integer),
  note: nullable(text),
  /** JSON: the signature of its approval. */
  signature: nullable(text),
});
export type SkillVersionRow = RowOf<typeof SKILL_VERSION>;

export type NewSkillVersion = Omit<
  SkillVersionRow,
  "version" | "decidedBy" | "decidedAt" | "note" | "signature" | "createdAt"
> & { readonly createdAt: Instant; readonly bodies: ReadonlyMap<Digest, Uint8Array> };

/** `taken`: another skill has the address. */
export type SkillInsertion = { readonly kind: "inserted"; readonly row: SkillVersionRow } | { readonly kind: "taken" };

export interface SkillChange {
  readonly row: Pick<SkillVersionRow, "name" | "version" | "digest" | "state">;
  readonly state: StoredState;
  readonly by: PrincipalId;
  readonly at: Instant;
  readonly note?: string | undefined;
  readonly grants?: string | undefined;
  readonly signature?: string | undefined;
}

export interface SkillStore {
  /** Inserts a version with the next number, and its files. All or nothing. */
  insert(version: NewSkillVersion): Promise<SkillInsertion>;
  /**
   * Changes the state if the version is still as `row` says; returns false otherwise. An approval retires the version
   * that was approved before.
   */
  change(change: SkillChange): Promise<boolean>;
  /** Sorted by name and version. */
  list(): Promise<readonly SkillVersionRow[]>;
  versions(name: string): Promise<readonly SkillVersionRow[]>;
  file(digest: Digest): Promise<Uint8Array | undefined>;
  /** Another value after every change. */
  revision(): Promise<number>;
}
