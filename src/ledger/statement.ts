/**
 * Signed statements about the ledger. The digest of a record depends on every record before it, so one signature covers
 * the whole chain up to that record.
 */

import { canonicalJson, isJsonObject, parseDigest } from "../domain/index.ts";
import type { Digest, Instant, JsonObject } from "../domain/index.ts";

/** A public signing key: `ed25519:` and 43 characters of base64url, short enough to read aloud and to pin. */
export type PublicKey = string & { readonly __publicKey: never };

export const KEY_PREFIX = "ed25519:";

const PUBLIC_KEY = /^ed25519:[A-Za-z0-9_-]{43}$/;

/** Returns `undefined` for anything else. Operators type these keys. */
export function parsePublicKey(raw: unknown): PublicKey | undefined {
  return isPublicKey(raw) ? raw : undefined;
}

function isPublicKey(raw: unknown): raw is PublicKey {
  return typeof raw === "string" && PUBLIC_KEY.test(raw);
}

/** Record `seq` had this digest. `number` counts checkpoints and cuts together, from 1, without gaps. */
export interface Checkpoint {
  readonly kind: "checkpoint";
  readonly number: number;
  readonly seq: number;
  readonly digest: Digest;
  readonly at: Instant;
}

/** Records `first` to `seq` were dropped on purpose; the chain continues from `digest`. */
export interface Cut {
  readonly kind: "cut";
  readonly number: number;
  readonly first: number;
  readonly seq: number;
  readonly digest: Digest;
  /** Statements up to this number were dropped with the records. */
  readonly checkpoint: number;
  readonly at: Instant;
}

/** Like a checkpoint, but in a file beside the store, so that truncating the tables does not truncate it. */
export interface HeadStatement {
  readonly kind: "head";
  /** The number of the last checkpoint or cut. */
  readonly number: number;
  readonly seq: number;
  readonly digest: Digest;
  readonly at: Instant;
}

/** Ends an export: it contains exactly these records. */
export interface Trailer {
  readonly kind: "trailer";
  readonly first: number;
  /** The digest of the record before the first one. */
  readonly previous: Digest;
  readonly seq: number;
  readonly digest: Digest;
  readonly count: number;
  readonly at: Instant;
}

/** Everything that is signed. */
export type Statement = Checkpoint | Cut | HeadStatement | Trailer;

/** A statement with its signer. */
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
/** Separates these signatures from any other use of the key. */
const PURPOSE = "glovebox ledger statement, version 1\n";

/** Returns the text that is signed. */
export function toSignedText({ key: _, signature: __, ...statement }: Statement & Partial<SignedStatement>): string {
  return PURPOSE + canonicalJson(statement);
}

/** Returns one line: the form that is stored and exported. */
export function toStatementText(statement: SignedStatement): string {
  return canonicalJson({ ...statement });
}

/** Returns `undefined` for anything that is not exactly a statement. Does not verify the signature. */
export function parseStatement(raw: unknown): SignedStatement | undefined {
  return isJsonObject(raw) && isSignedStatement(raw) ? raw : undefined;
}

function isSignedStatement(raw: JsonObject): raw is JsonObject & SignedStatement {
  const { kind, key, signature } = raw;
  if (kind !== "checkpoint" && kind !== "cut" && kind !== "head" && kind !== "trailer") return false;
  const fields = ["kind", "key", "signature", ...NUMBERS[kind], ...DIGESTS[kind]];
  if (Object.keys(raw).toSorted().join() !== fields.toSorted().join()) return false;
  if (!NUMBERS[kind].every((name) => isCount(raw[name]))) return false;
  if (!DIGESTS[kind].every((name) => parseDigest(raw[name]))) return false;
  return isPublicKey(key) && typeof signature === "string" && SIGNATURE.test(signature);
}

/** Returns `undefined` unless `toStatementText` could have written this text. */
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
