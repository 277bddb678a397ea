/** Keeps secrets sealed in the store and lends them to one use at a time. Every use and change is in the ledger, by name. */

import type { Ledger } from "../audit/index.ts";
import { GloveboxError } from "../domain/index.ts";
import type { Instant, SecretName } from "../domain/index.ts";
import type { SecretRow, Store } from "../store/index.ts";

import { loadKey } from "./load-key.ts";
import type { KeyOptions } from "./load-key.ts";
import { seal, unseal } from "./seal.ts";
import type { MasterKey } from "./seal.ts";
import { Secret } from "./secret.ts";

/** Room for a private key or a service account file. */
const VALUE_BYTES = 64 * 1024;
/** The gateway itself asks when it lends; the purpose says for what. */
const GATEWAY = "gateway";

/** What a vault is made of. */
export interface VaultOptions extends KeyOptions {
  readonly store: Pick<Store, "meta" | "secrets">;
  readonly ledger: Pick<Ledger, "write">;
}

/** What may be told about a secret. */
export interface SecretSummary {
  readonly name: SecretName;
  /** Counts how often it was set. */
  readonly version: number;
  readonly setAt: Instant;
}

/** It owns neither the store nor the ledger. */
export interface Vault extends AsyncDisposable {
  /** Replaces an earlier value. REQUEST_INVALID for a value that is empty or above 64 KiB. */
  set(name: SecretName, value: Secret, actor: string): Promise<void>;
  /** For one use; do not keep it. VAULT_SECRET_MISSING when it was never set or cannot be opened. */
  lend(name: SecretName, purpose: string): Promise<Secret>;
  /** Sorted by name. Needs no key. */
  list(): Promise<readonly SecretSummary[]>;
  /** False when there was none. Needs no key. */
  remove(name: SecretName, actor: string): Promise<boolean>;
  /** Forgets the key; idempotent. A later use looks for the key again. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Lazy: the key is not looked for, made or checked before the first secret is set or lent. */
export function openVault(options: VaultOptions): Vault {
  const keyring = createKeyring(options);
  const close = async (): Promise<void> => keyring.forget();
  return {
    set: (name, value, actor) => setSecret(options, keyring.key, { name, value, actor }),
    lend: (name, purpose) => lendSecret(options, keyring.key, { name, purpose }),
    list: async () => (await options.store.secrets.list()).map(toSummary),
    remove: async (name, actor) => {
      await options.ledger.write({ actor, action: "secret.removed", subject: name, detail: {} });
      return options.store.secrets.remove(name);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Loads the key once, however many ask at the same time; after a failure the next one tries again. */
function createKeyring(options: VaultOptions): { readonly key: () => Promise<MasterKey>; readonly forget: () => void } {
  let loading: Promise<MasterKey> | undefined;
  const key = async (): Promise<MasterKey> => {
    loading ??= loadKey(options);
    try {
      return await loading;
    } catch (thrown) {
      loading = undefined;
      throw thrown;
    }
  };
  const forget = (): void => {
    loading = undefined;
  };
  return { key, forget };
}

interface Setting {
  readonly name: SecretName;
  readonly value: Secret;
  readonly actor: string;
}

async function setSecret(options: VaultOptions, findKey: () => Promise<MasterKey>, setting: Setting): Promise<void> {
  const { store, ledger, random } = options;
  const { name, value, actor } = setting;
  const plain = parseValue(value);
  const key = await findKey();
  const version = ((await store.secrets.find(name))?.version ?? 0) + 1;
  const { at } = await ledger.write({ actor, action: "secret.set", subject: name, detail: { version } });
  await store.secrets.put({ name, version, createdAt: at, ...seal(plain, { name, version }, { key, random }) });
}

interface Loan {
  readonly name: SecretName;
  readonly purpose: string;
}

async function lendSecret(options: VaultOptions, findKey: () => Promise<MasterKey>, loan: Loan): Promise<Secret> {
  const row = await options.store.secrets.find(loan.name);
  if (!row) throw await refuse(options, loan, "is not set");
  const key = await findKey();
  const detail = { purpose: loan.purpose, version: row.version };
  await options.ledger.write({ actor: GATEWAY, action: "secret.lent", subject: loan.name, detail });
  const value = open(row, key);
  if (!value) throw await refuse(options, loan, "cannot be opened: its record was changed or moved");
  return value;
}

/** Why it failed is of no use to anybody but a forger. */
function open(row: SecretRow, key: MasterKey): Secret | undefined {
  try {
    return new Secret(unseal(row, row, key));
  } catch {
    return undefined;
  }
}

async function refuse({ ledger }: VaultOptions, { name, purpose }: Loan, reason: string): Promise<GloveboxError> {
  await ledger.write({ actor: GATEWAY, action: "secret.refused", subject: name, detail: { purpose, reason } });
  return new GloveboxError("VAULT_SECRET_MISSING", `The secret ${name} ${reason}`, {
    hint: `Set it with \`glovebox secrets set ${name}\``,
  });
}

function parseValue(value: Secret): string {
  const plain = value.reveal();
  const bytes = Buffer.byteLength(plain);
  if (bytes > 0 && bytes <= VALUE_BYTES && plain.isWellFormed()) return plain;
  throw new GloveboxError(
    "REQUEST_INVALID",
    `A secret has 1 to ${VALUE_BYTES} bytes of valid text, this one ${bytes}`,
    {
      hint: "Store longer values, or ones that are not text, in a file of their own",
    },
  );
}

function toSummary({ name, version, createdAt }: SecretRow): SecretSummary {
  return { name, version, setAt: createdAt };
}
