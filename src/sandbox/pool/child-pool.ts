/**
 * Keeps children ready and gives each to one execution at a time. One or two stay warm; more are started on demand up to
 * the concurrency limit and end when idle. A child whose program violated a limit is never used again. A child whose
 * program waits can be parked: it stays in memory, and another execution gets its place.
 */

import { GloveboxError } from "../../domain/index.ts";
import { createFairQueue } from "../../timing/index.ts";
import type { Owner, QueueItem } from "../../timing/index.ts";

import { measureProcess } from "../measure.ts";
import type { PoolLoad, SandboxState } from "../sandbox.ts";
import type { ChildLease, ChildOptions } from "../start-child.ts";
import { TO_HOST } from "../wire.ts";
import { ChildStarts } from "./child-starts.ts";
import { createParking } from "./parking.ts";
import type { Parking } from "./parking.ts";
import { createShares } from "./shares.ts";
import type { Shares } from "./shares.ts";
import { createTrials } from "./trials.ts";
import type { PlaceHolder, Trials } from "./trials.ts";
import type { PoolWorker } from "./worker.ts";

const IDLE_MS = 30_000;
const WARM = 1;
/** A child that does not prepare its next isolate in this time is stuck in the last program. */
const READY_MS = 2_000;

export interface PoolOptions extends ChildOptions {
  readonly concurrency: number;
  readonly queue: number;
}

/** An execution that waits for a child, or one that has a child and waits for a place. */
type Waiter = QueueItem &
  (
    | ({ readonly kind: "childless" } & PromiseWithResolvers<PoolWorker>)
    | { readonly kind: "parked"; readonly onPlaced: () => void }
  ) & { readonly isWaking: boolean };

/** Whose the execution is, and whether it has run before: then it waits its turn even if the queue is full. */
export type ChildRequest = QueueItem & { readonly isWaking: boolean };

