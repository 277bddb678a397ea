/**
 * Sealing with AES-256-GCM: every secret has a data key of its own, and the master key only wraps data keys.
 * Name and version are additional data in both layers, so a row that was moved to another name does not open.
 */

import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
/** 96 random bits: safe for 2³² messages with one key (NIST SP 800-38D §8.3); a data key seals one. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CHECK_BYTES = 16;

/** Unpredictable bytes, that many. */
export type Random = (bytes: number) => Uint8Array;

/** What a sealed value belongs to. */
export interface Binding {
  readonly name: string;
  readonly version: number;
}

/** A sealed value; harmless without the master key. */
export interface Sealed {
  /** Nonce, wrapped data key and tag in one. */
  readonly wrappedKey: Uint8Array;
  readonly nonce: Uint8Array;
  /** With its tag at the end. */
  readonly ciphertext: Uint8Array;
}

/** The two uses of a master key, derived apart: what is stored to recognize it says nothing about what it wraps with. */
export interface MasterKey {
  readonly wrapping: Uint8Array;
  /** May be stored in the clear. */
  readonly check: string;
}

/** HKDF (RFC 5869); the 32 bytes it starts from are random, so no salt is needed. */
export function deriveMasterKey(bytes: Uint8Array): MasterKey {
  return {
    wrapping: new Uint8Array(hkdfSync("sha256", bytes, "", "glovebox vault wrapping 1", KEY_BYTES)),
    check: Buffer.from(hkdfSync("sha256", bytes, "", "glovebox vault check 1", CHECK_BYTES)).toString("hex"),
  };
}

/** Seals `value` for this name and version only. */
export function seal(
  value: string,
  binding: Binding,
  deps: { readonly key: MasterKey; readonly random: Random },
): Sealed {
  const dataKey = Uint8Array.from(deps.random(KEY_BYTES));
  try {
    const [wrapNonce, nonce] = [deps.random(NONCE_BYTES), deps.random(NONCE_BYTES)];
    const wrapped = encrypt(dataKey, { key: deps.key.wrapping, nonce: wrapNonce, data: bind("key", binding) });
    const plain = Buffer.from(value, "utf8");
    const ciphertext = encrypt(plain, { key: dataKey, nonce, data: bind("value", binding) });
    plain.fill(0);
    return { wrappedKey: Buffer.concat([wrapNonce, wrapped]), nonce, ciphertext };
  } finally {
    dataKey.fill(0);
  }
}

/** Throws when any bit was changed, or when it was sealed for another name, version or key. */
export function unseal(sealed: Sealed, binding: Binding, key: MasterKey): string {
  const [wrapNonce, wrapped] = [sealed.wrappedKey.subarray(0, NONCE_BYTES), sealed.wrappedKey.subarray(NONCE_BYTES)];
  const dataKey = decrypt(wrapped, { key: key.wrapping, nonce: wrapNonce, data: bind("key", binding) });
  try {
    const plain = decrypt(sealed.ciphertext, { key: dataKey, nonce: sealed.nonce, data: bind("value", binding) });
    const value = plain.toString("utf8");
    plain.fill(0);
    return value;
  } finally {
    dataKey.fill(0);
  }
}

interface Parameters {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  readonly data: Buffer;
}

/** A secret's name contains no colon, so two bindings never have one text. */
function bind(layer: "key" | "value", { name, version }: Binding): Buffer {
  return Buffer.from(`glovebox:1:${layer}:${name}:${version}`);
}

function encrypt(plain: Uint8Array, { key, nonce, data }: Parameters): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(data);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(sealed: Uint8Array, { key, nonce, data }: Parameters): Buffer {
  // The cipher takes nonces of any length; a row that was cut is refused before it comes to that.
  if (nonce.length !== NONCE_BYTES || sealed.length < TAG_BYTES) throw new RangeError("The sealed value is too short");
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(data);
  decipher.setAuthTag(sealed.subarray(end));
  return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]);
}
