/** Waits quietly for the servers of an execution that was put away for want of them: nothing is written down meanwhile. */

import { setTimeout as sleep } from "node:timers/promises";

import type { Approval, ApprovalRequests, CatalogSnapshot, ExecutionId, Principal } from "../../domain/index.ts";
import type { Store, StoredExecution } from "../../store/index.ts";

import { hasNoTools } from "./find-unchanged.ts";
import type { UsedTool } from "./find-unchanged.ts";
import type { Recording } from "../journal/events.ts";
import type { Journals } from "../journal/open-journals.ts";

const LOOK_MS = 1_000;

export interface AwaitDeps {
  readonly store: { readonly executions: Pick<Store["executions"], "find"> };
  readonly journals: Pick<Journals, "read">;
  readonly people: Pick<ApprovalRequests, "list">;
  snapshot(principal: Principal): Promise<CatalogSnapshot>;
  /** Fires when the gateway is about to end. */
  readonly leaving: AbortSignal;
}

/** False when nobody should go on with it here any more: the gateway ends, or it is no longer put away as it was. */
export async function awaitUpstreams(stored: StoredExecution, rooms: AwaitDeps): Promise<boolean> {
  const { id } = stored;
  const recording = await rooms.journals.read(id).catch(() => undefined);
  if (!recording) return true; // whoever goes on says what is wrong with it
  const known = listUsedTools(recording, await rooms.people.list({ execution: id }));
  while (!rooms.leaving.aborted) {
    const snapshot = await rooms.snapshot(recording.request.principal).catch(() => undefined);
    if (snapshot && !known.some((one) => hasNoTools(snapshot, one))) return true;
    await sleep(LOOK_MS, undefined, { signal: rooms.leaving }).catch(() => undefined);
    if (!(await isStillSuspended(id, stored, rooms))) return false;
  }
  return false;
}

/** Every tool that it used, or that a person was asked about for it. */
export function listUsedTools({ deliveries }: Recording, questions: readonly Approval[]): readonly UsedTool[] {
  const used = deliveries.flatMap(({ call }) => (call ? [{ ...call.record, definition: call.definition }] : []));
  return [...used, ...questions];
}

async function isStillSuspended(id: ExecutionId, { owner, ending }: StoredExecution, { store }: AwaitDeps) {
  const now = await store.executions.find(id);
  return now?.ending?.state === "paused" && now.owner === owner && now.ending.endedAt === ending?.endedAt;
}
