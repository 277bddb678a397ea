/** Finds the master key and checks that this store is sealed with it. Overwrites nothing. */

import { GloveboxError } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import type { Random } from "../cipher.ts";
import { takeKey } from "./hand-over.ts";
import { createKeyFile, findNextKey, parseKey, promoteNextKey, readKeyFile } from "./key-file.ts";
import { deriveMasterKey } from "../seal.ts";
import type { MasterKey } from "../seal.ts";

export const VARIABLE = "GLOVEBOX_ENCRYPTION_KEY";
export const NEXT_VARIABLE = "GLOVEBOX_NEW_ENCRYPTION_KEY";

export interface KeyOptions {
  readonly store: Pick<Store, "meta" | "secrets">;
  /** Created if it is missing and `environmentKey` is not set. */
  readonly keyFile: string;
  /** The value of GLOVEBOX_ENCRYPTION_KEY: 64 hex digits. Takes precedence over the file. */
  readonly environmentKey?: string;
  /** The value of GLOVEBOX_NEW_ENCRYPTION_KEY: the target of a rotation, and the key in use after it. */
  readonly nextEnvironmentKey?: string;
  readonly random: Random;
  readonly now: () => Instant;
}

/** Rejects with CONFIG_INVALID when the key is unusable, missing or wrong. `former` is the key that was right before. */
export async function loadKey(options: KeyOptions, former?: MasterKey): Promise<MasterKey> {
  const { secrets, meta } = options.store;
  for (;;) {
    const check = await secrets.keyCheck();
    if (check === undefined) {
      const key = findFirst(options);
      if ((await secrets.claimKey(key.check)) === key.check) return key;
      continue;
    }
    const found = await findMatch(options, check);
    if (found) return found;
    const handed = await takeKey(meta, check, [...findHeld(options), ...(former ? [former] : [])]);
    if (handed) return handed;
    if ((await secrets.keyCheck()) !== check) continue;
    if ((await secrets.list()).length > 0) throw explainMismatch(options);
    const key = findFirst(options);
    // Nothing is sealed, so nothing is lost. Fails if a secret was set meanwhile.
    const refuseRow = (): never => {
      throw explainMismatch(options);
    };
    if (await secrets.rewrap({ from: check, to: key.check }, refuseRow)) return key;
  }
}

/** Like `loadKey`, for commands that only read: creates no key and finishes no rotation. */
export async function findKey(options: KeyOptions): Promise<MasterKey> {
  const check = await options.store.secrets.keyCheck();
  const { environmentKey, keyFile } = options;
  // The file twice: another process may promote the next key in between.
  const readFiles = () => [findInFile(options), findNextKey(keyFile), findInFile(options)];
  const keys = environmentKey === undefined ? readFiles() : [...findHeld(options)];
  const found = keys.find((key) => key?.check === check);
  if (found) return found;
  throw explainMismatch(options);
}

/** Yields the keys of the environment; `findMatch` reads the files. */
function* findHeld(options: KeyOptions): Generator<MasterKey> {
  const { environmentKey, nextEnvironmentKey } = options;
  if (environmentKey === undefined) return;
  yield deriveMasterKey(parseKey(environmentKey, VARIABLE));
  if (nextEnvironmentKey !== undefined) yield deriveMasterKey(parseKey(nextEnvironmentKey, NEXT_VARIABLE));
}

async function findMatch(options: KeyOptions, check: string): Promise<MasterKey | undefined> {
  if (options.environmentKey !== undefined) return findHeld(options).find((key) => key.check === check);
  const key = findInFile(options);
  if (key?.check === check) return key;
  const next = findNextKey(options.keyFile);
  if (next?.check === check) {
    await promoteKey(options, check);
    return next;
  }
  // Another process may have promoted the next key after the first read.
  const promoted = findInFile(options);
  return promoted?.check === check ? promoted : undefined;
}

function findInFile({ keyFile }: KeyOptions): MasterKey | undefined {
  const bytes = readKeyFile(keyFile);
  return bytes && deriveMasterKey(bytes);
}

/**
 * Replaces the key file once the store is sealed with the next key. The commit of another process may not be on disk
 * yet, and after a power cut the former key would be needed; so this process first makes a durable write.
 */
export async function promoteKey({ store: { secrets }, keyFile }: KeyOptions, check: string): Promise<void> {
  await secrets.whileKey(check, () => undefined);
  await secrets.whileKey(check, () => promoteNextKey(keyFile, check));
}

/** For a store in which nothing is sealed. */
function findFirst(options: KeyOptions): MasterKey {
  const [held] = findHeld(options);
  return held ?? deriveMasterKey(readKeyFile(options.keyFile) ?? createKeyFile(options.keyFile, options.random));
}

/** Creating a new key instead would make a lost key look like an empty vault. */
function explainMismatch({ environmentKey, keyFile }: KeyOptions): GloveboxError {
  if (environmentKey === undefined && readKeyFile(keyFile) === undefined) {
    return new GloveboxError("CONFIG_INVALID", "The key file for the secrets in this store is missing", {
      hint: `Nothing was changed. Restore the key file, or set ${VARIABLE}`,
    });
  }
  return new GloveboxError("CONFIG_INVALID", "The secrets in this store are sealed with another key", {
    hint: `Nothing was changed. Provide the right key (after a rotation the new one) in ${VARIABLE} or in the key file, or use another store`,
  });
}

/** Holds the master key of one process and reloads it when the store is sealed with another one. */
export interface Keyring {
  /** Returns the key that the store is sealed with. After a failure the next call tries again. */
  key(): Promise<MasterKey>;
  /** Sets the key after a rotation by this process. */
  adopt(key: MasterKey): void;
  forget(): void;
}

/** Loads the key once per rotation, however many callers ask at the same time. */
export function createKeyring(options: KeyOptions): Keyring {
  let known: MasterKey | undefined;
  let loading: Promise<MasterKey> | undefined;
  return {
    async key() {
      if (known && (await options.store.secrets.keyCheck()) === known.check) return known;
      loading ??= loadKey(options, known).finally(() => {
        loading = undefined;
      });
      return (known = await loading);
    },
    adopt(key) {
      known = key;
    },
    forget() {
      known = undefined;
    },
  };
}
