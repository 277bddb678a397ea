/** Ledger records that the process of an execution could not write before it died; another process adds them. */

import type { CallRecord, Execution } from "../domain/index.ts";

import type { ExecutionDeps } from "./deps.ts";
import type { LedgerTrail } from "./ledger-trail.ts";

type LedgerDeps = Pick<ExecutionDeps, "ledger">;

/** Records the outcome of a call. */
export async function recordCallEnd(
  { id, principal }: Pick<Execution, "id" | "principal">,
  { seq, tool, outcome, ms }: CallRecord,
  { ledger }: LedgerDeps,
): Promise<void> {
  const detail = { execution: id, seq, outcome, ms, late: true };
  await ledger.write({ actor: principal, action: "call.ended", subject: tool, detail });
}

/**
 * Records the opening, if the process was killed between the store and the ledger. Must come before the execution is
 * resumed or closed: no call leaves before the opening is in the ledger.
 */
export async function recordOpeningOnce(
  { id, principal, source }: Execution,
  { isOpened }: Pick<LedgerTrail, "isOpened">,
  deps: LedgerDeps & { readonly journals: Pick<ExecutionDeps["journals"], "read"> },
): Promise<void> {
  if (isOpened) return;
  const recording = await deps.journals.read(id).catch(() => undefined);
  const { dryRun = false } = recording?.request ?? {};
  const detail = { source, ...(dryRun && { dryRun }), late: true };
  await deps.ledger.write({ actor: principal, action: "execution.opened", subject: id, detail });
}
