/**
 * Sealing with AES-256-GCM: every secret has its own data key, and the master key only wraps data keys.
 * Name and version are additional data in both layers, so a row that is moved to another name does not open.
 */

import { hkdfSync } from "node:crypto";

import type { SecretName } from "../domain/index.ts";

import { KEY_BYTES, NONCE_BYTES, decrypt, decryptWithNonce, encrypt, encryptWithNonce } from "./cipher.ts";
import type { Random } from "./cipher.ts";
import { Secret } from "./secret.ts";

const CHECK_BYTES = 16;
/** Names with this prefix belong to the vault itself: they cannot be set, lent, listed or removed. */
const RESERVED = /^glovebox_/i;

export function isReservedName(name: SecretName): boolean {
  return RESERVED.test(name);
}

/** What a sealed value belongs to. */
export interface Binding {
  readonly name: string;
  readonly version: number;
}

/** A sealed value; harmless without the master key. */
export interface Sealed {
  /** Nonce, wrapped data key and tag. */
  readonly wrappedKey: Uint8Array;
  readonly nonce: Uint8Array;
  /** With its tag at the end. */
  readonly ciphertext: Uint8Array;
}

/** The two uses of a master key are derived separately: the stored check value reveals nothing about the wrapping key. */
export interface MasterKey {
  readonly wrapping: Uint8Array;
  /** May be stored in the clear. */
  readonly check: string;
}

/** HKDF (RFC 5869); the 32 bytes it starts from are random, so no salt is needed. They are erased. */
export function deriveMasterKey(bytes: Uint8Array): MasterKey {
  const key = {
    wrapping: new Uint8Array(hkdfSync("sha256", bytes, "", "glovebox vault wrapping 1", KEY_BYTES)),
    check: Buffer.from(hkdfSync("sha256", bytes, "", "glovebox vault check 1", CHECK_BYTES)).toString("hex"),
  };
  bytes.fill(0);
  return key;
}

/** Seals `value` for this name and version only. */
export function seal(
  value: Secret,
  binding: Binding,
  deps: { readonly key: MasterKey; readonly random: Random },
): Sealed {
  const dataKey = Uint8Array.from(deps.random(KEY_BYTES));
  try {
    const nonce = deps.random(NONCE_BYTES);
    const wrappedKey = wrap(dataKey, binding, deps);
    const plain = Buffer.from(value.reveal(), "utf8");
    const ciphertext = encrypt(plain, { key: dataKey, nonce, data: bind("value", binding) });
    plain.fill(0);
    return { wrappedKey, nonce, ciphertext };
  } finally {
    dataKey.fill(0);
  }
}

/** Throws when any bit was changed, or when it was sealed for another name, version or key. */
export function unseal(sealed: Sealed, binding: Binding, key: MasterKey): Secret {
  const dataKey = unwrap(sealed.wrappedKey, binding, key);
  try {
    const plain = decrypt(sealed.ciphertext, { key: dataKey, nonce: sealed.nonce, data: bind("value", binding) });
    const value = new Secret(plain.toString("utf8"));
    plain.fill(0);
    return value;
  } finally {
    dataKey.fill(0);
  }
}

/** Hides why it failed: only a forger could use that. */
export function tryUnseal(row: Sealed & Binding, key: MasterKey): Secret | undefined {
  try {
    return unseal(row, row, key);
  } catch {
    return undefined;
  }
}

/** Wraps the data key with another master key, without opening the value. Throws as `unseal`. */
export function rewrapKey(
  wrappedKey: Uint8Array,
  binding: Binding,
  { from, to, random }: { readonly from: MasterKey; readonly to: MasterKey; readonly random: Random },
): Uint8Array {
  const dataKey = unwrap(wrappedKey, binding, from);
  try {
    return wrap(dataKey, binding, { key: to, random });
  } finally {
    dataKey.fill(0);
  }
}

function wrap(
  dataKey: Uint8Array,
  binding: Binding,
  { key, random }: { readonly key: MasterKey; readonly random: Random },
): Uint8Array {
  return encryptWithNonce(dataKey, { key: key.wrapping, data: bind("key", binding), random });
}

function unwrap(wrappedKey: Uint8Array, binding: Binding, { wrapping }: MasterKey): Buffer {
  return decryptWithNonce(wrappedKey, { key: wrapping, data: bind("key", binding) });
}

/** A secret's name contains no colon, so two bindings never produce the same bytes. */
function bind(layer: "key" | "value", { name, version }: Binding): Buffer {
  return Buffer.from(`glovebox:1:${layer}:${name}:${version}`);
}
