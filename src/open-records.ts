/** What is kept, opened without the rest of the gateway: for the commands that start no upstream. */

import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";

import { openLedger } from "./audit/index.ts";
import type { Ledger } from "./audit/index.ts";
import { openHeldDefinitions } from "./catalog/index.ts";
import type { HeldDefinitions } from "./catalog/index.ts";
import type { Settings } from "./config/index.ts";
import { addRestart } from "./connectors/index.ts";
import type { ConnectorId } from "./domain/index.ts";
import { openStore } from "./store/index.ts";
import type { Store } from "./store/index.ts";
import { openVault } from "./vault/index.ts";
import type { Vault } from "./vault/index.ts";
import { cleanDescription } from "./host-powers.ts";

/** Where the command line leaves word for running gateways. */
export const RESTARTS = "restarts";

interface Records {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly close: () => Promise<void>;
}

/** For the commands that only look at what is kept: no upstream is started. */
async function openRecords(settings: Settings): Promise<Records> {
  const store = await openStore({ path: settings.store.path, now: Date.now });
  const ledger = await openLedger({ store, now: Date.now });
  const close = async (): Promise<void> => {
    await ledger.close();
    await store.close();
  };
  return { store, ledger, close };
}

/** Closing it closes the store behind it. */
export async function openLedgerAlone(settings: Settings): Promise<Ledger> {
  const { ledger, close } = await openRecords(settings);
  return { ...ledger, close, [Symbol.asyncDispose]: close };
}

/** What servers wait for, without starting one. Closing it closes the ledger and the store behind it. */
export async function openHeldAlone(settings: Settings): Promise<HeldDefinitions & AsyncDisposable> {
  const { store, ledger, close } = await openRecords(settings);
  return { ...openHeld(store, ledger), [Symbol.asyncDispose]: close };
}

/** Shared by a whole gateway and by the command that only approves. */
export function openHeld(store: Store, ledger: Ledger): HeldDefinitions {
  return openHeldDefinitions({
    store: store.pins,
    record: (entry) => ledger.write(entry),
    clean: cleanDescription,
    now: Date.now,
  });
}

/** Written to the ledger first, like everything that a person does to a running gateway. */
export async function requestRestart(settings: Settings, upstream: ConnectorId, actor: string): Promise<void> {
  const { store, ledger, close } = await openRecords(settings);
  try {
    await ledger.write({ actor, action: "upstream.restart", subject: upstream, detail: {} });
    await store.meta.set(RESTARTS, addRestart(await store.meta.get(RESTARTS), upstream, Date.now()));
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

/** The key comes from the environment, or from a file beside the store. */
export function createVault(settings: Settings, store: Store, ledger: Ledger): Vault {
  const environmentKey = process.env["GLOVEBOX_ENCRYPTION_KEY"];
  const folder = settings.store.path === ":memory:" ? settings.folder : dirname(settings.store.path);
  return openVault({
    store,
    ledger,
    keyFile: join(folder, "glovebox.key"),
    random: randomBytes,
    ...(environmentKey !== undefined && { environmentKey }),
  });
}
