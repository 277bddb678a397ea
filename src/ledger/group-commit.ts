/**
 * Groups items that arrive at about the same time into one commit, because the disk is the cost of a commit. Keeps the
 * order, and commits nothing after an item that was lost.
 */

/**
 * `flushed` is written at once, together with all waiting items, and resolves when it is on disk. `committed` is also
 * written at once but does not wait for the disk: it survives the end of the process, not a power cut. `batched` is
 * like `committed`, after a delay of a few milliseconds for other items to join.
 */
export type Durability = "flushed" | "batched" | "committed";

export interface CommitGroupOptions<Item, Kept> {
  /** The maximum number of items in one commit. Bounds how long a commit blocks the event loop. */
  readonly size: number;
  /** The maximum delay of a `batched` item. */
  readonly waitMs: number;
  /** All or nothing. Resolves with one result per item, in order; waits for the disk only if `isFlushed`. */
  readonly commit: (items: readonly Item[], isFlushed: boolean) => Promise<readonly Kept[]>;
}

export interface CommitGroup<Item, Kept> {
  /** Resolves once the item is committed. Rejects if it, or an item added before it, could not be committed. */
  add(item: Item, durability: Durability): Promise<Kept>;
  /** Resolves when every item that was added is committed or rejected. */
  drain(): Promise<void>;
}

interface PendingItem<Item, Kept> {
  readonly item: Item;
  readonly isFlushed: boolean;
  readonly resolve: (kept: Kept) => void;
  readonly reject: (thrown: unknown) => void;
}

async function commitBatch<Item, Kept>(
  batch: readonly PendingItem<Item, Kept>[],
  commit: CommitGroupOptions<Item, Kept>["commit"],
): Promise<void> {
  const items = batch.map(({ item }) => item);
  const isFlushed = batch.some((pending) => pending.isFlushed);
  const kept = await commit(items, isFlushed);
  for (const [at, one] of kept.entries()) batch[at]?.resolve(one);
}

export function createCommitGroup<Item, Kept>({
  size,
  waitMs,
  commit,
}: CommitGroupOptions<Item, Kept>): CommitGroup<Item, Kept> {
  const waiting: PendingItem<Item, Kept>[] = [];
  /** Callers of `drain`. */
  const idle: (() => void)[] = [];
  let isDue = false;
  /** A batch is being committed, or the next one begins after this turn of the program. */
  let isBusy = false;
  let timer: NodeJS.Timeout | undefined;

  /** Items that arrive while a batch is being committed form the next batch. */
  const commitNext = (): void => {
    if (waiting.length === 0 || !(isDue || waiting.length >= size)) {
      isBusy = false;
      for (const resolve of idle.splice(0)) resolve();
      return;
    }
    const batch = waiting.splice(0, size);
    isDue &&= waiting.length > 0;
    const rejectAll = (thrown: unknown): void => {
      for (const { reject } of [...batch, ...waiting.splice(0)]) reject(thrown);
    };
    void commitBatch(batch, commit).catch(rejectAll).then(commitNext);
  };
  const begin = (): void => {
    if (isBusy) return;
    isBusy = true;
    queueMicrotask(commitNext);
  };
  const hasten = (): void => {
    isDue = true;
    begin();
  };
  const wait = (): void => {
    if (waiting.length >= size) begin();
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
        const settled = new Promise<void>((resolve) => idle.push(resolve));
        hasten();
        await settled;
      } while (waiting.length > 0);
    },
  };
}
