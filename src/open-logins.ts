/** Logins for the command line. */

import { createLease, createLogins, createLoginStore, requestRestart } from "./connectors/index.ts";
import type { Logins } from "./connectors/index.ts";
import type { Settings } from "./config/index.ts";
import { openEgressOf } from "./create-network.ts";
import { drawBytes } from "./draw-bytes.ts";
import { createVault, openRecords } from "./open-records.ts";
import type { Store } from "./store/index.ts";

export function leaseOf(store: Store): ReturnType<typeof createLease> {
  return createLease({ places: store.quotas, now: Date.now, createHolder: () => drawBytes(12).toString("hex") });
}

/** What the command line needs for `servers login` and `servers logout`. Closing it closes everything behind it. */
export async function openLoginsAlone(settings: Settings): Promise<Logins & AsyncDisposable> {
  const { store, ledger, close } = await openRecords(settings);
  const vault = createVault(settings, store, ledger);
  const egress = openEgressOf(settings, vault);
  const holdLease = leaseOf(store);
  const logins = createLogins({
    upstreams: settings.upstreams,
    store: createLoginStore({ values: store.meta, vault, holdLease, onToken: () => undefined }),
    egress,
    vault,
    record: (entry) => ledger.write(entry),
    requestRestart: (id) => requestRestart(store.meta, id, Date.now()),
    now: Date.now,
  });
  return {
    ...logins,
    async [Symbol.asyncDispose]() {
      await egress[Symbol.asyncDispose]();
      await vault.close();
      await close();
    },
  };
}
