/** The private key that signs the ledger: 32 random bytes in a separate file, created on first start. */

import type { Random } from "../cipher.ts";
import { createKeyFile, readKeyFile } from "./key-file.ts";
import type { KeyRemedies } from "./key-file.ts";

/** The seed of the key, and whether this call created it. */
interface SigningKey {
  readonly seed: Uint8Array;
  readonly isNew: boolean;
}

const REMEDIES: KeyRemedies = {
  unusable: "Make its folder writable for this user",
  shared: "Run `chmod 600` on it; if others could have read it, records signed with it prove nothing against them",
};

/** Throws CONFIG_INVALID when the file cannot be used. Never overwrites a file. */
export function loadSigningKey(path: string, random: Random): SigningKey {
  const found = readKeyFile(path, REMEDIES);
  if (found) return { seed: found, isNew: false };
  return { seed: createKeyFile(path, random, REMEDIES), isNew: true };
}

/** As `loadSigningKey`, but creates nothing: returns `undefined` if the file does not exist. */
export function findSigningKey(path: string): Uint8Array | undefined {
  return readKeyFile(path, REMEDIES);
}
