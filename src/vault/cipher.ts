/** AES-256-GCM over bytes, with nonces of 96 random bits and full tags. Truncated input is refused before decryption. */

import { createCipheriv, createDecipheriv } from "node:crypto";
import type { KeyObject } from "node:crypto";

const CIPHER = "aes-256-gcm";
const TAG_BYTES = 16;

export const KEY_BYTES = 32;
/** 96 random bits: safe for 2³² messages with one key (NIST SP 800-38D §8.3); a data key seals one. */
export const NONCE_BYTES = 12;

/** Returns this many unpredictable bytes. */
export type Random = (bytes: number) => Uint8Array;

/** What bytes are sealed with and bound to. */
export interface CipherParameters {
  /** A `KeyObject` if one key is used many times: creating one takes longer than sealing a short string. */
  readonly key: Uint8Array | KeyObject;
  readonly nonce: Uint8Array;
  /** Additional data: not stored, and required unchanged to open. */
  readonly data: Buffer;
}

/** Returns the ciphertext with its tag at the end. */
export function encrypt(plain: Uint8Array, parameters: CipherParameters): Buffer {
  return Buffer.concat(encryptParts(plain, parameters));
}

/** Not joined: a value may have megabytes, and is copied once. */
function encryptParts(plain: Uint8Array, { key, nonce, data }: CipherParameters): readonly Buffer[] {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(data);
  return [cipher.update(plain), cipher.final(), cipher.getAuthTag()];
}

/** Throws when any bit of the ciphertext or of the parameters differs from when it was sealed. */
export function decrypt(sealed: Uint8Array, { key, nonce, data }: CipherParameters): Buffer {
  // The cipher accepts nonces of any length, so a truncated row is refused here.
  if (nonce.length !== NONCE_BYTES || sealed.length < TAG_BYTES) throw new RangeError("The sealed value is too short");
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(data);
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(0, end));
  // Checks the tag. GCM is a stream: nothing of the plaintext is left.
  decipher.final();
  return plain;
}

/** Encrypts with a new nonce, which comes first in the result. */
export function encryptWithNonce(
  plain: Uint8Array,
  { key, data, random }: Omit<CipherParameters, "nonce"> & { readonly random: Random },
): Uint8Array {
  const nonce = random(NONCE_BYTES);
  return Buffer.concat([nonce, ...encryptParts(plain, { key, nonce, data })]);
}

/** Opens what `encryptWithNonce` returned. */
export function decryptWithNonce(sealed: Uint8Array, { key, data }: Omit<CipherParameters, "nonce">): Buffer {
  return decrypt(sealed.subarray(NONCE_BYTES), { key, nonce: sealed.subarray(0, NONCE_BYTES), data });
}
