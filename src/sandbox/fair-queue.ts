/** Waiting executions, taken in turn from one principal after the other, so that none can crowd out the rest. */

export interface FairQueue<T> {
  readonly length: number;
  add(principal: string, item: T): void;
  take(): T | undefined;
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
    take() {
      const [next] = lines;
      if (!next) return undefined;
      const [principal, line] = next;
      const item = line.shift();
      lines.delete(principal);
      if (line.length > 0) lines.set(principal, line);
      length -= 1;
      return item;
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
