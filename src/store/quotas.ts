/** Quotas in the store: counters in time windows, and slots for parallel executions. */

import type { Instant } from "../domain/index.ts";

/** Units of one counter in the current window. */
export interface WindowClaim {
  readonly kind: "window";
  readonly key: string;
  /** A window begins with the first unit taken after the previous one ended. */
  readonly windowMs: number;
  /** The beginning of its key. When a counter of the family is new, those with it whose windows have ended are forgotten. */
  readonly family?: string;
  readonly limit: number;
  readonly amount: number;
  /** The minimum. Between this and `amount`, it takes what is left. */
  readonly least: number;
  /** Can return what it does not use. Without a holder, taken units count as used. */
  readonly holder?: string;
}

/** One of `limit` slots, until its holder returns it or its time is over. */
export interface PlaceClaim {
  readonly kind: "place";
  readonly key: string;
  readonly limit: number;
  readonly holder: string;
  readonly until: Instant;
}

export type QuotaClaim = WindowClaim | PlaceClaim;

export interface TakenUnits {
  readonly key: string;
  readonly startedAt: Instant;
  readonly amount: number;
}

export type QuotaOutcome =
  | { readonly kind: "taken"; readonly units: readonly TakenUnits[] }
  | { readonly kind: "full"; readonly claim: QuotaClaim; readonly used: number; readonly freeAt: Instant };

/** What is used of one counter; without a start, slots. */
export interface QuotaCount {
  readonly key: string;
  readonly startedAt?: Instant;
  readonly used: number;
}

/** Counters for concurrent use. A returned result survives the end of the process, including `kill -9`. */
export interface QuotaStore {
  /** Atomically takes all claims or none; `full` names the first claim that failed. */
  take(claims: readonly QuotaClaim[], now: Instant): Promise<QuotaOutcome>;
  /**
   * Returns what a holder took above `used` to the windows that have not ended, and frees its slots. Works once per
   * holder: the second time it holds nothing.
   */
  giveBack(holder: string, used: number): Promise<void>;
  /** Records that these holders were alive at this time. */
  noteHeld(holders: readonly string[], now: Instant): Promise<void>;
  /** The counters that were used last, at most this many: ended windows stay until their key is used again. */
  list(limit: number): Promise<readonly QuotaCount[]>;
  /** Returns the time between taking and the last `noteHeld`; `undefined` if it holds nothing. */
  heldFor(holder: string): Promise<number | undefined>;
  /** Continues as if it had been held for `heldMs` until now. */
  restoreHold(holder: string, heldMs: number, now: Instant): Promise<void>;
}
