/** The public half of the key that a ledger is signed with, as people write it down. */

/** `ed25519:` and 43 characters of base64url: short enough to be read out and pinned. */
export type PublicKey = string & { readonly __publicKey: never };

/** Says what kind of key the rest is. */
export const KEY_PREFIX = "ed25519:";

const TEXT = /^ed25519:[A-Za-z0-9_-]{43}$/;

/** `undefined` for anything that is no public key of ours; an operator types these. */
export function parsePublicKey(raw: unknown): PublicKey | undefined {
  return typeof raw === "string" && TEXT.test(raw) ? (raw as PublicKey) : undefined;
}
