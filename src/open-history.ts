/** For the commands about executions, past and present: no upstream is started. */

import type { Settings } from "./config/index.ts";
import type { ExecutionId } from "./domain/index.ts";
import { createControl, createHistory } from "./execution/index.ts";
import type { ExecutionControl, ExecutionHistory } from "./execution/index.ts";
import { releaseLostQuota } from "./policy/index.ts";
import { hasEnded, nameProcess } from "./processes/index.ts";
import { openStoreToRead } from "./store/index.ts";
import { openQueue } from "./open-approvals.ts";
import { createVault, openRecords } from "./open-records.ts";

/** What was executed, to look at only: nothing is made or started. */
export async function openHistoryAlone(settings: Settings): Promise<ExecutionHistory & AsyncDisposable> {
  const store = await openStoreToRead({ path: settings.store.path, now: Date.now });
  const history = createHistory({ store, now: Date.now, ...toLeast(settings) });
  return { ...history, [Symbol.asyncDispose]: () => store.close() };
}

/** The same, with the power to end what another process runs. Closing it closes the ledger and the store behind it. */
export async function openControlAlone(settings: Settings): Promise<ExecutionControl & AsyncDisposable> {
  const { store, ledger, close } = await openRecords(settings);
  const withdraw = async (execution: ExecutionId): Promise<void> => {
    await using vault = createVault(settings, store, ledger);
    await using approvals = await openQueue(settings, { store, ledger, vault });
    await approvals.withdraw(execution);
  };
  const release = (execution: ExecutionId): Promise<void> => releaseLostQuota(execution, store.quotas);
  const powers = { hasEnded, withdraw, releaseQuota: release, owner: nameProcess(), now: Date.now };
  const control = createControl({ store, ledger, ...powers, ...toLeast(settings) });
  return { ...control, [Symbol.asyncDispose]: close };
}

/** What is claimed of an execution whose process said nothing about it. */
function toLeast({ sandbox: { engine } }: Settings) {
  return { engine, isolation: "process" } as const;
}
