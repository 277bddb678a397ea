/** A queue that serves principals in turn, and the sessions of one principal in turn, so that none crowds out the others. */

/** Whose work it is. A client without sessions has the session "". */
export interface Owner {
  readonly principal: string;
  readonly session: string;
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
  // Both maps keep the order of turns: one that was served moves to the end.
  const principals = new Map<string, Map<string, T[]>>();
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
      for (const [principal, sessions] of principals) {
        const firsts = [...sessions.values()].flatMap(([first]) => (first && isEligible(first) ? [first] : []));
        const item = findCheapest(firsts, costOf);
        if (!item) continue;
        remove(item);
        moveToEnd(sessions, item.owner.session);
        moveToEnd(principals, principal);
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

/** The first of those with the lowest cost. */
function findCheapest<T>(items: readonly T[], costOf: (item: T) => number): T | undefined {
  if (items.length < 2) return items[0];
  const costs = items.map(costOf);
  return items[costs.indexOf(Math.min(...costs))];
}

function moveToEnd<Value>(turns: Map<string, Value>, key: string): void {
  const value = turns.get(key);
  if (value === undefined || !turns.delete(key)) return;
  turns.set(key, value);
}

function longestOf<T>(lines: ReadonlyMap<string, readonly T[]>): readonly T[] {
  return [...lines.values()].reduce((longest, line) => (line.length > longest.length ? line : longest), []);
}
