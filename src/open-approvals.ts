/** The queue of questions to people: for a whole gateway, and by itself for the commands that decide. */

import type { Ledger } from "./ledger/index.ts";
import { findChange } from "./catalog/index.ts";
import type { Settings } from "./config/index.ts";
import { createDesk, openApprovals } from "./policy/index.ts";
import type { ApprovalDesk, Approvals } from "./policy/index.ts";
import type { Store } from "./store/index.ts";
import { findPlaintextCredentials } from "./vault/index.ts";
import type { Vault } from "./vault/index.ts";
import { createApprovalId, mask, warnOperator } from "./host-powers.ts";
import { createVault, hideSecrets, openRecords } from "./open-records.ts";

interface QueueParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly vault: Pick<Vault, "openSeal">;
}

/** The caller closes it before the ledger and the store. */
export async function openQueue({ approvals }: Settings, { store, ledger, vault }: QueueParts): Promise<Approvals> {
  return openApprovals({
    store,
    ledger,
    seal: await vault.openSeal(),
    now: Date.now,
    createId: createApprovalId,
    expiryMs: approvals.expiryMs,
    warn: warnOperator,
  });
}

/** What an operator's surface has of the queue. */
export function openDesk(approvals: Approvals, store: Store): ApprovalDesk {
  return createDesk({
    approvals,
    store,
    hide: mask.hide,
    findChange: (approval) => findChange(store.pins, approval),
  });
}

/** Starts no upstream, and works beside gateways that run. Closing it closes everything behind it. */
export async function openDeskAlone(settings: Settings): Promise<ApprovalDesk & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const { store, ledger, close } = await openRecords(settings);
  opened.defer(close);
  const vault = opened.use(createVault(settings, store, ledger));
  await hideKnown(settings, vault);
  const approvals = opened.use(await openQueue(settings, { store, ledger, vault }));
  const all = opened.move();
  return { ...openDesk(approvals, store), [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** A gateway learns its secrets when it uses them; whoever only looks has to be told. */
export async function hideKnown(settings: Settings, vault: Vault): Promise<void> {
  await hideSecrets(vault);
  for (const text of findPlaintextCredentials(settings)) mask.add(text);
}
