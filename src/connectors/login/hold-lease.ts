/** A lease that one process at a time holds, so that two processes never renew one login at once. */

import { setTimeout as wait } from "node:timers/promises";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";

/** Longer than one request to a token endpoint may take. */
const LEASE_MS = 30_000;
const POLL_MS = 50;

/** A claim that only `holder` has until it is given back or expires. */
interface LeaseClaim {
  readonly kind: "place";
  readonly key: string;
  readonly limit: number;
  readonly holder: string;
  readonly until: Instant;
}

/** Where leases are stored; every process of an installation shares it. */
export interface LeasePlaces {
  take(claims: readonly LeaseClaim[], now: Instant): Promise<{ readonly kind: "taken" | "full" }>;
  giveBack(holder: string, used: number): Promise<void>;
}

interface LeaseOptions {
  readonly places: LeasePlaces;
  readonly now: () => Instant;
  /** Returns an unguessable name, a new one for each lease. */
  readonly createHolder: () => string;
}

/** Runs `work` while no other process holds the lease of this key. */
export type Lease = <Value>(key: string, work: () => Promise<Value>) => Promise<Value>;

/** A holder that was killed keeps the lease until it expires. Throws LIMIT_BUSY after twice that time. */
export function createLease({ places, now, createHolder }: LeaseOptions): Lease {
  return async (key, work) => {
    const holder = createHolder();
    const deadline = now() + 2 * LEASE_MS;
    for (;;) {
      const at = now();
      const { kind } = await places.take([{ kind: "place", key, limit: 1, holder, until: at + LEASE_MS }], at);
      if (kind === "taken") break;
      if (at > deadline) throw new GloveboxError("LIMIT_BUSY", "Another process is renewing this login");
      await wait(POLL_MS);
    }
    try {
      return await work();
    } finally {
      await places.giveBack(holder, 0);
    }
  };
}
