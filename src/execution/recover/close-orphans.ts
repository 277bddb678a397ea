/**
 * Writes the missing end record of executions that were closed in the store only: a process can be killed between store
 * and ledger. Executions without any end are handled by `recover-executions.ts`.
 */

import { parseExecutionId } from "../../domain/index.ts";
import type { ExecutionId } from "../../domain/index.ts";
import type { Ledger, LedgerEntry } from "../../ledger/index.ts";
import type { Store } from "../../store/index.ts";

import { describeEnd } from "../execution-log.ts";
import { parseStoredResult } from "../journal-schema.ts";

interface OrphanOptions {
  readonly store: Pick<Store, "executions" | "ledger">;
  readonly ledger: Pick<Ledger, "head" | "writeAfter">;
  /** True when the process of this name has certainly ended. */
  readonly hasEnded: (owner: string) => boolean;
}

/** How many records are searched: more than there can have been running executions when the last process was killed. */
const MOST_RECORDS = 1_000;

/** How many records are written at once. */
const BATCH = 256;
/** How many times other processes may write first. The next start tries again. */
const ATTEMPTS = 100;

/**
 * Must run before the first execution. Returns how many records it wrote. Several gateways may start at the same time: a
 * record is written only if the ledger is still as it was when this process found that it lacks one.
 */
export async function closeOrphans({ store, ledger, hasEnded }: OrphanOptions): Promise<number> {
  let closed = 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const head = await ledger.head();
    const missing = (await findMissing(store, hasEnded)).slice(0, BATCH);
    if (missing.length === 0) break;
    if (await ledger.writeAfter(head, missing)) closed += missing.length;
  }
  return closed;
}

async function findMissing(
  store: OrphanOptions["store"],
  hasEnded: OrphanOptions["hasEnded"],
): Promise<readonly LedgerEntry[]> {
  const missing: LedgerEntry[] = [];
  for (const id of await findOpen(store)) {
    const { ending, owner } = (await store.executions.find(id)) ?? { ending: undefined, owner: undefined };
    // A process that runs may be about to write the record.
    if (ending === null || ending?.state === "paused" || (owner !== undefined && !hasEnded(owner))) continue;
    const end = ending
      ? describeEnd(parseStoredResult(id, ending.result), ending.result)
      : { state: "failed", code: "SANDBOX_CRASHED" };
    missing.push({ actor: "gateway", action: "execution.closed", subject: id, detail: { ...end, late: true } });
  }
  return missing;
}

/** Executions that the ledger opened and did not close. */
async function findOpen({ ledger }: OrphanOptions["store"]): Promise<readonly ExecutionId[]> {
  const records = await ledger.search({ limit: MOST_RECORDS, action: "execution" });
  const closed = new Set(records.filter(({ action }) => action === "execution.closed").map(({ subject }) => subject));
  const open = records.filter(({ action, subject }) => action === "execution.opened" && !closed.has(subject));
  return open.flatMap(({ subject }) => parseExecutionId(subject) ?? []);
}
