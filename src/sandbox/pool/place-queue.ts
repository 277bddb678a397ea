/** The executions that wait for a place, and why one of them is refused. */

import type { GloveboxError } from "../../domain/index.ts";
import { createFairQueue } from "../../timing/index.ts";
import type { Owner, QueueItem } from "../../timing/index.ts";

import { createBusyError, createCancelledError } from "./pool-errors.ts";
import type { PoolWorker } from "./worker.ts";

/** An execution that waits for a place and a child, or for a place only. */
export type Waiter = QueueItem &
  (
    | ({ readonly kind: "childless"; readonly since: number } & PromiseWithResolvers<PoolWorker>)
    | ({ readonly kind: "placeless" } & PromiseWithResolvers<void>)
    | { readonly kind: "parked"; readonly onPlaced: () => void }
  ) & { readonly isWaking: boolean };

export interface PlaceQueueOptions {
  /** The places of the pool. */
  readonly concurrency: number;
  /** The most executions that may wait. */
  readonly queue: number;
  /** How many places are taken. */
  readonly leased: () => number;
  /** How long the session of this owner held places lately. */
  readonly usedMs: (owner: Owner) => number;
}

export class PlaceQueue {
  readonly #options: PlaceQueueOptions;
  readonly #waiters;

  constructor(options: PlaceQueueOptions) {
    this.#options = options;
    this.#waiters = createFairQueue<Waiter>(({ owner }) => options.usedMs(owner));
  }

  items(): readonly Waiter[] {
    return this.#waiters.items();
  }

  /** Those that wait for a child, too. */
  childless() {
    return this.items().filter((waiter) => waiter.kind === "childless");
  }

  /** The next one in turn that `isEligible` accepts. */
  take(isEligible: (waiter: Waiter) => boolean): Waiter | undefined {
    return this.#waiters.take(isEligible);
  }

  /** Adds one that is never refused. Returns a function that removes it. */
  add(waiter: Waiter): () => void {
    this.#waiters.add(waiter);
    return () => void this.#waiters.remove(waiter);
  }

  /** Throws LIMIT_BUSY at once. Rejects with REQUEST_CANCELLED when `signal` aborts before its turn. */
  enter(waiter: Exclude<Waiter, { kind: "parked" }>, signal: AbortSignal): Promise<unknown> {
    if (!waiter.isWaking) this.#makeRoomFor(waiter.owner);
    const giveUp = (): void => {
      if (this.#waiters.remove(waiter)) waiter.reject(createCancelledError());
    };
    signal.addEventListener("abort", giveUp, { once: true });
    this.#waiters.add(waiter);
    const served: Promise<unknown> = waiter.promise;
    return served.finally(() => signal.removeEventListener("abort", giveUp));
  }

  /**
   * Throws LIMIT_BUSY if one more execution of `owner`, after `coming` others, would be refused. An execution with a free
   * place only waits for a child, which does not count against the queue's limit.
   */
  check(coming: number, owner: Owner): void {
    const { concurrency, queue } = this.#options;
    const waiting = this.#countWaiting() + coming;
    if (waiting >= queue && !this.#waiters.findYielding(owner)) throw createBusyError(concurrency, waiting);
  }

  refuseAll(error: GloveboxError): void {
    for (const waiter of this.items())
      if (waiter.kind !== "parked" && this.#waiters.remove(waiter)) waiter.reject(error);
  }

  /** New executions without a free place; negative while places are free. Those that have run before do not count. */
  #countWaiting(): number {
    const waiting = this.items().filter(({ isWaking }) => !isWaking).length;
    return this.#options.leased() + waiting - this.#options.concurrency;
  }

  /** A client that filled the queue cannot keep others out: the last execution of the longest line is refused instead. */
  #makeRoomFor(owner: Owner): void {
    this.check(0, owner);
    const { concurrency, queue } = this.#options;
    const waiting = this.#countWaiting();
    const last = waiting >= queue ? this.#waiters.findYielding(owner) : undefined;
    if (last && last.kind !== "parked" && this.#waiters.remove(last)) {
      last.reject(createBusyError(concurrency, waiting));
    }
  }
}
