/** Signs and verifies statements with Ed25519 (RFC 8032), off the event loop. */

import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { promisify } from "node:util";

import { KEY_PREFIX, parsePublicKey, toSignedText } from "./statement.ts";
import type { PublicKey, SignedStatement, Statement } from "./statement.ts";

const signBytes = promisify(sign);
const verifyBytes = promisify(verify);

/** Holds a private key that cannot be read back. */
export interface Signer {
  readonly key: PublicKey;
  sign<Kind extends Statement>(statement: Kind): Promise<SignedStatement<Kind>>;
  /** Signs a text that is not about the ledger. `purpose` separates its kind from all others. */
  signText(purpose: string, text: string): Promise<string>;
  /** True for what `signText` of this key returned. */
  checkText(purpose: string, text: string, signature: string): Promise<boolean>;
}

const SEED_BYTES = 32;
/** RFC 8410 §7: the DER prefix of a 32-byte private key. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** Copies the seed, so the caller can wipe it afterwards. */
export function createSigner(seed: Uint8Array): Signer {
  if (seed.length !== SEED_BYTES) throw new TypeError("An Ed25519 seed must have 32 bytes");
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const open = createPublicKey(secret);
  const key = parsePublicKey(KEY_PREFIX + String(open.export({ format: "jwk" }).x));
  if (!key) throw new TypeError("Ed25519 returned an invalid public key");
  return {
    key,
    sign: async (statement) => {
      const signature = await signBytes(null, Buffer.from(toSignedText(statement)), secret);
      return { ...statement, key, signature: signature.toString("base64url") };
    },
    signText: async (purpose, text) =>
      (await signBytes(null, toPurposeBytes(purpose, text), secret)).toString("base64url"),
    checkText: (purpose, text, signature) =>
      verifyBytes(null, toPurposeBytes(purpose, text), open, Buffer.from(signature, "base64url")),
  };
}

function toPurposeBytes(purpose: string, text: string): Uint8Array {
  return Buffer.from(`${purpose}\n${text}`);
}

/** True for what `signText` of this key returned, in any gateway. */
export async function checkSignedText(
  key: PublicKey,
  signed: { readonly purpose: string; readonly text: string; readonly signature: string },
): Promise<boolean> {
  const parsed = toKeyObject(key);
  const bytes = toPurposeBytes(signed.purpose, signed.text);
  return parsed !== undefined && verifyBytes(null, bytes, parsed, Buffer.from(signed.signature, "base64url"));
}

/** Verifies signatures of one key on the thread pool. */
export function createSignatureCheck(key: PublicKey): (statement: SignedStatement) => Promise<boolean> {
  const parsed = toKeyObject(key);
  return async (statement) =>
    parsed !== undefined &&
    statement.key === key &&
    (await verifyBytes(
      null,
      Buffer.from(toSignedText(statement)),
      parsed,
      Buffer.from(statement.signature, "base64url"),
    ));
}

/** Returns `undefined` for bytes that are not a point on the curve. */
function toKeyObject(key: PublicKey): KeyObject | undefined {
  try {
    const x = key.slice(KEY_PREFIX.length);
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  } catch {
    return undefined;
  }
}
