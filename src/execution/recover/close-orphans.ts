/**
 * Gives executions their last record that ended in the store only: a process can be killed between the two. Those that
 * did not end at all are brought to their end by `recover.ts`.
 */

import type { Ledger } from "../../ledger/index.ts";
import { parseExecutionId } from "../../domain/index.ts";
import type { ExecutionId } from "../../domain/index.ts";
import type { Store, StoredExecution } from "../../store/index.ts";

import { describeEnd } from "../run/execution-log.ts";
import { parseResult } from "../history/view-execution.ts";

export interface OrphanOptions {
  readonly store: Pick<Store, "executions" | "ledger">;
  readonly ledger: Pick<Ledger, "write">;
  /** True when the process of this name has certainly ended. */
  readonly hasEnded: (owner: string) => boolean;
}

/** How many records of executions are looked at: more than can have been under way when the last process was killed. */
const LOOKED_AT = 1_000;

/** Before anything is executed. Answers how many it closed. */
export async function closeOrphans(options: OrphanOptions): Promise<number> {
  const { store, ledger } = options;
  let closed = 0;
  for (const id of await findOpen(store)) {
    const row = await store.executions.find(id);
    if (row && (!row.ending || row.ending.state === "paused" || isRunning(row, options))) continue;
    const end = row?.ending ? describeStored(row.ending.result) : { state: "failed", code: "SANDBOX_CRASHED" };
    await ledger.write({ actor: "gateway", action: "execution.closed", subject: id, detail: { ...end, late: true } });
    closed += 1;
  }
  return closed;
}

/** Opened in the ledger, and not closed there. */
async function findOpen({ ledger }: OrphanOptions["store"]): Promise<readonly ExecutionId[]> {
  const records = await ledger.search({ limit: LOOKED_AT, action: "execution" });
  const closed = new Set(records.filter(({ action }) => action === "execution.closed").map(({ subject }) => subject));
  const open = records.filter(({ action, subject }) => action === "execution.opened" && !closed.has(subject));
  return open.flatMap(({ subject }) => parseExecutionId(subject) ?? []);
}

/** Its own process may be about to write the record. */
function isRunning({ owner }: StoredExecution, { hasEnded }: OrphanOptions): boolean {
  return owner !== undefined && !hasEnded(owner);
}

function describeStored(text: string) {
  return describeEnd(parseResult(text), text);
}
