/** Waits for the upstreams of an execution that was suspended because one was unavailable. Writes no records meanwhile. */

import { setTimeout as sleep } from "node:timers/promises";

import type { Approval } from "../../domain/index.ts";
import type { StoredExecution } from "../../store/index.ts";
import { SECOND_MS } from "../../timing/index.ts";

import type { ExecutionDeps } from "../deps.ts";
import type { Recording } from "../journal.ts";
import { hasNoTools } from "./find-unchanged.ts";
import type { UsedTool } from "./find-unchanged.ts";

const POLL_MS = SECOND_MS;

type AwaitDeps = Pick<ExecutionDeps, "approvals" | "journals" | "snapshot" | "store"> & {
  readonly leaving: AbortSignal;
};

/** Returns false when this process should not resume it: the gateway closes, or it is no longer suspended as it was. */
export async function awaitUpstreams(stored: StoredExecution, deps: AwaitDeps): Promise<boolean> {
  const { id } = stored;
  const recording = await deps.journals.read(id).catch(() => undefined);
  if (!recording) return true; // resuming reports what is wrong with the journal
  const used = listUsedTools(recording, await deps.approvals.list({ execution: id }));
  while (!deps.leaving.aborted) {
    const snapshot = await deps.snapshot(recording.request.principal).catch(() => undefined);
    if (snapshot && !used.some((one) => hasNoTools(snapshot, one))) return true;
    await sleep(POLL_MS, undefined, { signal: deps.leaving }).catch(() => undefined);
    if (!(await isStillSuspended(stored, deps))) return false;
  }
  return false;
}

/** Every tool that it used, or that an approval is about. */
export function listUsedTools({ deliveries }: Recording, approvals: readonly Approval[]): readonly UsedTool[] {
  const used = deliveries.flatMap(({ call }) => (call ? [{ ...call.record, definition: call.definition }] : []));
  return [...used, ...approvals];
}

async function isStillSuspended(
  { id, owner, ending }: StoredExecution,
  { store }: Pick<AwaitDeps, "store">,
): Promise<boolean> {
  const now = await store.executions.find(id);
  return now?.ending?.state === "paused" && now.owner === owner && now.ending.endedAt === ending?.endedAt;
}
