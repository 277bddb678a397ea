/** A queue that serves principals in turn, and the sessions of one principal in turn, so that none crowds out the others. */

import { createRecent } from "./recent.ts";

const KEPT_TURNS = 2_048;

/** Whose work it is. A client without sessions has the session "". */
export interface Owner {
  readonly principal: string;
  readonly session: string;
}

/** The owner of what a client asks for. */
export function ownerOf({ id, session = "" }: { readonly id: string; readonly session?: string | undefined }): Owner {
  return { principal: id, session };
}

export interface QueueItem {
  readonly owner: Owner;
  /** It has run before, so it comes before the new ones of its session. */
  readonly isWaking?: boolean;
}

export interface FairQueue<T extends QueueItem> {
  add(item: T): void;
  /**
   * The next one in turn, if `isEligible` accepts it. Only the first item of a session is asked; all others keep their
   * turns. Of the sessions of one principal, those with the lowest `costOf` come first.
   */
  take(isEligible?: (item: T) => boolean): T | undefined;
  /** All waiting items. */
  items(): readonly T[];
  isWaiting(owner: Owner): boolean;
  /** Removes an item that gave up; false if it was no longer waiting. */
  remove(item: T): boolean;
  /** Returns the newest item of the longest line that is not waking, unless `owner` would have as long a line with one more. */
  findYielding(owner: Owner): T | undefined;
}

/** By default all sessions of a principal cost the same. */
export function createFairQueue<T extends QueueItem>(costOf: (item: T) => number = () => 0): FairQueue<T> {
  const principals = new Map<string, Map<string, T[]>>();
  /** When a principal and a session were served last; one that never was comes first. */
  const turns = createRecent<string, number>(KEPT_TURNS);
  let served = 0;
  const turnOf = (...owner: readonly string[]): number => turns.get(nameTurn(...owner)) ?? 0;
  const all = (): T[] => [...principals.values()].flatMap((sessions) => [...sessions.values()].flat());
  const remove = (item: T): boolean => {
    const { principal, session } = item.owner;
    const sessions = principals.get(principal);
    const line = sessions?.get(session);
    const index = line?.indexOf(item) ?? -1;
    if (!sessions || !line || index < 0) return false;
    line.splice(index, 1);
    if (line.length === 0) sessions.delete(session);
    if (sessions.size === 0) principals.delete(principal);
    return true;
  };

  return {
    items: all,
    isWaiting: ({ principal, session }) => principals.get(principal)?.has(session) ?? false,
    remove,
    add(item) {
      const { principal, session } = item.owner;
      const sessions = principals.get(principal) ?? new Map<string, T[]>();
      const line = sessions.get(session) ?? [];
      const firstNew = item.isWaking === true ? line.findIndex(({ isWaking }) => isWaking !== true) : -1;
      line.splice(firstNew < 0 ? line.length : firstNew, 0, item);
      sessions.set(session, line);
      principals.set(principal, sessions);
    },
    take(isEligible = () => true) {
      for (const [principal, sessions] of sortBy(principals, ([name]) => [turnOf(name)])) {
        const firsts = [...sessions.values()].flatMap(([first]) => (first && isEligible(first) ? [first] : []));
        const [item] = sortBy(firsts, (first) => [costOf(first), turnOf(principal, first.owner.session)]);
        if (!item) continue;
        remove(item);
        served += 1;
        for (const key of [nameTurn(principal), nameTurn(principal, item.owner.session)]) turns.set(key, served);
        return item;
      }
      return undefined;
    },
    findYielding({ principal, session }) {
      const lines = Map.groupBy(
        all().filter(({ isWaking }) => isWaking !== true),
        ({ owner }) => owner.principal,
      );
      const own = lines.get(principal) ?? [];
      const longest = longestOf(lines);
      const isOther = longest.length > own.length + 1;
      const sessions = Map.groupBy(isOther ? longest : own, ({ owner }) => owner.session);
      const line = longestOf(sessions);
      const isLonger = isOther || line.length > (sessions.get(session)?.length ?? 0) + 1;
      return isLonger ? line.at(-1) : undefined;
    },
  };
}

function nameTurn(...owner: readonly string[]): string {
  return JSON.stringify(owner);
}

/** Sorted by the first number, then by the second; equal ones keep their order. */
function sortBy<T>(items: Iterable<T>, keyOf: (item: T) => readonly [number, number?]): readonly T[] {
  const all = [...items];
  if (all.length < 2) return all;
  const keyed = all.map((item) => ({ item, key: keyOf(item) }));
  return keyed.toSorted((a, b) => a.key[0] - b.key[0] || (a.key[1] ?? 0) - (b.key[1] ?? 0)).map(({ item }) => item);
}

function longestOf<T>(lines: ReadonlyMap<string, readonly T[]>): readonly T[] {
  return [...lines.values()].reduce((longest, line) => (line.length > longest.length ? line : longest), []);
}
