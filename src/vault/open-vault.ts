/** Keeps secrets sealed in the store and lends them for one use at a time. The ledger records every use and change by name. */

import type { Ledger } from "../ledger/index.ts";
import { GloveboxError } from "../domain/index.ts";
import type { SecretName } from "../domain/index.ts";
import type { SecretRow } from "../store/index.ts";

import { createKeyring } from "./keys/keyring.ts";
import type { Keyring } from "./keys/keyring.ts";
import type { KeyOptions } from "./keys/load-key.ts";
import type { Mask } from "./mask.ts";
import { withdrawKey } from "./keys/hand-over.ts";
import { openSeal } from "./open-seal.ts";
import { finishRotation, rotateKey } from "./keys/rotate-key.ts";
import type { Borrower, SecretSummary, Vault } from "./vault.ts";
import { isReservedName, seal, unseal } from "./seal.ts";
import type { MasterKey } from "./seal.ts";
import type { Secret } from "./secret.ts";

/** Enough for a private key or a service account file. */
const VALUE_BYTES = 64 * 1024;
/** The actor of loans to the gateway itself; the purpose tells them apart. */
const GATEWAY = "gateway";

export interface VaultOptions extends KeyOptions {
  readonly ledger: Pick<Ledger, "write">;
  /** Learns the keys of the environment, and every value that is set, lent or returned by `known`. */
  readonly mask?: Pick<Mask, "add">;
}

/** Lazy: the key is not loaded, created or checked before `ready` or the first `set` or `lend`. */
export function openVault(options: VaultOptions): Vault {
  const keyring = createKeyring(options);
  const { secrets, meta } = options.store;
  const addToMask = (secret: Secret): Secret => {
    options.mask?.add(secret.reveal());
    return secret;
  };
  for (const key of [options.environmentKey, options.nextEnvironmentKey]) if (key !== undefined) options.mask?.add(key);
  const close = async (): Promise<void> => keyring.forget();
  const refresh = async (): Promise<void> => {
    await keyring.key();
    await withdrawKey(meta, options.now());
  };
  return {
    set: (name, value, actor) => {
      addToMask(value);
      return setSecret(options, keyring, { name, value, actor });
    },
    lend: async (name, purpose, borrower = { actor: GATEWAY, detail: {} }) =>
      addToMask(await lendSecret(options, keyring, { name, purpose, borrower })),
    known: async (isMeant = () => true) => (await openAll(options, keyring, isMeant)).map(addToMask),
    list: async () => (await listOwn(options)).map(toSummary),
    remove: async (name, actor) => {
      refuseReserved(name);
      await options.ledger.write({ actor, action: "secret.removed", subject: name, detail: {} });
      return secrets.remove(name);
    },
    ready: async () => {
      await refresh();
      await finishRotation(options, keyring, GATEWAY);
    },
    refresh,
    isKeyOfEnvironment: options.environmentKey !== undefined,
    needsNewKey: options.environmentKey !== undefined && options.nextEnvironmentKey === undefined,
    openSeal: () => openSeal(options, keyring),
    rotate: (request) => rotateKey(options, keyring, request),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface NewValue {
  readonly name: SecretName;
  readonly value: Secret;
  readonly actor: string;
}

async function setSecret(options: VaultOptions, keyring: Keyring, setting: NewValue): Promise<void> {
  const { store, ledger, random } = options;
  const { name, value, actor } = setting;
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
}

interface Loan {
  readonly name: SecretName;
  readonly purpose: string;
  readonly borrower: Borrower;
}

/** Returns the value only after the loan is recorded. */
async function lendSecret(options: VaultOptions, keyring: Keyring, loan: Loan): Promise<Secret> {
  const found = isReservedName(loan.name) ? undefined : await findValue(options, keyring, loan.name);
  if (!found) throw await refuse(options, loan, "is not set");
  if (!found.value) throw await refuse(options, loan, "cannot be opened: its record was changed or moved");
  const { actor, detail: borrowed } = loan.borrower;
  const detail = { purpose: loan.purpose, ...borrowed, version: found.row.version };
  await options.ledger.write({ actor, action: "secret.lent", subject: loan.name, detail });
  return found.value;
}

interface FoundSecret {
  readonly row: SecretRow;
  /** `undefined` when it does not open. */
  readonly value: Secret | undefined;
}

async function findValue(
  { store }: VaultOptions,
  keyring: Keyring,
  name: SecretName,
): Promise<FoundSecret | undefined> {
  const { secrets } = store;
  // A secret that is not set needs no key.
  if (!(await secrets.find(name))) return undefined;
  for (;;) {
    const key = await keyring.key();
    const row = await secrets.find(name);
    if (!row) return undefined;
    const value = open(row, key);
    // A row that does not open may have been wrapped with another key since this one was loaded.
    if (value || (await secrets.keyCheck()) === key.check) return { row, value };
  }
}

/** Without the vault's own secrets. */
async function listOwn({ store }: VaultOptions): Promise<readonly SecretRow[]> {
  return (await store.secrets.list()).filter(({ name }) => !isReservedName(name));
}

async function openAll(
  options: VaultOptions,
  keyring: Keyring,
  isMeant: (name: SecretName) => boolean,
): Promise<readonly Secret[]> {
  const rows = (await listOwn(options)).filter(({ name }) => isMeant(name));
  const key = rows.length === 0 ? undefined : await keyring.key().catch(() => undefined);
  return key === undefined ? [] : rows.flatMap((row) => open(row, key) ?? []);
}

/** Hides why it failed: only a forger could use that. */
function open(row: SecretRow, key: MasterKey): Secret | undefined {
  try {
    return unseal(row, row, key);
  } catch {
    return undefined;
  }
}

async function refuse({ ledger }: VaultOptions, loan: Loan, reason: string): Promise<GloveboxError> {
  const { name, purpose, borrower } = loan;
  const detail = { purpose, ...borrower.detail, reason };
  await ledger.write({ actor: borrower.actor, action: "secret.refused", subject: name, detail });
  return new GloveboxError("VAULT_SECRET_MISSING", `The secret ${name} ${reason}`, {
    hint: `Set it with \`glovebox secrets set ${name}\``,
  });
}

function checkValue(value: Secret): void {
  const plain = value.reveal();
  const bytes = Buffer.byteLength(plain);
  if (bytes > 0 && bytes <= VALUE_BYTES && plain.isWellFormed()) return;
  throw new GloveboxError(
    "REQUEST_INVALID",
    `A secret has 1 to ${VALUE_BYTES} bytes of valid UTF-8, this one has ${bytes}`,
    {
      hint: "Store longer values and binary data in a file",
    },
  );
}

function refuseReserved(name: SecretName): void {
  if (!isReservedName(name)) return;
  throw new GloveboxError("REQUEST_INVALID", `The name ${name} is reserved for Glovebox`, {
    hint: "Choose a name that does not begin with glovebox_",
  });
}

function toSummary({ name, version, createdAt }: SecretRow): SecretSummary {
  return { name, version, setAt: createdAt };
}
