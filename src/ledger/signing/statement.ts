/**
 * What the holder of the signing key says about the ledger. The digest of one record binds every record before it, so
 * one signature covers the whole chain up to there.
 */

import { canonicalJson, isJsonObject, parseDigest } from "../../domain/index.ts";
import type { Digest, Instant, JsonObject } from "../../domain/index.ts";

import { parsePublicKey } from "./public-key.ts";
import type { PublicKey } from "./public-key.ts";

/** Where the chain stood: record `seq` had that digest. Numbers count all checkpoints and cuts, from 1, without gaps. */
export interface Checkpoint {
  readonly kind: "checkpoint";
  readonly number: number;
  readonly seq: number;
  readonly digest: Digest;
  readonly at: Instant;
}

/** Records `first` to `seq` were dropped on purpose; the chain goes on from `digest`. */
export interface Cut {
  readonly kind: "cut";
  readonly number: number;
  readonly first: number;
  readonly seq: number;
  readonly digest: Digest;
  /** Statements up to this number went with the records. */
  readonly checkpoint: number;
  readonly at: Instant;
}

/** The same as a checkpoint, kept beside the store: whoever cuts the tables cannot cut it along. */
export interface HeadStatement {
  readonly kind: "head";
  /** Of the last checkpoint or cut. */
  readonly number: number;
  readonly seq: number;
  readonly digest: Digest;
  readonly at: Instant;
}

/** The end of an export: these records and no others. */
export interface Trailer {
  readonly kind: "trailer";
  readonly first: number;
  /** The digest before the first record. */
  readonly previous: Digest;
  readonly seq: number;
  readonly digest: Digest;
  readonly count: number;
  readonly at: Instant;
}

/** Everything that is ever signed. */
export type Statement = Checkpoint | Cut | HeadStatement | Trailer;

/** A statement with who said it. */
export type SignedStatement<Kind extends Statement = Statement> = Kind & {
  readonly key: PublicKey;
  /** Base64url, over `toSignedText`. */
  readonly signature: string;
};

const NUMBERS: Readonly<Record<Statement["kind"], readonly string[]>> = {
  checkpoint: ["number", "seq", "at"],
  cut: ["number", "first", "seq", "checkpoint", "at"],
  head: ["number", "seq", "at"],
  trailer: ["first", "seq", "count", "at"],
};
const DIGESTS: Readonly<Record<Statement["kind"], readonly string[]>> = {
  checkpoint: ["digest"],
  cut: ["digest"],
  head: ["digest"],
  trailer: ["digest", "previous"],
};
const SIGNATURE = /^[A-Za-z0-9_-]{86}$/;
/** No other thing that this key might ever sign begins like this. */
const PURPOSE = "glovebox ledger statement, version 1\n";

/** The text that is signed. */
export function toSignedText({ key: _, signature: __, ...statement }: Statement & Partial<SignedStatement>): string {
  return PURPOSE + canonicalJson(statement);
}

/** A signed statement as it is stored and exported, on one line. */
export function toStatementText(statement: SignedStatement): string {
  return canonicalJson({ ...statement });
}

/** `undefined` for anything that is not exactly a statement; whether the signature is good is not looked at. */
export function parseStatement(raw: unknown): SignedStatement | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { kind, key, signature } = raw;
  if (kind !== "checkpoint" && kind !== "cut" && kind !== "head" && kind !== "trailer") return undefined;
  const fields = ["kind", "key", "signature", ...NUMBERS[kind], ...DIGESTS[kind]];
  if (Object.keys(raw).toSorted().join() !== fields.toSorted().join()) return undefined;
  if (!NUMBERS[kind].every((name) => isCount(raw[name]))) return undefined;
  if (!DIGESTS[kind].every((name) => parseDigest(raw[name]))) return undefined;
  if (!parsePublicKey(key) || typeof signature !== "string" || !SIGNATURE.test(signature)) return undefined;
  return raw as JsonObject & SignedStatement;
}

/** The statement in a text that `toStatementText` could have written. */
export function parseStatementText(text: string): SignedStatement | undefined {
  try {
    const parsed = parseStatement(JSON.parse(text));
    return parsed && toStatementText(parsed) === text ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
