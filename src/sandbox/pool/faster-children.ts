/**
 * The children of the engine that takes programs over. They start when they are needed and end when they are idle. Only
 * executions with a place ask for one, so there are never more requests than places.
 */

import type { GloveboxError } from "../../domain/index.ts";

import type { ChildRest } from "../child-lease.ts";
import type { ChildOptions } from "../start-child.ts";
import { ChildStock } from "./child-stock.ts";
import { createCancelledError } from "./pool-errors.ts";
import type { PoolWorker } from "./worker.ts";

/** A child prepares its next isolate in a few milliseconds; one that takes longer may be stuck in the last program. */
const PREPARES_MS = 20;

interface FasterRequest extends PromiseWithResolvers<PoolWorker> {
  readonly since: number;
}

export class FasterChildren {
  readonly stock: ChildStock;
  readonly #requests = new Set<FasterRequest>();
  /** Children that have a program. */
  #held = 0;

  constructor(options: ChildOptions) {
    this.stock = new ChildStock({
      ...options,
      warm: 0,
      onReady: () => this.#serve(),
      onLost: () => this.#fill(),
      onFailed: (error) => this.refuseAll(error),
    });
  }

  /** Without a ready child: waits for one, or starts one for a later request and returns `undefined`. */
  async take(mustWait: boolean, signal: AbortSignal): Promise<PoolWorker | undefined> {
    for (;;) {
      const worker = this.#takeReady() ?? (mustWait ? await this.#wait(signal) : undefined);
      if (!worker) {
        this.#startFirst();
        return undefined;
      }
      if (worker.isFresh || (await worker.askAlive())) return worker;
      this.release(worker, false);
    }
  }

  release(worker: PoolWorker, reusable: boolean, rest?: ChildRest): void {
    this.#held -= 1;
    this.stock.release(worker, reusable, rest);
  }

  refuseAll(error: GloveboxError): void {
    for (const request of this.#requests) request.reject(error);
    this.#requests.clear();
  }

  #takeReady(): PoolWorker | undefined {
    const worker = this.stock.take();
    if (worker) this.#held += 1;
    return worker;
  }

  async #wait(signal: AbortSignal): Promise<PoolWorker> {
    const request = { ...Promise.withResolvers<PoolWorker>(), since: performance.now() };
    const giveUp = (): void => {
      if (this.#requests.delete(request)) request.reject(createCancelledError());
    };
    const retry = setInterval(() => this.#fill(), PREPARES_MS);
    signal.addEventListener("abort", giveUp, { once: true });
    this.#requests.add(request);
    if (signal.aborted) giveUp();
    this.#startFirst();
    try {
      return await request.promise;
    } finally {
      clearInterval(retry);
      signal.removeEventListener("abort", giveUp);
    }
  }

  #serve(): void {
    for (const request of this.#requests) {
      const worker = this.#takeReady();
      if (!worker) return;
      this.#requests.delete(request);
      request.resolve(worker);
    }
  }

  /** Starts a child if every one has a program. */
  #startFirst(): void {
    if (this.stock.size <= this.#held) this.stock.start(true);
  }

  /** Starts a child for every request that waits too long for those that prepare. */
  #fill(): void {
    const before = performance.now() - PREPARES_MS;
    const waiting = (): number => [...this.#requests].filter(({ since }) => since <= before).length;
    while (waiting() > this.stock.starts.underWay && !this.stock.starts.hasGivenUp) this.stock.start(true);
  }
}
