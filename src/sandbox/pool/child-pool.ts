/**
 * Keeps places and children for executions. One child stays warm; more are started on demand up to the concurrency limit
 * and end when idle. A child whose program waits can be parked: it stays in memory, and another execution gets its place.
 * With a faster engine, an execution that has a place can get a child of that engine for it.
 */

import type { GloveboxError } from "../../domain/index.ts";
import type { Owner, QueueItem } from "../../timing/index.ts";

import type { PoolLoad, SandboxState } from "../sandbox.ts";
import type { ChildLease } from "../child-lease.ts";
import type { ChildOptions } from "../start-child.ts";
import { ChildStock } from "./child-stock.ts";
import { FasterChildren } from "./faster-children.ts";
import { createParking } from "./parking.ts";
import type { Parking } from "./parking.ts";
import { PlaceLease } from "./place-lease.ts";
import type { LeaseHost } from "./place-lease.ts";
import { PlaceQueue } from "./place-queue.ts";
import type { Waiter } from "./place-queue.ts";
import { createCancelledError, createClosedError } from "./pool-errors.ts";
import { createShares } from "./shares.ts";
import type { Shares } from "./shares.ts";
import { createTrials } from "./trials.ts";
import type { PlaceHolder, Trials } from "./trials.ts";
import type { PoolWorker } from "./worker.ts";

export interface PoolOptions extends ChildOptions {
  readonly concurrency: number;
  readonly queue: number;
  /** How many idle children stay ready for the next program: by default one. */
  readonly warm?: number;
}

export interface ChildRequest extends QueueItem {
  /** It has run before: then it waits its turn even if the queue is full. */
  readonly isWaking: boolean;
  /** Start with a child of the faster engine, if there is one. */
  readonly isFast?: boolean;
}

