/** Keeps secrets sealed in the store and lends them to one use at a time. Every use and change is in the ledger, by name. */

import type { Ledger } from "../ledger/index.ts";
import { GloveboxError } from "../domain/index.ts";
import type { Instant, JsonObject, Seal, SecretName } from "../domain/index.ts";
import type { SecretRow } from "../store/index.ts";

import { createKeyring } from "./keyring.ts";
import type { Keyring } from "./keyring.ts";
import type { KeyOptions } from "./load-key.ts";
import type { Mask } from "./mask.ts";
import { withdrawKey } from "./hand-over.ts";
import { isReservedName, openSeal } from "./open-seal.ts";
import { finishRotation, rotateKey } from "./rotate-key.ts";
import type { Rotation, RotationRequest } from "./rotate-key.ts";
import { seal, unseal } from "./seal.ts";
import type { MasterKey } from "./seal.ts";
import type { Secret } from "./secret.ts";

/** Room for a private key or a service account file. */
const VALUE_BYTES = 64 * 1024;
/** The gateway itself asks when it lends; the purpose says for what. */
const GATEWAY = "gateway";

/** What a vault is made of. */
export interface VaultOptions extends KeyOptions {
  readonly ledger: Pick<Ledger, "write">;
  /** Learns the keys of the environment, and every value that is set, lent or returned by `known`. */
  readonly mask?: Pick<Mask, "add">;
}

/** What may be told about a secret. */
export interface SecretSummary {
  readonly name: SecretName;
  /** Counts how often it was set. */
  readonly version: number;
  readonly setAt: Instant;
}

/** Who is lent a secret, where it is not the gateway itself that uses it. */
export interface Borrower {
  readonly actor: string;
  /** What the record says besides. */
  readonly detail: JsonObject;
}

/** It owns neither the store nor the ledger. */
export interface Vault extends AsyncDisposable {
  /** Replaces an earlier value. REQUEST_INVALID for a value that is empty or above 64 KiB. */
  set(name: SecretName, value: Secret, actor: string): Promise<void>;
  /** For one use; do not keep it. VAULT_SECRET_MISSING when it was never set or cannot be opened. */
  lend(name: SecretName, purpose: string, borrower?: Borrower): Promise<Secret>;
  /**
   * Every secret that can be opened, or those with certain names, to be hidden wherever it shows: nobody is lent
   * anything, so nothing is recorded. Empty without a key that fits.
   */
  known(isMeant?: (name: SecretName) => boolean): Promise<readonly Secret[]>;
  /** Sorted by name. Needs no key. */
  list(): Promise<readonly SecretSummary[]>;
  /** False when there was none. Needs no key. */
  remove(name: SecretName, actor: string): Promise<boolean>;
  /** At a start: makes the key of a new store, refuses a wrong one, and finishes a rotation that was cut short. */
  ready(): Promise<void>;
  /** Once in a while: takes the next key over after a rotation. Rejects as `ready` when it cannot be had. */
  refresh(): Promise<void>;
  /** True when the key comes from the environment, where a person has to change it. */
  readonly isKeyOfEnvironment: boolean;
  /** True when a rotation has to be given the new key: the environment names the one in use and no other. */
  readonly needsNewKey: boolean;
  /** For what records keep of programs. */
  openSeal(): Promise<Seal>;
  /** Wraps every secret with another key. What others do meanwhile succeeds, with the one key or the other. */
  rotate(request: RotationRequest): Promise<Rotation>;
  /** Forgets the key; idempotent. A later use looks for the key again. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Lazy: the key is not looked for, made or checked before `ready`, or the first secret is set or lent. */
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

interface Setting {
  readonly name: SecretName;
  readonly value: Secret;
  readonly actor: string;
}

async function setSecret(options: VaultOptions, keyring: Keyring, setting: Setting): Promise<void> {
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
    // Refused when a rotation came in between: sealed with the former key it could never be opened.
    if (await store.secrets.put(row, key.check)) return;
  }
}

interface Loan {
  readonly name: SecretName;
  readonly purpose: string;
  readonly borrower: Borrower;
}

/** The value leaves only after the loan is written down. */
async function lendSecret(options: VaultOptions, keyring: Keyring, loan: Loan): Promise<Secret> {
  const found = isReservedName(loan.name) ? undefined : await findValue(options, keyring, loan.name);
  if (!found) throw await refuse(options, loan, "is not set");
  if (!found.value) throw await refuse(options, loan, "cannot be opened: its record was changed or moved");
  const { actor, detail: said } = loan.borrower;
  const detail = { purpose: loan.purpose, ...said, version: found.row.version };
  await options.ledger.write({ actor, action: "secret.lent", subject: loan.name, detail });
  return found.value;
}

interface Opened {
  readonly row: SecretRow;
  /** Absent when it does not open. */
  readonly value: Secret | undefined;
}

async function findValue({ store }: VaultOptions, keyring: Keyring, name: SecretName): Promise<Opened | undefined> {
  const { secrets } = store;
  // One that is not set needs no key.
  if (!(await secrets.find(name))) return undefined;
  for (;;) {
    const key = await keyring.key();
    const row = await secrets.find(name);
    if (!row) return undefined;
    const value = open(row, key);
    // A row that does not open may have been wrapped with another key since that was loaded.
    if (value || (await secrets.keyCheck()) === key.check) return { row, value };
  }
}

/** Those of people; the vault's own are nobody's business. */
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

/** Why it failed is of no use to anybody but a forger. */
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
    `A secret has 1 to ${VALUE_BYTES} bytes of valid text, this one ${bytes}`,
    {
      hint: "Store longer values, or ones that are not text, in a file of their own",
    },
  );
}

function refuseReserved(name: SecretName): void {
  if (!isReservedName(name)) return;
  throw new GloveboxError("REQUEST_INVALID", `The name ${name} is kept for Glovebox itself`, {
    hint: "Choose one that does not begin with glovebox_",
  });
}

function toSummary({ name, version, createdAt }: SecretRow): SecretSummary {
  return { name, version, setAt: createdAt };
}
