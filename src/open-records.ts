/** What is kept, opened without the rest of the gateway: for the commands that start no upstream. */

import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";

import { createSigner, openReader, openSignedLedger } from "./ledger/index.ts";
import type { Ledger, LedgerReader, SignedLedgerOptions, Signer } from "./ledger/index.ts";
import { openHeldDefinitions } from "./catalog/index.ts";
import type { HeldDefinitions } from "./catalog/index.ts";
import type { Settings } from "./config/index.ts";
import { requestRestart as leaveRestart } from "./connectors/index.ts";
import type { ConnectorId } from "./domain/index.ts";
import { openStore, openStoreToRead } from "./store/index.ts";
import type { Store } from "./store/index.ts";
import { findSigningKey, loadSigningKey, openVault } from "./vault/index.ts";
import type { Vault } from "./vault/index.ts";
import { drawBytes } from "./draw-bytes.ts";
import { cleanDescription, mask } from "./host-powers.ts";

/** Where it says that definitions were approved: another text each time. */
export const APPROVALS = "approvals";

export interface Records {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly close: () => Promise<void>;
}

/** For the commands that only look at what is kept: no upstream is started. */
export async function openRecords(settings: Settings): Promise<Records> {
  const store = await openStore({ path: settings.store.path, now: Date.now });
  const { ledger } = await openLedgerOf(settings, store);
  const close = async (): Promise<void> => {
    await ledger.close();
    await store.close();
  };
  return { store, ledger, close };
}

interface OpenedLedger {
  readonly ledger: Ledger;
  readonly signer: Signer;
  readonly seed: Uint8Array;
}

/** The ledger of a store, signed with the key beside it, which is made on first use. The caller closes it first. */
export async function openLedgerOf(
  settings: Settings,
  store: Store,
  heard: Pick<SignedLedgerOptions, "onAppended" | "onCommitted"> = {},
): Promise<OpenedLedger> {
  const headFile = toHeadFile(settings);
  const { seed, isNew } =
    headFile === undefined
      ? { seed: randomBytes(SEED_BYTES), isNew: true }
      : loadSigningKey(toKeyFile(settings), randomBytes);
  const signer = createSigner(seed);
  const where = headFile === undefined ? {} : { headFile };
  const ledger = await openSignedLedger({
    store,
    now: Date.now,
    signer,
    isNewKey: isNew,
    hide: mask.hide,
    ...where,
    ...heard,
  });
  return { ledger, signer, seed };
}

/** For the commands that look at the ledger: neither a store nor a key nor a record is made. Closing it closes the store. */
export async function openReaderAlone(settings: Settings): Promise<LedgerReader & AsyncDisposable> {
  const headFile = toHeadFile(settings);
  const seed = headFile === undefined ? undefined : findSigningKey(toKeyFile(settings));
  const store = await openStoreToRead({ path: settings.store.path, now: Date.now });
  const reader = openReader({
    store,
    now: Date.now,
    ...(seed && { signer: createSigner(seed) }),
    ...(headFile !== undefined && { headFile }),
  });
  return { ...reader, [Symbol.asyncDispose]: () => store.close() };
}

const SEED_BYTES = 32;

/** A store in memory ends with the process, and so does what was signed in it. */
function toHeadFile({ store }: Settings): string | undefined {
  return store.path === ":memory:" ? undefined : `${store.path}.head`;
}

function toKeyFile({ store }: Settings): string {
  return join(dirname(store.path), "ledger.key");
}

/** What servers wait for, without starting one. Closing it closes the ledger and the store behind it. */
export async function openHeldAlone(settings: Settings): Promise<HeldDefinitions & AsyncDisposable> {
  const { store, ledger, close } = await openRecords(settings);
  return { ...openHeld(store, ledger), [Symbol.asyncDispose]: close };
}

/** Shared by a whole gateway and by the command that only approves. */
export function openHeld(store: Store, ledger: Ledger): HeldDefinitions {
  const held = openHeldDefinitions({
    store: store.pins,
    record: (entry) => ledger.write(entry),
    clean: cleanDescription,
    now: Date.now,
  });
  return {
    ...held,
    approve: async (request, show) => {
      const approved = await held.approve(request, show);
      await store.meta.set(APPROVALS, randomBytes(8).toString("hex"));
      return approved;
    },
  };
}

/** Written to the ledger first, like everything that a person does to a running gateway. */
export async function requestRestart(settings: Settings, upstream: ConnectorId, actor: string): Promise<void> {
  const { store, ledger, close } = await openRecords(settings);
  try {
    await ledger.write({ actor, action: "upstream.restart", subject: upstream, detail: {} });
    await leaveRestart(store.meta, upstream, Date.now());
  } finally {
    await close();
  }
}

/** Closing it closes the ledger and the store behind it. */
export async function openVaultAlone(settings: Settings): Promise<Vault> {
  const { store, ledger, close: closeRecords } = await openRecords(settings);
  const vault = createVault(settings, store, ledger);
  const close = (): Promise<void> => vault.close().then(closeRecords);
  return { ...vault, close, [Symbol.asyncDispose]: close };
}

/** Those that are set are hidden from now on, also from those who do not use them. */
export async function hideSecrets(vault: Vault): Promise<void> {
  for (const secret of await vault.known()) mask.add(secret.reveal());
}

/** The key comes from the environment, or from a file beside the store. What is set or lent is hidden from then on. */
export function createVault({ store: { path } }: Settings, store: Store, ledger: Ledger): Vault {
  const given = process.env["GLOVEBOX_ENCRYPTION_KEY"];
  const nextEnvironmentKey = process.env["GLOVEBOX_NEW_ENCRYPTION_KEY"];
  // What is sealed in memory ends with the process, and so does its key.
  const environmentKey = given ?? (path === ":memory:" ? randomBytes(SEED_BYTES).toString("hex") : undefined);
  for (const key of [environmentKey, nextEnvironmentKey]) if (key !== undefined) mask.add(key);
  const vault = openVault({
    store,
    ledger,
    keyFile: join(dirname(path), "glovebox.key"),
    random: drawBytes,
    now: Date.now,
    ...(environmentKey !== undefined && { environmentKey }),
    ...(nextEnvironmentKey !== undefined && { nextEnvironmentKey }),
  });
  return {
    ...vault,
    set: (name, value, actor) => {
      mask.add(value.reveal());
      return vault.set(name, value, actor);
    },
    lend: async (name, purpose, borrower) => {
      const secret = await vault.lend(name, purpose, borrower);
      mask.add(secret.reveal());
      return secret;
    },
  };
}
