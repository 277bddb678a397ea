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
  // The map keeps the order of turns: who was served goes to the end of it.
  const lines = new Map<string, T[]>();
  let length = 0;

  return {
    get length() {
      return length;
    },
    add(principal, item) {
      const line = lines.get(principal);
      if (line) line.push(item);
      else lines.set(principal, [item]);
      length += 1;
    },
    take(isEligible = () => true) {
      const principal = lines.keys().find(isEligible);
      const line = principal === undefined ? undefined : lines.get(principal);
      if (principal === undefined || !line) return undefined;
      const item = line.shift();
      lines.delete(principal);
      if (line.length > 0) lines.set(principal, line);
      length -= 1;
      return item;
    },
    count(isEligible) {
      let count = 0;
      for (const [principal, line] of lines) if (isEligible(principal)) count += line.length;
      return count;
    },
    remove(principal, item) {
      const line = lines.get(principal);
      const index = line?.indexOf(item) ?? -1;
      if (!line || index < 0) return false;
      line.splice(index, 1);
      if (line.length === 0) lines.delete(principal);
      length -= 1;
      return true;
    },
  };
}
