/**
 * Ends what principals left who are no longer valid: a token that was revoked or has expired, a person who was removed or
 * lost the role. A revocation asks for it; this finds also what was opened while it was under way.
 */

import type { ExecutionId, PrincipalId } from "../../domain/index.ts";
import type { ExecutionDeps } from "../deps.ts";
import type { RunningTable } from "../running-table.ts";

type EndDeps = Pick<ExecutionDeps, "ledger" | "resolvePrincipal" | "store"> & {
  /** Resumes a suspended execution, which closes it as failed if its principal is not valid. Never rejects. */
  resumeInvalid(id: ExecutionId): Promise<void>;
};

/** Cancels those of this process, each with a record before. */
export async function endInvalid(running: RunningTable, deps: Pick<EndDeps, "ledger" | "resolvePrincipal">) {
  const executions = running.list();
  for (const principal of new Set(executions.map((one) => one.principal))) {
    if (await deps.resolvePrincipal(principal)) continue;
    for (const { id } of executions.filter((one) => one.principal === principal)) {
      const detail = { reason: `${principal} is no longer valid` };
      await deps.ledger.write({ actor: "gateway", action: "execution.cancelled", subject: id, detail });
      running.cancel(id, "the gateway");
    }
  }
}

/** Cancels what was asked for, and closes suspended executions of principals that are no longer valid. */
export async function endRequested(running: RunningTable, deps: EndDeps): Promise<void> {
  const isValid = async (principal: PrincipalId): Promise<boolean> =>
    (await deps.resolvePrincipal(principal)) !== undefined;
  for (const { execution, askedBy } of await deps.store.cancellations.list()) {
    if (running.find(execution)) running.cancel(execution, askedBy);
    else {
      const stored = await deps.store.executions.findHead(execution);
      const isSuspended = stored?.ending?.state === "paused";
      if (stored && isSuspended && !(await isValid(stored.principal))) await deps.resumeInvalid(execution);
    }
  }
}
