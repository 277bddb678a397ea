/** The queue of questions to people. */

import type { Ledger } from "./audit/index.ts";
import type { Settings } from "./config/index.ts";
import { openApprovals } from "./policy/index.ts";
import type { Approvals } from "./policy/index.ts";
import type { Store } from "./store/index.ts";
import type { Vault } from "./vault/index.ts";
import { createApprovalId, warnOperator } from "./host-powers.ts";

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