export class ChildPool {
  readonly #options: PoolOptions;
  readonly #stock: ChildStock;
  readonly #faster: FasterChildren | undefined;
  readonly #queue: PlaceQueue;
  readonly #places: Shares;
  readonly #trials: Trials;
  readonly #parking: Parking;
  readonly #host: LeaseHost;
  /** Programs that wait without a child, by what is called when the pool closes. */
  readonly #away = new Set<() => void>();
  /** Executions that have a place. */
  #leased = 0;
  #state: SandboxState = { kind: "starting" };
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#places = createShares(options.concurrency, () => performance.now());
    this.#queue = new PlaceQueue({
      ...options,
      leased: () => this.#leased,
      usedMs: (owner) => this.#places.usedMs(owner),
    });
    this.#trials = createTrials(() => performance.now());
    this.#parking = createParking(options.concurrency);
    this.#stock = new ChildStock({
      warm: 1,
      ...options,
      onReady: () => this.#ready(),
      onLost: () => this.#fill(),
      onFailed: (error) => this.#fail(error),
    });
    const { faster } = options.engine;
    this.#faster = faster && new FasterChildren({ ...options, engine: faster });
    this.#host = this.#createHost();
    this.#fill();
  }

  /** Waits for a child. Rejects with LIMIT_BUSY if the queue is full, with REQUEST_CANCELLED when `signal` aborts. */
  async take(request: ChildRequest, signal: AbortSignal): Promise<ChildLease> {
    if (this.#isClosed) throw createClosedError();
    if (signal.aborted) throw createCancelledError();
    this.#places.noteRequest(request.owner);
    if (request.isFast && this.#host.takeFaster) return this.#takeFast(request, this.#host.takeFaster, signal);
    const worker = this.#takeIdle(request) ?? (await this.#wait(request, signal));
    const { name, startsOn = name } = this.#options.engine;
    const lease = new PlaceLease({ worker, engine: startsOn, isFast: false }, this.#hold(request.owner), this.#host);
    if (worker.isFresh || (await worker.askAlive())) return lease;
    lease.release(false);
    return this.take(request, signal);
  }

  /** First a place, then a child for it. */
  async #takeFast(
    { owner, isWaking }: ChildRequest,
    takeFaster: NonNullable<LeaseHost["takeFaster"]>,
    signal: AbortSignal,
  ): Promise<ChildLease> {
    if (this.#maySkipQueue({ owner, isWaking, kind: "placeless" })) this.#enter(owner);
    else await this.#queueUp({ kind: "placeless", owner, isWaking, ...Promise.withResolvers<void>() }, signal);
    const holder = this.#hold(owner);
    try {
      const held = await takeFaster(true, signal);
      if (held) return new PlaceLease(held, holder, this.#host);
      throw createCancelledError();
    } catch (thrown) {
      this.#leave(holder);
      throw thrown;
    }
  }

  #createHost(): LeaseHost {
    const { faster: engine } = this.#options.engine;
    const faster = this.#faster;
    const takeFaster: LeaseHost["takeFaster"] = async (mustWait, signal) => {
      const worker = await faster?.take(mustWait, signal);
      return worker && engine && { worker, engine: engine.name, isFast: true };
    };
    return {
      parking: this.#parking,
      leave: (holder) => this.#leave(holder),
      park: (holder) => {
        this.#leave(holder);
        this.#fill();
      },
      release: ({ worker, isFast }, ...how) => {
        if (isFast) faster?.release(worker, ...how);
        else this.#stock.release(worker, ...how);
      },
      awaitPlace: (holder, placed) => {
        const onPlaced = (): void => {
          this.#trials.enter(holder);
          placed();
        };
        const remove = this.#queue.add({ kind: "parked", owner: holder.owner, isWaking: true, onPlaced });
        this.#serve();
        return remove;
      },
      enterAway: (onClosed) => this.#away.size < this.#options.queue && this.#away.add(onClosed) !== undefined,
      leaveAway: (onClosed) => void this.#away.delete(onClosed),
      retake: ({ owner }, isFast, signal) => this.take({ owner, isWaking: true, isFast }, signal),
      takeFaster: faster && takeFaster,
    };
  }

  #enter(owner: Owner): void {
    this.#leased += 1;
    this.#places.acquire(owner);
    if (this.#isFull) this.#trials.start(() => this.#try());
  }

  get #isFull(): boolean {
    return this.#leased >= this.#options.concurrency;
  }

  /**
   * Whether one more child should be ready, because the first program of another session would get a place on trial. Not
   * without a queue: there the operator wants what has no place to be refused.
   */
  get #needsSpare(): boolean {
    const { concurrency, queue } = this.#options;
    const isLong = queue > 0 && this.#leased === concurrency && this.#trials.areAllLong(this.#leased);
    return isLong && this.#stock.ready + this.#stock.starts.underWay === 0;
  }

  /** The place is on trial if it is one more than the pool has. */
  #hold(owner: Owner): PlaceHolder {
    const holder = { owner, leave: (): boolean => false };
    this.#trials.enter(holder, this.#leased > this.#options.concurrency);
    return holder;
  }

  #leave(holder: PlaceHolder): void {
    this.#leased -= 1;
    this.#places.release(holder.owner);
    this.#places.charge(holder.owner, this.#trials.leave(holder));
    this.#serve();
  }

  /** Whether it may have one more place than there are. */
  #mayTry({ owner, isWaking }: ChildRequest): boolean {
    const isFull = this.#leased === this.#options.concurrency && this.#trials.areAllLong(this.#leased);
    return isFull && !isWaking && this.#places.isWithoutPlace(owner);
  }

  /** Called now and then while all places are taken, and while an execution waits whose session has no place. */
  #try(): void {
    const isOnTrial = this.#leased > this.#options.concurrency;
    if (isOnTrial) this.#trials.end();
    const isWanted = this.#queue
      .items()
      .some(({ owner, isWaking }) => !isWaking && this.#places.isWithoutPlace(owner) && this.#places.mayHold(owner));
    if (!isWanted && !this.#isFull) return this.#trials.stop();
    this.#fill();
    this.#serve();
  }

  #mayServe(waiter: ChildRequest & Pick<Waiter, "kind">): boolean {
    const { owner, kind } = waiter;
    if (this.#leased >= this.#options.concurrency && !this.#mayTry(waiter)) return false;
    return kind === "childless" ? this.#places.mayTake(owner, this.#stock.ready) : this.#places.mayHold(owner);
  }

  /** Waiting executions come first, unless they may not be served now. */
  #maySkipQueue(request: ChildRequest & Pick<Waiter, "kind">): boolean {
    return this.#mayServe(request) && !this.#queue.items().some((waiter) => this.#mayServe(waiter));
  }

  #takeIdle({ owner, isWaking }: ChildRequest): PoolWorker | undefined {
    return this.#maySkipQueue({ owner, isWaking, kind: "childless" }) ? this.#lease(owner) : undefined;
  }

  #lease(owner: Owner): PoolWorker | undefined {
    const worker = this.#stock.take();
    if (worker) this.#enter(owner);
    return worker;
  }

  /** Gives places and ready children to waiting executions that may take one. */
  #serve(): void {
    for (;;) {
      const waiter = this.#queue.take((one) => this.#mayServe(one));
      if (!waiter) return;
      if (waiter.kind === "childless") {
        const worker = this.#lease(waiter.owner);
        if (worker) waiter.resolve(worker);
        continue;
      }
      this.#enter(waiter.owner);
      if (waiter.kind === "parked") waiter.onPlaced();
      else waiter.resolve();
    }
  }

  async #wait({ owner, isWaking }: ChildRequest, signal: AbortSignal): Promise<PoolWorker> {
    const since = performance.now();
    const waiting = { kind: "childless", owner, isWaking, since, ...Promise.withResolvers<PoolWorker>() } as const;
    const { overlapMs = 0 } = this.#options.engine;
    const served = this.#queueUp(waiting, signal);
    const retry = overlapMs > 0 ? setInterval(() => this.#fill(), overlapMs) : undefined;
    // The cause of earlier failures may be gone: each request is worth another try.
    if (this.#stock.size === 0) this.#stock.starts.forgetFailures();
    this.#fill();
    if (this.#places.hasNone(owner)) this.#stock.starts.hastenOne();
    await served.finally(() => clearInterval(retry));
    return waiting.promise;
  }

  #queueUp(waiter: Exclude<Waiter, { kind: "parked" }>, signal: AbortSignal): Promise<unknown> {
    const served = this.#queue.enter(waiter, signal);
    this.#trials.start(() => this.#try());
    return served;
  }

  /** Throws LIMIT_BUSY if one more execution of `owner`, after `coming` others, would be refused. */
  checkQueue(coming: number, owner: Owner): void {
    this.#queue.check(coming, owner);
  }

  /**
   * Starts children for the warm reserve, and one for every execution without a starting child. A child that prepares its
   * next isolate does not count: under steady load two children take turns without waiting. An engine with `overlapMs` is
   * faster than that: there it counts, and an execution waits for so long before it gets another child.
   */
  #fill(): void {
    const { overlapMs = 0 } = this.#options.engine;
    const before = performance.now() - overlapMs;
    const coming = (): number => this.#stock.starts.underWay + (overlapMs > 0 ? this.#stock.preparing : 0);
    const isWanting = ({ owner, since }: { readonly owner: Owner; readonly since: number }): boolean =>
      since <= before && this.#places.mayHold(owner);
    const isNeeded = (): boolean =>
      !this.#stock.isWarm || this.#needsSpare || this.#queue.childless().filter(isWanting).length > coming();
    while (!this.#isClosed && isNeeded()) {
      const present = this.#stock.size - this.#parking.size;
      const isTried = this.#needsSpare || this.#queue.childless().some((waiter) => this.#mayTry(waiter));
      const extra = isTried ? 1 : 0;
      if (present >= this.#options.concurrency + extra || this.#stock.starts.hasGivenUp) return;
      this.#stock.start(this.#isUrgent());
    }
  }

  /** Whether a principal without a child waits for it, or the only active principal. */
  #isUrgent(): boolean {
    const isUrgentFor = ({ owner }: Waiter): boolean =>
      this.#places.hasNone(owner) || this.#places.isOnlyPrincipal(owner);
    return !this.#stock.isWarm || this.#queue.childless().some(isUrgentFor);
  }

  #fail(error: GloveboxError): void {
    this.#state = { kind: "failed", error };
    this.#queue.refuseAll(error);
  }

  /** A child serves the next execution in the queue or stays idle. */
  #ready(): void {
    this.#state = { kind: "ready" };
    this.#serve();
    this.#fill();
  }

  load(): PoolLoad {
    const faster = this.#faster?.stock;
    const residentBytes = this.#stock.residentBytes + (faster?.residentBytes ?? 0);
    const busy = this.#leased + this.#parking.size;
    const idle = Math.max(0, this.#stock.size + (faster?.size ?? 0) - busy);
    return { waiting: this.#queue.items().length, busy, idle, residentBytes };
  }

  /** Without a request, nothing else would notice that the cause of failed starts is gone. */
  state(): SandboxState {
    if (this.#state.kind === "failed" && this.#stock.size === 0) this.#fill();
    return this.#state;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#trials.stop();
    this.#queue.refuseAll(createClosedError());
    this.#faster?.refuseAll(createClosedError());
    for (const onClosed of this.#away) onClosed();
    await Promise.all([this.#stock.close(), this.#faster?.stock.close()]);
  }
}
