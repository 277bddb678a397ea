/**
 * Who holds how many of the places, and how many one may hold. A principal that is alone may have them all; while
 * others are about, it leaves them one place and one ready child, so that a crowd of programs that run to their limits
 * is not felt by whoever comes with a short one.
 */

/** How long somebody who asks for nothing counts as being about. */
const ABOUT_MS = 60_000;
/** More than this many are not told apart: what matters is that there is somebody else. */
const MOST_REMEMBERED = 1_000;

export interface Places {
  /** Somebody asks for a place, whether or not there is one. */
  see(principal: string): void;
  enter(principal: string): void;
  leave(principal: string): void;
  holdsNone(principal: string): boolean;
  /** Whether nobody else is about. */
  isAlone(principal: string): boolean;
  /** Whether one more is within the principal's share, wherever its child comes from. */
  mayHold(principal: string): boolean;
  /** Whether it may have one of the children that are ready now. */
  mayTake(principal: string, ready: number): boolean;
}

export function createPlaces(concurrency: number, now: () => number): Places {
  const held = new Map<string, number>();
  const seenAt = new Map<string, number>();

  const heldBy = (principal: string): number => held.get(principal) ?? 0;
  const hasOthers = (principal: string): boolean => {
    const since = now() - ABOUT_MS;
    for (const [other, at] of seenAt) if (other !== principal && (at >= since || heldBy(other) > 0)) return true;
    return false;
  };
  const mayHold = (principal: string): boolean =>
    heldBy(principal) < concurrency - 1 || heldBy(principal) === 0 || !hasOthers(principal);

  return {
    see(principal) {
      seenAt.delete(principal);
      seenAt.set(principal, now());
      const [oldest] = seenAt.keys();
      if (seenAt.size > MOST_REMEMBERED && oldest !== undefined) seenAt.delete(oldest);
    },
    enter: (principal) => void held.set(principal, heldBy(principal) + 1),
    leave(principal) {
      if (heldBy(principal) > 1) held.set(principal, heldBy(principal) - 1);
      else held.delete(principal);
    },
    isAlone: (principal) => !hasOthers(principal),
    holdsNone: (principal) => heldBy(principal) === 0,
    mayHold,
    mayTake: (principal, ready) =>
      ready > 0 && mayHold(principal) && (ready > 1 || heldBy(principal) === 0 || !hasOthers(principal)),
  };
}
