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
  /** Who gives back what it does not use; without one, what is taken is used. */
  readonly holder?: string;
}

/** One of `limit` places, until its holder gives back or its time is over. */
export interface PlaceClaim {
  readonly kind: "place";
  readonly key: string;
  readonly limit: number;
  readonly holder: string;
  readonly until: Instant;
}

export type QuotaClaim = WindowClaim | PlaceClaim;

/** What was taken from one window. */
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
  /**
   * Each window that a holder took from, if that still runs, gets back what is over `used`, and its places are free. A
   * holder gives back once, whoever asks for it: the second time it holds nothing.
   */
  giveBack(holder: string, used: number): Promise<void>;
  /** These were alive at this moment, which is how long they are known to have held something. */
  noteHeld(holders: readonly string[], now: Instant): Promise<void>;
  /** From its taking to the last time that it was seen alive; `undefined` when it holds nothing of a window. */
  heldFor(holder: string): Promise<number | undefined>;
  /** Counts from now on as if it had held for so long without a break. */
  restoreHold(holder: string, heldMs: number, now: Instant): Promise<void>;
}
