/**
 * The share of the pool that each principal, and each of its sessions, holds and may hold. A single active one may have
 * every place. With others active, it leaves them one place and one ready child, so that many long programs of one client
 * do not delay a short program of another.
 */

import { MINUTE_MS, createRecent } from "../../timing/index.ts";
import type { Owner } from "../../timing/index.ts";

/** How long a principal or session counts as active after its last request. */
const ABOUT_MS = MINUTE_MS;
/** A session that held places for long comes after its principal's other sessions for at most this time. */
const MOST_USED_MS = MINUTE_MS;
/** The most of them remembered; it only matters that there is another one. */
const MOST_REMEMBERED = 1_000;

export interface Shares {
  /** Records a request, whether or not a place is free. */
  noteRequest(owner: Owner): void;
  acquire(owner: Owner): void;
  release(owner: Owner): void;
  /** Counts time for which the session held a place. */
  charge(owner: Owner, ms: number): void;
  /** Such time, less the time since: at most a minute. */
  usedMs(owner: Owner): number;
  /** Whether its principal has no place. */
  hasNone(owner: Owner): boolean;
  /** Whether its session has no place. */
  isWithoutPlace(owner: Owner): boolean;
  /** Whether no other principal is active. */
  isOnlyPrincipal(owner: Owner): boolean;
  /** Whether one more place is within the share of the principal and of the session. */
  mayHold(owner: Owner): boolean;
  /** Whether it may take one of the ready children. */
  mayTake(owner: Owner, ready: number): boolean;
}

export function createShares(concurrency: number, now: () => number): Shares {
  const principals = createHolders(concurrency, now);
  const sessions = createHolders(concurrency, now);
  const used = createRecent<string, { readonly ms: number; readonly at: number }>(MOST_REMEMBERED);
  const usedMs = (owner: Owner): number => {
    const { ms, at } = used.get(nameSession(owner)) ?? { ms: 0, at: 0 };
    return Math.max(0, ms - (now() - at));
  };
  const both = ({ principal, session }: Owner) =>
    [
      [principals, principal],
      [sessions, nameSession({ principal, session })],
    ] as const;
  return {
    noteRequest: (owner) => both(owner).forEach(([holders, key]) => holders.noteRequest(key)),
    acquire: (owner) => both(owner).forEach(([holders, key]) => holders.acquire(key)),
    release: (owner) => both(owner).forEach(([holders, key]) => holders.release(key)),
    charge: (owner, ms) =>
      void used.set(nameSession(owner), { ms: Math.min(usedMs(owner) + ms, MOST_USED_MS), at: now() }),
    usedMs,
    isWithoutPlace: (owner) => sessions.heldBy(nameSession(owner)) === 0,
    hasNone: ({ principal }) => principals.heldBy(principal) === 0,
    isOnlyPrincipal: ({ principal }) => !principals.hasOthers(principal),
    mayHold: (owner) => both(owner).every(([holders, key]) => holders.mayHold(key)),
    mayTake: (owner, ready) => ready > 0 && both(owner).every(([holders, key]) => holders.mayTake(key, ready)),
  };
}

function nameSession({ principal, session }: Owner): string {
  return JSON.stringify([principal, session]);
}

/** Principals, or sessions of all principals, by key. */
function createHolders(concurrency: number, now: () => number) {
  const held = new Map<string, number>();
  const seen = createRecent<string, { readonly key: string; readonly at: number }>(MOST_REMEMBERED);

  const heldBy = (key: string): number => held.get(key) ?? 0;
  const hasOthers = (key: string): boolean => {
    const since = now() - ABOUT_MS;
    for (const { key: other, at } of seen.values()) {
      if (other !== key && (at >= since || heldBy(other) > 0)) return true;
    }
    return false;
  };
  const mayHold = (key: string): boolean => heldBy(key) < concurrency - 1 || heldBy(key) === 0 || !hasOthers(key);

  return {
    heldBy,
    hasOthers,
    mayHold,
    noteRequest: (key: string): void => void seen.set(key, { key, at: now() }),
    acquire: (key: string): void => void held.set(key, heldBy(key) + 1),
    release(key: string): void {
      if (heldBy(key) > 1) held.set(key, heldBy(key) - 1);
      else held.delete(key);
    },
    mayTake: (key: string, ready: number): boolean =>
      mayHold(key) && (ready > 1 || heldBy(key) === 0 || !hasOthers(key)),
  };
}
