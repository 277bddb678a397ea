/**
 * Seals what records keep of programs: what they returned and logged, results and arguments of calls, inputs, sources. One data key for all of them is
 * stored among the secrets under a reserved name, so that a rotation of the master key covers it too.
 */

import { createSecretKey, hkdfSync } from "node:crypto";

import { GloveboxError, parseSecretName } from "../domain/index.ts";
import type { Seal, SecretName } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

import { KEY_BYTES, decryptWithNonce, encryptWithNonce } from "./cipher.ts";
import type { Random } from "./cipher.ts";
import { findKey } from "./keys/load-key.ts";
import type { KeyOptions, Keyring } from "./keys/load-key.ts";
import { seal, tryUnseal } from "./seal.ts";
import { Secret } from "./secret.ts";

const BINDING = { name: nameKey(), version: 1 } as const;

/** Creates the data key on first use. If two processes do so, the first wins. Unlocks the store as well. */
export async function openSeal(options: SealOptions, keyring: Keyring): Promise<Seal> {
  const seal = createSeal(await findDataKey(options, keyring), options.random);
  options.store.unlock(seal);
  return seal;
}

export interface SealOptions extends KeyOptions {
  readonly store: KeyOptions["store"] & Pick<Store, "unlock">;
}

/**
 * Unlocks the store for commands that only read: creates no key and writes nothing. Does not reject when the key is missing
 * or wrong: opening a sealed value throws CONFIG_INVALID then, and what is not sealed can be read.
 */
export async function unlockToRead(options: SealOptions): Promise<void> {
  options.store.unlock(await findSeal(options));
}

async function findSeal(options: KeyOptions): Promise<Seal> {
  try {
    const key = await findKey(options);
    const row = await options.store.secrets.find(BINDING.name);
    const value = row && tryUnseal(row, key);
    if (!value) throw damaged("The key of the records cannot be opened");
    return createSeal(Buffer.from(value.reveal(), "hex"), options.random);
  } catch (thrown) {
    const refuse = (): never => {
      throw thrown;
    };
    return { close: refuse, open: refuse, openBytes: refuse, derive: refuse };
  }
}

function createSeal(dataKey: Uint8Array, random: Random): Seal {
  const key = createSecretKey(dataKey);
  const openBytes = (sealed: Uint8Array, context: string): Buffer => {
    try {
      return decryptWithNonce(sealed, { key, data: bind(context) });
    } catch {
      throw damaged("A sealed record cannot be opened: it was changed or moved");
    }
  };
  return {
    close: (plain, context) => {
      const bytes = typeof plain === "string" ? Buffer.from(plain, "utf8") : plain;
      return encryptWithNonce(bytes, { key, data: bind(context), random });
    },
    open: (sealed, context) => openBytes(sealed, context).toString("utf8"),
    openBytes,
    derive: (purpose) => new Uint8Array(hkdfSync("sha256", key, "", `glovebox records ${purpose} 1`, KEY_BYTES)),
  };
}

async function findDataKey({ store, random, now }: KeyOptions, keyring: Keyring): Promise<Uint8Array> {
  for (;;) {
    const key = await keyring.key();
    const value = new Secret(Buffer.from(random(KEY_BYTES)).toString("hex"));
    const made = { ...BINDING, createdAt: now(), ...seal(value, BINDING, { key, random }) };
    const row = await store.secrets.claim(made, key.check);
    const opened = row && tryUnseal(row, key);
    if (opened) return Buffer.from(opened.reveal(), "hex");
    // A row that does not open may have been wrapped with another key since this one was loaded.
    if (row && (await store.secrets.keyCheck()) === key.check) throw damaged("The key of the records cannot be opened");
  }
}

function nameKey(): SecretName {
  const name = parseSecretName("glovebox_records");
  if (!name) throw new TypeError("The key of the records has an invalid name");
  return name;
}

function bind(context: string): Buffer {
  return Buffer.from(`glovebox:records:1:${context}`);
}

function damaged(message: string): GloveboxError {
  return new GloveboxError("STORE_UNAVAILABLE", message, { hint: "Restore the store from a backup" });
}
