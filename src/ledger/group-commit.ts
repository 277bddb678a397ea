/**
 * Lets what is handed in at about the same time share one commit, because the price of a commit is the disk and not
 * the item. Order is kept, and nothing is committed behind something that was lost.
 */

/**
 * `now` leaves at once, takes along what waits, and waits for the disk. `unflushed` leaves at once too, but waits for no
 * disk: it outlives this process, and a power cut only when the disk has followed. `soon` is the same with a few
 * milliseconds to find company.
 */
export type Durability = "flushed" | "batched" | "committed";

export interface CommitGroupOptions<Item, Kept> {
  /** The most items of one commit: bounds how long it holds up the event loop. */
  readonly size: number;
  /** How long an item that is only due soon waits at most. */
  readonly waitMs: number;
  /** All or nothing; answers in the order of the items, and without waiting for the disk unless it `isFlushed`. */
  readonly commit: (items: readonly Item[], isFlushed: boolean) => Promise<readonly Kept[]>;
}

export interface CommitGroup<Item, Kept> {
  /** Resolves once the item is committed; rejects when it, or one that was handed in before it, could not be. */
  add(item: Item, durability: Durability): Promise<Kept>;
  /** Resolves when everything that was handed in has been committed or refused. */
  drain(): Promise<void>;
}

interface PendingItem<Item, Kept> {
  readonly item: Item;
  readonly isFlushed: boolean;
  readonly resolve: (kept: Kept) => void;
  readonly reject: (thrown: unknown) => void;
}

export function createCommitGroup<Item, Kept>({
  size,
  waitMs,
  commit,
}: CommitGroupOptions<Item, Kept>): CommitGroup<Item, Kept> {
  const waiting: PendingItem<Item, Kept>[] = [];
  let isDue = false;
  let timer: NodeJS.Timeout | undefined;
  let draining: Promise<void> | undefined;

  const settle = async (batch: readonly PendingItem<Item, Kept>[]): Promise<void> => {
    try {
      const isFlushed = batch.some((pending) => pending.isFlushed);
      const items = batch.map(({ item }) => item);
      const kept = await commit(items, isFlushed);
      for (const [index, one] of kept.entries()) batch[index]?.resolve(one);
    } catch (thrown) {
      for (const { reject } of [...batch, ...waiting.splice(0)]) reject(thrown);
    }
  };
  const drain = async (): Promise<void> => {
    // What arrives while a batch is on its way to the disk leaves together after it.
    for (await Promise.resolve(); waiting.length > 0 && (isDue || waiting.length >= size); await Promise.resolve()) {
      const batch = waiting.splice(0, size);
      isDue &&= waiting.length > 0;
      await settle(batch);
    }
    draining = undefined;
  };
  const hasten = (): void => {
    isDue = true;
    draining ??= drain();
  };
  const wait = (): void => {
    if (waiting.length >= size) draining ??= drain();
    timer ??= setTimeout(() => {
      timer = undefined;
      hasten();
    }, waitMs);
  };

  return {
    add(item, durability) {
      const { promise, resolve, reject } = Promise.withResolvers<Kept>();
      waiting.push({ item, isFlushed: durability === "flushed", resolve, reject });
      if (durability === "batched") wait();
      else hasten();
      return promise;
    },
    async drain() {
      do {
        hasten();
        await draining;
      } while (waiting.length > 0);
    },
  };
}
