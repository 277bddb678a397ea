/**
 * The share of the pool that each principal holds and may hold. A single active principal may have every place. With
 * others active, it leaves them one place and one ready child, so that many long programs of one principal do not delay
 * a short program of another.
 */

import { MINUTE_MS, createRecent } from "../../timing/index.ts";

/** How long a principal counts as active after its last request. */
const ABOUT_MS = MINUTE_MS;
/** The most principals remembered; it only matters that there is another one. */
const MOST_REMEMBERED = 1_000;

export interface Shares {
  /** Records a request, whether or not a place is free. */
  noteRequest(principal: string): void;
  acquire(principal: string): void;
  release(principal: string): void;
  hasNone(principal: string): boolean;
  /** Whether no other principal is active. */
  isOnlyPrincipal(principal: string): boolean;
  /** Whether one more place is within the principal's share. */
  mayHold(principal: string): boolean;
  /** Whether it may take one of the ready children. */
  mayTake(principal: string, ready: number): boolean;
}

export function createShares(concurrency: number, now: () => number): Shares {
  const held = new Map<string, number>();
  const seen = createRecent<string, { readonly principal: string; readonly at: number }>(MOST_REMEMBERED);

  const heldBy = (principal: string): number => held.get(principal) ?? 0;
  const hasOthers = (principal: string): boolean => {
    const since = now() - ABOUT_MS;
    for (const { principal: other, at } of seen.values()) {
      if (other !== principal && (at >= since || heldBy(other) > 0)) return true;
    }
    return false;
  };
  const mayHold = (principal: string): boolean =>
    heldBy(principal) < concurrency - 1 || heldBy(principal) === 0 || !hasOthers(principal);

  return {
    noteRequest(principal) {
      seen.set(principal, { principal, at: now() });
    },
    acquire: (principal) => void held.set(principal, heldBy(principal) + 1),
    release(principal) {
      if (heldBy(principal) > 1) held.set(principal, heldBy(principal) - 1);
      else held.delete(principal);
    },
    isOnlyPrincipal: (principal) => !hasOthers(principal),
    hasNone: (principal) => heldBy(principal) === 0,
    mayHold,
    mayTake: (principal, ready) =>
      ready > 0 && mayHold(principal) && (ready > 1 || heldBy(principal) === 0 || !hasOthers(principal)),
  };
}
