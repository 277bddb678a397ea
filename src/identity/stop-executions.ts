/** Stops what a revoked or removed principal still runs, in every process on the store. */

import type { Instant, PrincipalId } from "../domain/index.ts";
import type { LedgerEntry } from "../ledger/index.ts";
import type { Store } from "../store/index.ts";

export type StopExecutions = (isMeant: (principal: PrincipalId) => boolean, by: string) => Promise<void>;

/** Gateways look for cancellations once a second. A suspended execution is refused when it would resume. */
export function createStop({
  store: { executions, cancellations },
  record,
  now,
}: {
  readonly store: Pick<Store, "executions" | "cancellations">;
  readonly record: (entry: LedgerEntry) => Promise<unknown>;
  readonly now: () => Instant;
}): StopExecutions {
  return async (isMeant, by) => {
    for (const { id, principal } of await executions.listUnfinished()) {
      if (!isMeant(principal)) continue;
      const detail = { reason: `${principal} is no longer valid` };
      await record({ actor: by, action: "execution.cancelled", subject: id, detail });
      await cancellations.request({ execution: id, askedBy: by, askedAt: now() });
    }
  };
}
