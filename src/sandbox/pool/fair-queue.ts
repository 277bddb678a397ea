/** A queue that serves principals in turn, so that none can crowd out the others. */

export interface FairQueue<T> {
  readonly length: number;
  add(principal: string, item: T): void;
  /** The next one in turn among the principals that `isEligible` accepts; the others keep their turns. */
  take(isEligible?: (principal: string) => boolean): T | undefined;
  /** How many wait whose principal is accepted. */
  count(isEligible: (principal: string) => boolean): number;
  /** Removes an item that gave up; false if it was no longer waiting. */
  remove(principal: string, item: T): boolean;
}

export function createFairQueue<T>(): FairQueue<T> {
  // The map keeps the order of turns: a principal that was served moves to the end.
  const lines = new Map<string, T[]>();
  const count = (isEligible: (principal: string) => boolean): number =>
    lines.entries().reduce((sum, [principal, line]) => sum + (isEligible(principal) ? line.length : 0), 0);

  return {
    get length() {
      return count(() => true);
    },
    count,
    add(principal, item) {
      const line = lines.get(principal);
      if (line) line.push(item);
      else lines.set(principal, [item]);
    },
    take(isEligible = () => true) {
      const [principal, line] = lines.entries().find(([one]) => isEligible(one)) ?? [];
      if (principal === undefined || !line) return undefined;
      const item = line.shift();
      lines.delete(principal);
      if (line.length > 0) lines.set(principal, line);
      return item;
    },
    remove(principal, item) {
      const line = lines.get(principal);
      const index = line?.indexOf(item) ?? -1;
      if (!line || index < 0) return false;
      line.splice(index, 1);
      if (line.length === 0) lines.delete(principal);
      return true;
    },
  };
}
