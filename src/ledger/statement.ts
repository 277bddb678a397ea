/**
 * Signed statements about the ledger. The digest of a record depends on every record before it, so one signature covers
 * the whole chain up to that record.
 */

import { z } from "zod";

import { canonicalJson, parseDigest, parseJson } from "../domain/index.ts";
import type { Digest } from "../domain/index.ts";

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

const count = z.int().nonnegative();
const digest = z.custom<Digest>((raw) => parseDigest(raw) !== undefined);
const SIGNED = {
  seq: count,
  digest,
  at: count,
  key: z.custom<PublicKey>(isPublicKey),
  /** Base64url, over `toSignedText`. */
  signature: z.string().regex(/^[A-Za-z0-9_-]{86}$/),
};

/** Record `seq` had this digest. `number` counts checkpoints and cuts together, from 1, without gaps. */
const CHECKPOINT = z.strictObject({ kind: z.literal("checkpoint"), number: count, ...SIGNED });

/** Records `first` to `seq` were dropped on purpose; the chain continues from `digest`. */
const CUT = z.strictObject({
  kind: z.literal("cut"),
  number: count,
  first: count,
  /** Statements up to this number were dropped with the records. */
  checkpoint: count,
  ...SIGNED,
});

/**
 * Like a checkpoint, but in a file beside the store, so that truncating the tables does not truncate it. `number` is that
 * of the last checkpoint or cut.
 */
const HEAD = z.strictObject({ kind: z.literal("head"), number: count, ...SIGNED });

/** Ends an export: it contains exactly these records. `previous` is the digest of the record before the first one. */
const TRAILER = z.strictObject({ kind: z.literal("trailer"), first: count, previous: digest, count, ...SIGNED });

const STATEMENT = z.discriminatedUnion("kind", [CHECKPOINT, CUT, HEAD, TRAILER]);

type Unsigned<Signed> = Readonly<Omit<Signed, "key" | "signature">>;
export type Checkpoint = Unsigned<z.infer<typeof CHECKPOINT>>;
export type Cut = Unsigned<z.infer<typeof CUT>>;
export type HeadStatement = Unsigned<z.infer<typeof HEAD>>;
export type Trailer = Unsigned<z.infer<typeof TRAILER>>;
/** Everything that is signed. */
export type Statement = Checkpoint | Cut | HeadStatement | Trailer;

/** A statement with its signer. */
export type SignedStatement<Kind extends Statement = Statement> = Kind & {
  readonly key: PublicKey;
  readonly signature: string;
};

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
  return STATEMENT.safeParse(raw).data;
}

/** Returns `undefined` unless `toStatementText` could have written this text. */
export function parseStatementText(text: string): SignedStatement | undefined {
  const parsed = parseStatement(parseJson(text));
  return parsed && toStatementText(parsed) === text ? parsed : undefined;
}
