/** Keeps secrets sealed in the store and lends them for one use at a time. The ledger records every use and change by name. */

import type { Ledger } from "../ledger/index.ts";
import { GloveboxError } from "../domain/index.ts";
import type { JsonObject, SecretName, SecretTemplate } from "../domain/index.ts";
import type { SecretRow } from "../store/index.ts";
import { pollEvery } from "../timing/index.ts";

import { createKeyring } from "./keys/load-key.ts";
import type { Keyring } from "./keys/load-key.ts";
import type { Mask } from "./mask.ts";
import { withdrawKey } from "./keys/hand-over.ts";
import { openSeal } from "./open-seal.ts";
import type { SealOptions } from "./open-seal.ts";
import { finishRotation, rotateKey } from "./keys/rotate-key.ts";
import { isReservedName, seal, tryUnseal } from "./seal.ts";
import { Secret } from "./secret.ts";
import type { Borrower, Vault } from "./vault.ts";

/** Enough for a private key or a service account file. */
const VALUE_BYTES = 64 * 1024;
/** The actor of loans to the gateway itself; the purpose tells them apart. */
const GATEWAY = "gateway";

export interface VaultOptions extends SealOptions {
  readonly ledger: Pick<Ledger, "write">;
  /** Learns the keys of the environment, and every value that is set, lent or returned by `known`. */
  readonly mask?: Pick<Mask, "add">;
}

