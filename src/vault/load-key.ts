/** Finds the master key and makes sure that it is the one this store was sealed with. Overwrites nothing. */

import { GloveboxError } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

import { createKeyFile, readKeyFile } from "./key-file.ts";
import { parseKey } from "./parse-key.ts";
import { deriveMasterKey } from "./seal.ts";
import type { MasterKey, Random } from "./seal.ts";

/** Where the check value is in `store.meta`. */
const CHECK = "vault.check";
const VARIABLE = "GLOVEBOX_ENCRYPTION_KEY";

/** Where keys come from. */
export interface KeyOptions {
  readonly store: Pick<Store, "meta">;
  /** Made on first use when there is no `environmentKey`. */
  readonly keyFile: string;
  /** The value of GLOVEBOX_ENCRYPTION_KEY: 64 hex digits. Goes before the file. */
  readonly environmentKey?: string;
  readonly random: Random;
}

/** Rejects with CONFIG_INVALID when the key is unusable, lost or another one. */
export async function loadKey(options: KeyOptions): Promise<MasterKey> {
  const { meta } = options.store;
  const known = await meta.get(CHECK);
  const bytes = findBytes(options, known !== undefined);
  const key = deriveMasterKey(bytes);
  bytes.fill(0);
  const expected = known ?? (await meta.claim(CHECK, key.check));
  if (expected === key.check) return key;
  throw new GloveboxError("CONFIG_INVALID", "The secrets in this store are sealed with another key", {
    hint: `Nothing was changed. Give the former key in ${VARIABLE} or in the key file, or use another store`,
  });
}

function findBytes({ environmentKey, keyFile, random }: KeyOptions, isSealed: boolean): Uint8Array {
  if (environmentKey !== undefined) return parseKey(environmentKey, VARIABLE);
  const found = readKeyFile(keyFile);
  if (found) return found;
  // A new key in the place of a lost one would make the loss look like an empty vault.
  if (!isSealed) return createKeyFile(keyFile, random);
  throw new GloveboxError("CONFIG_INVALID", "The secrets in this store are sealed, and their key file is missing", {
    hint: `Nothing was changed. Restore the key file, or give the key in ${VARIABLE}`,
  });
}
