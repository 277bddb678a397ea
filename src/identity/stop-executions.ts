/** Stops what a revoked or removed principal still runs, in every process on the store. */

import type { Instant, PrincipalId } from "../domain/index.ts";
import type { LedgerEntry } from "../ledger/index.ts";
import type { Store } from "../store/index.ts";

export type StopExecutions = (isMeant: (principal: PrincipalId) => boolean, by: string) => Promise<void>;

/** Gateways look for cancellations once a second, and close suspended executions whose principal is not valid. */
export function createStop({
  store: { executions, cancellations },
  record,
  now,
  isValid,
}: {
  readonly store: Pick<Store, "executions" | "cancellations">;
  readonly record: (entry: LedgerEntry) => Promise<unknown>;
  readonly now: () => Instant;
  /** A suspended execution of a principal that stays valid waits for its decision, whichever credential asked for it. */
  readonly isValid: (principal: PrincipalId) => Promise<boolean>;
}): StopExecutions {
  return async (isMeant, by) => {
    const open = [...(await executions.listUnfinished()), ...(await executions.listPaused())];
    for (const { id, principal, ending } of open) {
      if (!isMeant(principal) || (ending && (await isValid(principal)))) continue;
      const detail = { reason: `${principal} is no longer valid` };
      await record({ actor: by, action: "execution.cancelled", subject: id, detail });
      await cancellations.request({ execution: id, askedBy: by, askedAt: now() });
    }
  };
}
