/** What a store keeps of quotas: counters that run in windows, and places for what goes on at once. */

import type { Instant } from "../domain/index.ts";

/** Units of one counter, wanted from the window that runs now. */
export interface WindowClaim {
  readonly kind: "window";
  readonly key: string;
  /** A window begins with the first unit that is taken after the last one ended. */
  readonly windowMs: number;
  readonly limit: number;
  readonly amount: number;
  /** What is at least needed; between this and `amount` it takes what is left. */
  readonly least: number;
}

/** One of `limit` places, until it is given back or its time is over. */
export interface PlaceClaim {
  readonly kind: "place";
  readonly key: string;
  readonly limit: number;
  readonly lease: string;
  readonly until: Instant;
}

export type QuotaClaim = WindowClaim | PlaceClaim;

/** What was taken from one window; only that window takes it back. */
export interface TakenUnits {
  readonly key: string;
  readonly startedAt: Instant;
  readonly amount: number;
}

export type QuotaOutcome =
  | { readonly kind: "taken"; readonly units: readonly TakenUnits[] }
  | { readonly kind: "full"; readonly claim: QuotaClaim; readonly used: number; readonly freeAt: Instant };

/** Counters that many may draw from at once. What was answered survives the end of the process, `kill -9` included. */
export interface QuotaStore {
  /** All claims or none, in one step; `full` names the first that was not met. */
  take(claims: readonly QuotaClaim[], now: Instant): Promise<QuotaOutcome>;
  giveBack(unused: { readonly units: readonly TakenUnits[]; readonly leases: readonly string[] }): Promise<void>;
}