export class ChildPool {
  readonly #options: PoolOptions;
  readonly #idle: PoolWorker[] = [];
  readonly #all = new Set<PoolWorker>();
  readonly #queue = createFairQueue<Waiter>(({ owner }) => this.#places.usedMs(owner));
  readonly #places: Shares;
  readonly #trials: Trials;
  readonly #starts: ChildStarts;
  readonly #parking: Parking;
  /** Programs that wait without a child, by what is called when the pool closes. */
  readonly #away = new Set<() => void>();
  /** Children that run a program, without parked ones. */
  #leased = 0;
  #state: SandboxState = { kind: "starting" };
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#places = createShares(options.concurrency, () => performance.now());
    this.#trials = createTrials(() => performance.now());
    this.#parking = createParking(options.concurrency);
    this.#starts = new ChildStarts(options, {
      up: (worker) => this.#ready(worker),
      failed: (worker, reason) => this.#startFailed(worker, reason),
    });
    this.#fill();
  }

  /** Waits for a child. Rejects with LIMIT_BUSY if the queue is full, with REQUEST_CANCELLED when `signal` aborts. */
  async take(request: ChildRequest, signal: AbortSignal): Promise<ChildLease> {
    if (this.#closed) throw createClosedError();
    if (signal.aborted) throw createCancelledError();
    this.#places.noteRequest(request.owner);
    const worker = this.#takeIdle(request) ?? (await this.#wait(request, signal));
    const lease = this.#createLease(worker, request.owner);
    if (worker.isFresh || (await worker.askAlive())) return lease;
    lease.release(false);
    return this.take(request, signal);
  }

  #createLease(worker: PoolWorker, owner: Owner): ChildLease {
    const parked = { suspend: (): boolean => false };
    const holder = this.#hold(owner);
    let waiter: Waiter | undefined;
    let onClosed: (() => void) | undefined;
    const release = (reusable: boolean): void => {
      if (!this.#parking.leave(parked)) this.#leave(holder);
      else if (waiter) this.#queue.remove(waiter);
      this.#release(worker, reusable);
    };
    return {
      child: worker.child,
      baseline: worker.baseline,
      park: (suspend) => {
        parked.suspend = suspend;
        if (!this.#parking.enter(parked)) return false;
        this.#leave(holder);
        this.#fill();
        return true;
      },
      wake: (placed) => {
        const onPlaced = (): void => {
          this.#parking.leave(parked);
          this.#trials.enter(holder);
          placed();
        };
        waiter = { kind: "parked", owner, isWaking: true, onPlaced };
        this.#queue.add(waiter);
        this.#serve();
      },
      vacate: (closed) => {
        if (this.#away.size >= this.#options.queue) return false;
        this.#away.add((onClosed = closed));
        release(false);
        return true;
      },
      onTrialOver: (leave) => void (holder.leave = leave),
      retake: (again) => {
        if (onClosed) this.#away.delete(onClosed);
        return this.take({ owner, isWaking: true }, again);
      },
      release: (reusable) => {
        if (onClosed) this.#away.delete(onClosed);
        else release(reusable);
      },
    };
  }

  #enter(owner: Owner): void {
    this.#leased += 1;
    this.#places.acquire(owner);
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

  #mayServe(waiter: ChildRequest & Pick<Waiter, "kind">): boolean {
    const { owner, kind } = waiter;
    if (this.#leased >= this.#options.concurrency && !this.#mayTry(waiter)) return false;
    return kind === "parked" ? this.#places.mayHold(owner) : this.#places.mayTake(owner, this.#idle.length);
  }

  /** Whether it may have one more place than there are. */
  #mayTry({ owner, isWaking }: ChildRequest): boolean {
    const isFull = this.#leased === this.#options.concurrency && this.#trials.areAllLong(this.#leased);
    return isFull && !isWaking && this.#places.isWithoutPlace(owner);
  }

  /** Called now and then while an execution waits whose session has no place, and while a place is on trial. */
  #try(): void {
    const isOnTrial = this.#leased > this.#options.concurrency;
    if (isOnTrial) this.#trials.end();
    const isWanted = this.#childless().some(
      ({ owner, isWaking }) => !isWaking && this.#places.isWithoutPlace(owner) && this.#places.mayHold(owner),
    );
    if (!isWanted) return isOnTrial ? undefined : this.#trials.stop();
    this.#fill();
    this.#serve();
  }

  /** Waiting executions come first, unless they may not take a ready child. */
  #takeIdle({ owner, isWaking }: ChildRequest): PoolWorker | undefined {
    if (!this.#mayServe({ owner, isWaking, kind: "childless" })) return undefined;
    if (this.#queue.items().some((waiter) => this.#mayServe(waiter))) return undefined;
    return this.#lease(owner);
  }

  #lease(owner: Owner): PoolWorker | undefined {
    const worker = this.#idle.pop();
    if (!worker) return undefined;
    clearTimeout(worker.timer);
    this.#enter(owner);
    return worker;
  }

  /** Gives places and ready children to waiting executions that may take one. */
  #serve(): void {
    for (;;) {
      const waiter = this.#queue.take((one) => this.#mayServe(one));
      if (!waiter) return;
      if (waiter.kind === "parked") {
        this.#enter(waiter.owner);
        waiter.onPlaced();
        continue;
      }
      const worker = this.#lease(waiter.owner);
      if (worker) waiter.resolve(worker);
    }
  }

  async #wait({ owner, isWaking }: ChildRequest, signal: AbortSignal): Promise<PoolWorker> {
    if (!isWaking) this.#makeRoomFor(owner);
    const waiter = { kind: "childless", owner, isWaking, ...Promise.withResolvers<PoolWorker>() } as const;
    const giveUp = (): void => {
      if (this.#queue.remove(waiter)) waiter.reject(createCancelledError());
    };
    signal.addEventListener("abort", giveUp, { once: true });
    this.#queue.add(waiter);
    // The cause of earlier failures may be gone: each request is worth another try.
    if (this.#all.size === 0) this.#starts.forgetFailures();
    this.#fill();
    if (this.#places.hasNone(owner)) this.#starts.hastenOne();
    this.#trials.start(() => this.#try());
    try {
      return await waiter.promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  /**
   * Throws LIMIT_BUSY if one more execution of `owner`, after `coming` others, would be refused. An execution with a free
   * place only waits for a child, which does not count against the queue's limit.
   */
  checkQueue(coming: number, owner: Owner): void {
    const { concurrency, queue } = this.#options;
    const waiting = this.#countWaiting() + coming;
    if (waiting >= queue && !this.#queue.findYielding(owner)) throw createBusyError(concurrency, waiting);
  }

  /** New executions without a free place; negative while places are free. Those that have run before do not count. */
  #countWaiting(): number {
    const waiting = this.#queue.items().filter(({ isWaking }) => !isWaking).length;
    return this.#leased + waiting - this.#options.concurrency;
  }

  /** A client that filled the queue cannot keep others out: the last execution of the longest line is refused instead. */
  #makeRoomFor(owner: Owner): void {
    this.checkQueue(0, owner);
    const { concurrency, queue } = this.#options;
    const waiting = this.#countWaiting();
    const last = waiting >= queue ? this.#queue.findYielding(owner) : undefined;
    if (last?.kind === "childless" && this.#queue.remove(last)) last.reject(createBusyError(concurrency, waiting));
  }

  #refuseAll(error: GloveboxError): void {
    for (const waiter of this.#childless()) if (this.#queue.remove(waiter)) waiter.reject(error);
  }

  #childless() {
    return this.#queue.items().filter((waiter) => waiter.kind === "childless");
  }

  /**
   * Starts children for the warm reserve, and one for every waiting execution without a starting child. A child that
   * prepares its next isolate does not count: under steady load two children take turns without waiting.
   */
  #fill(): void {
    const wanted = (): number => this.#childless().filter(({ owner }) => this.#places.mayHold(owner)).length;
    const isNeeded = (): boolean => this.#all.size < WARM || wanted() > this.#starts.underWay;
    while (!this.#closed && isNeeded()) {
      const present = this.#all.size - this.#parking.size;
      const extra = this.#childless().some((waiter) => this.#mayTry(waiter)) ? 1 : 0;
      if (present >= this.#options.concurrency + extra || this.#starts.hasGivenUp) return;
      this.#all.add(this.#starts.start(this.#isUrgent()));
    }
  }

  /** Whether a principal without a child waits for it, or the only active principal. */
  #isUrgent(): boolean {
    const isUrgentFor = ({ owner }: Waiter): boolean =>
      this.#places.hasNone(owner) || this.#places.isOnlyPrincipal(owner);
    return this.#all.size < WARM || this.#childless().some(isUrgentFor);
  }

  #startFailed(worker: PoolWorker, reason: GloveboxError): void {
    this.#forget(worker);
    if (!this.#starts.hasGivenUp || this.#starts.underWay > 0) return this.#fill();
    const error = new GloveboxError("SANDBOX_UNAVAILABLE", reason.message, {
      cause: reason,
      hint: reason.details.hint ?? "Run `glovebox doctor` to see what the sandbox needs on this machine",
    });
    this.#state = { kind: "failed", error };
    this.#refuseAll(error);
    this.#starts.forgetFailures();
  }

  /** The child has a fresh isolate: it serves the next execution in the queue or becomes idle. */
  #ready(worker: PoolWorker): void {
    clearTimeout(worker.timer);
    if (this.#closed || worker.isDismissed || !worker.renewBaseline()) return this.#dismiss(worker);
    this.#state = { kind: "ready" };
    worker.child.listener = { frame: () => this.#dismiss(worker), gone: () => this.#lose(worker) };
    worker.timer = setTimeout(() => this.#all.size > WARM && this.#dismiss(worker), IDLE_MS).unref();
    worker.readyAt = performance.now();
    this.#idle.push(worker);
    this.#serve();
    this.#fill();
  }

  #lose(worker: PoolWorker): void {
    if (worker.uses === 0 && !worker.isDismissed) this.#starts.countFailure();
    this.#forget(worker);
  }

  #dismiss(worker: PoolWorker): void {
    this.#takeFromIdle(worker);
    worker.end();
  }

  #release(worker: PoolWorker, reusable: boolean): void {
    worker.uses += 1;
    this.#starts.forgetFailures();
    if (worker.child.isGone) return this.#forget(worker);
    worker.child.listener = {
      frame: (frame) => frame.kind === TO_HOST.READY && this.#ready(worker),
      gone: () => this.#forget(worker),
    };
    if (!reusable || worker.isWornOut || !worker.child.restorePriority()) return this.#dismiss(worker);
    worker.timer = setTimeout(() => this.#dismiss(worker), READY_MS);
  }

  #forget(worker: PoolWorker): void {
    clearTimeout(worker.timer);
    this.#all.delete(worker);
    this.#takeFromIdle(worker);
    if (this.#closed && this.#all.size === 0) this.#closed.resolve();
    else this.#fill();
  }

  /** Removes it from the ready children, if it was one. */
  #takeFromIdle(worker: PoolWorker): void {
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  load(): PoolLoad {
    const residentBytes = this.#all
      .values()
      .reduce((sum, { child }) => sum + (measureProcess(child.pid)?.residentBytes ?? 0), 0);
    const busy = this.#leased + this.#parking.size;
    const idle = Math.max(0, this.#all.size - busy);
    return { waiting: this.#queue.items().length, busy, idle, residentBytes };
  }

  /** Without a request, nothing else would notice that the cause of failed starts is gone. */
  state(): SandboxState {
    if (this.#state.kind === "failed" && this.#all.size === 0) this.#fill();
    return this.#state;
  }

  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>();
    this.#trials.stop();
    this.#refuseAll(createClosedError());
    for (const onClosed of this.#away) onClosed();
    for (const worker of this.#all) worker.child.kill();
    if (this.#all.size === 0) this.#closed.resolve();
    return this.#closed.promise;
  }
}

function createClosedError(): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", "Glovebox is shutting down");
}

function createCancelledError(): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", "The execution was cancelled while it waited for its turn");
}

function createBusyError(places: number, waiting: number): GloveboxError {
  return new GloveboxError("LIMIT_BUSY", `All ${places} places are taken and ${waiting} executions wait`, {
    hint: "Try again in a moment; an operator can raise sandbox.concurrency or sandbox.queue",
  });
}
