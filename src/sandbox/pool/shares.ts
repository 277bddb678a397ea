/**
 * Who holds how many of the places, and how many one may hold. A principal that is alone may have them all; while
 * others are about, it leaves them one place and one ready child, so that a crowd of programs that run to their limits
 * is not felt by whoever comes with a short one.
 */

import { MINUTE_MS, createRecent } from "../../timing/index.ts";

/** How long somebody who asks for nothing counts as being about. */
const ABOUT_MS = MINUTE_MS;
/** More than this many are not told apart: what matters is that there is somebody else. */
const MOST_REMEMBERED = 1_000;

export interface Shares {
  /** Somebody asks for a place, whether or not there is one. */
  noteRequest(principal: string): void;
  acquire(principal: string): void;
  release(principal: string): void;
  hasNone(principal: string): boolean;
  /** Whether nobody else is about. */
  isOnlyPrincipal(principal: string): boolean;
  /** Whether one more is within the principal's share, wherever its child comes from. */
  mayHold(principal: string): boolean;
  /** Whether it may have one of the children that are ready now. */
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
