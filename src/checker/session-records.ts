/** Remembers whose checks were slow or failed. It decides which process checks a program, never whether it is checked. */

import type { Instant } from "../domain/index.ts";
import { MINUTE_MS, createRecent } from "../timing/index.ts";

/** Whose program it is. Requests without a session count as one session of their principal. */
export interface CheckOwner {
  readonly id: string;
  readonly session?: string;
}

interface SessionRecord {
  readonly principal: string;
  /** True once the shared process has checked a program of this session. */
  readonly isProven: boolean;
  /** True if a check ended its process or took too long. */
  readonly hasFailed: boolean;
  /** The session is a slow one before this time. */
  readonly slowUntil: Instant;
}

export interface SessionRecords {
  /** True if the programs of this session are checked apart from those of others. */
  isApart(owner: CheckOwner): boolean;
  /** True if a long check of this session must not hold up another one. */
  isDistrusted(owner: CheckOwner): boolean;
  noteChecked(owner: CheckOwner): void;
  noteSlow(owner: CheckOwner): void;
  noteFailed(owner: CheckOwner): void;
}

/** Since the last slow check of a session. Short, because on a busy machine an ordinary check can be slow. */
const SLOW_MS = MINUTE_MS;
/** Since the last failed check of a session. */
const FAILED_MS = 10 * MINUTE_MS;
/** With this many slow sessions, a principal's sessions that were never checked are kept apart from the start. */
const SLOW_SESSIONS = 3;
const KEPT_SESSIONS = 1_024;

export function createSessionRecords(now: () => Instant): SessionRecords {
  const records = createRecent<string, SessionRecord>(KEPT_SESSIONS);
  const isSlow = ({ slowUntil }: SessionRecord): boolean => now() < slowUntil;
  const find = (owner: CheckOwner): SessionRecord => {
    const known = records.get(nameSession(owner));
    const { isProven = false } = known ?? {};
    return known && isSlow(known) ? known : { principal: owner.id, isProven, hasFailed: false, slowUntil: 0 };
  };
  const note = (owner: CheckOwner, slowMs: number, change: Partial<SessionRecord> = {}): void => {
    const record = find(owner);
    const slowUntil = slowMs > 0 ? Math.max(record.slowUntil, now() + slowMs) : record.slowUntil;
    records.set(nameSession(owner), { ...record, slowUntil, ...change });
  };
  const countSlow = (principal: string): number =>
    [...records.values()].filter((record) => record.principal === principal && isSlow(record)).length;
  const isNewOfSlow = (owner: CheckOwner): boolean => !find(owner).isProven && countSlow(owner.id) >= SLOW_SESSIONS;
  return {
    isApart: (owner) => isSlow(find(owner)) || isNewOfSlow(owner),
    isDistrusted: (owner) => find(owner).hasFailed || isNewOfSlow(owner),
    noteChecked: (owner) => note(owner, 0, { isProven: true }),
    noteSlow: (owner) => note(owner, SLOW_MS),
    noteFailed: (owner) => note(owner, FAILED_MS, { hasFailed: true }),
  };
}

export function nameSession({ id, session }: CheckOwner): string {
  return JSON.stringify([id, session]);
}