/** Lazy: the key is not loaded, created or checked before `ready` or the first `set` or `lend`. */
export function openVault(options: VaultOptions): Vault {
  const keyring = createKeyring(options);
  const { store, ledger, environmentKey, nextEnvironmentKey } = options;
  const addToMask = (secret: Secret): Secret => {
    options.mask?.add(secret.reveal());
    return secret;
  };
  for (const key of [environmentKey, nextEnvironmentKey]) if (key !== undefined) options.mask?.add(key);
  const close = async (): Promise<void> => keyring.forget();
  const refresh = async (): Promise<void> => {
    await keyring.key();
    await withdrawKey(store.meta, options.now());
  };
  /** Without the vault's own secrets. */
  const listOwn = async (): Promise<readonly SecretRow[]> =>
    (await store.secrets.list()).filter(({ name }) => !isReservedName(name));
  return {
    set: createSet(options, keyring, addToMask),
    lend: async (name, purpose, borrower = { actor: GATEWAY, detail: {} }) =>
      addToMask(await lendSecret(options, keyring, { name, purpose, borrower })),
    known: async (isMeant = () => true) => {
      const rows = (await listOwn()).filter(({ name }) => isMeant(name));
      const key = rows.length === 0 ? undefined : await keyring.key().catch(() => undefined);
      return key === undefined ? [] : rows.flatMap((row) => tryUnseal(row, key) ?? []).map(addToMask);
    },
    list: async () => (await listOwn()).map(({ name, version, createdAt }) => ({ name, version, setAt: createdAt })),
    remove: async (name, actor) => {
      refuseReserved(name);
      await ledger.write({ actor, action: "secret.removed", subject: name, detail: {} });
      return store.secrets.remove(name);
    },
    ready: async () => {
      await refresh();
      await finishRotation(options, keyring, GATEWAY);
    },
    refresh,
    isKeyOfEnvironment: environmentKey !== undefined,
    needsNewKey: environmentKey !== undefined && nextEnvironmentKey === undefined,
    openSeal: () => openSeal(options, keyring),
    rotate: (request) => rotateKey(options, keyring, request),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function createSet(
  { store, ledger, random }: VaultOptions,
  keyring: Keyring,
  addToMask: (secret: Secret) => void,
): Vault["set"] {
  return async (name, value, actor) => {
    addToMask(value);
    checkValue(value);
    refuseReserved(name);
    await keyring.key();
    const version = ((await store.secrets.find(name))?.version ?? 0) + 1;
    const { at } = await ledger.write({ actor, action: "secret.set", subject: name, detail: { version } });
    for (;;) {
      const key = await keyring.key();
      const row = { name, version, createdAt: at, ...seal(value, { name, version }, { key, random }) };
      // Refused after a rotation in between: sealed with the former key, it could never be opened.
      if (await store.secrets.put(row, key.check)) return;
    }
  };
}

interface Loan {
  readonly name: SecretName;
  readonly purpose: string;
  readonly borrower: Borrower;
}

/** Returns the value only after the loan is recorded. */
async function lendSecret({ store, ledger }: VaultOptions, keyring: Keyring, loan: Loan): Promise<Secret> {
  const { name, purpose, borrower } = loan;
  const record = async (action: string, detail: JsonObject): Promise<void> =>
    void (await ledger.write({ actor: borrower.actor, action, subject: name, detail }));
  const found = isReservedName(name) ? undefined : await findValue(store, keyring, name);
  if (found?.value) {
    await record("secret.lent", { purpose, ...borrower.detail, version: found.row.version });
    return found.value;
  }
  const reason = found ? "cannot be opened: its record was changed or moved" : "is not set";
  await record("secret.refused", { purpose, ...borrower.detail, reason });
  throw new GloveboxError("VAULT_SECRET_MISSING", `The secret ${name} ${reason}`, {
    hint: `Set it with \`glovebox secrets set ${name}\``,
  });
}

/** The value is `undefined` when it does not open. */
async function findValue({ secrets }: VaultOptions["store"], keyring: Keyring, name: SecretName) {
  // A secret that is not set needs no key.
  if (!(await secrets.find(name))) return undefined;
  for (;;) {
    const key = await keyring.key();
    const row = await secrets.find(name);
    if (!row) return undefined;
    const value = tryUnseal(row, key);
    // A row that does not open may have been wrapped with another key since this one was loaded.
    if (value || (await secrets.keyCheck()) === key.check) return { row, value };
  }
}

function checkValue(value: Secret): void {
  const plain = value.reveal();
  const bytes = Buffer.byteLength(plain);
  if (bytes > 0 && bytes <= VALUE_BYTES && plain.isWellFormed()) return;
  const message = `A secret has 1 to ${VALUE_BYTES} bytes of valid UTF-8, this one has ${bytes}`;
  throw new GloveboxError("REQUEST_INVALID", message, { hint: "Store longer values and binary data in a file" });
}

function refuseReserved(name: SecretName): void {
  if (!isReservedName(name)) return;
  throw new GloveboxError("REQUEST_INVALID", `The name ${name} is reserved for Glovebox`, {
    hint: "Choose a name that does not begin with glovebox_",
  });
}

export interface KeyWatchOptions {
  readonly vault: Pick<Vault, "refresh">;
  readonly everyMs: number;
  /** Called once when the key becomes unavailable, and again only after it was available in between. */
  readonly warn: (thrown: unknown) => void;
}

/**
 * Refreshes the key until disposed: a running gateway takes over the next key during a rotation, even when it lends
 * nothing at that time.
 */
export function watchKey({ vault, everyMs, warn }: KeyWatchOptions): AsyncDisposable {
  let hasWarned = false;
  return pollEvery(everyMs, async () => {
    try {
      await vault.refresh();
      hasWarned = false;
    } catch (thrown) {
      // A busy store is polled again; a caller that needs the key now gets the error itself.
      if (!(thrown instanceof GloveboxError) || thrown.code !== "CONFIG_INVALID" || hasWarned) return;
      hasWarned = true;
      warn(thrown);
    }
  });
}

/** Replaces secret references by their values. Returns each string as one secret. Rejects when a secret is missing. */
export async function fillTemplates(
  templates: Readonly<Record<string, SecretTemplate>>,
  vault: Pick<Vault, "lend">,
  purpose: string,
): Promise<Readonly<Record<string, Secret>>> {
  const entries = Object.entries(templates).map(async ([key, parts]): Promise<[string, Secret]> => {
    const texts = parts.map(async (part) =>
      typeof part === "string" ? part : (await vault.lend(part.secret, purpose)).reveal(),
    );
    return [key, new Secret((await Promise.all(texts)).join(""))];
  });
  return Object.fromEntries(await Promise.all(entries));
}
