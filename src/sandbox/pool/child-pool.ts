/**
 * Keeps children ready and gives each to one execution at a time. One or two stay warm; more are started on demand up to
 * the concurrency limit and end when idle. A child whose program violated a limit is never used again.
 */

import { GloveboxError } from "../../domain/index.ts";

import { measureProcess } from "../measure.ts";
import type { PoolLoad, SandboxState } from "../sandbox.ts";
import type { ChildLease, ChildOptions } from "../start-child.ts";
import { TO_HOST } from "../wire.ts";
import { ChildStarts } from "./child-starts.ts";
import { createFairQueue } from "./fair-queue.ts";
import type { Owner } from "./fair-queue.ts";
import { createShares } from "./shares.ts";
import type { Shares } from "./shares.ts";
import type { PoolWorker } from "./worker.ts";

const IDLE_MS = 30_000;
const WARM = 1;
/** A child that does not prepare its next isolate in this time is stuck in the last program. */
const READY_MS = 2_000;

export interface PoolOptions extends ChildOptions {
  readonly concurrency: number;
  readonly queue: number;
}

/** An execution that waits for a child. */
interface Waiter extends PromiseWithResolvers<PoolWorker> {
  readonly owner: Owner;
}

export class ChildPool {
  readonly #options: PoolOptions;
  readonly #idle: PoolWorker[] = [];
  readonly #all = new Set<PoolWorker>();
  readonly #queue = createFairQueue<Waiter>();
  readonly #places: Shares;
  readonly #starts: ChildStarts;
  #leased = 0;
  #state: SandboxState = { kind: "starting" };
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#places = createShares(options.concurrency, () => performance.now());
    this.#starts = new ChildStarts(options, {
      up: (worker) => this.#ready(worker),
      failed: (worker, reason) => this.#startFailed(worker, reason),
    });
    this.#fill();
  }

  /** Waits for a child. Rejects with LIMIT_BUSY if the queue is full, with REQUEST_CANCELLED when `signal` aborts. */
  async take(owner: Owner, signal: AbortSignal): Promise<ChildLease> {
    if (this.#closed) throw createClosedError();
    if (signal.aborted) throw createCancelledError();
    this.#places.noteRequest(owner);
    const worker = this.#takeIdle(owner) ?? (await this.#wait(owner, signal));
    const release = (reusable: boolean): void => {
      this.#places.release(owner);
      this.#release(worker, reusable);
    };
    if (worker.isFresh || (await worker.askAlive())) return { child: worker.child, baseline: worker.baseline, release };
    release(false);
    return this.take(owner, signal);
  }

  #mayTake(owner: Owner): boolean {
    return this.#places.mayTake(owner, this.#idle.length);
  }

  /** Waiting executions come first, unless they may not take a ready child. */
  #takeIdle(owner: Owner): PoolWorker | undefined {
    if (!this.#mayTake(owner) || this.#queue.count((waiter) => this.#mayTake(waiter.owner)) > 0) return undefined;
    const worker = this.#idle.pop();
    if (worker) this.#lease(worker, owner);
    return worker;
  }

  #lease(worker: PoolWorker, owner: Owner): void {
    clearTimeout(worker.timer);
    this.#leased += 1;
    this.#places.acquire(owner);
  }

  /** Gives ready children to waiting executions that may take one. */
  #serve(): void {
    for (;;) {
      const waiter = this.#queue.take(({ owner }) => this.#mayTake(owner));
      const worker = waiter && this.#idle.pop();
      if (!waiter || !worker) return;
      this.#lease(worker, waiter.owner);
      waiter.resolve(worker);
    }
  }

  async #wait(owner: Owner, signal: AbortSignal): Promise<PoolWorker> {
    this.#makeRoomFor(owner);
    const waiter: Waiter = { owner, ...Promise.withResolvers<PoolWorker>() };
    const giveUp = (): void => {
      if (this.#queue.remove(waiter)) waiter.reject(createCancelledError());
    };
    signal.addEventListener("abort", giveUp, { once: true });
    this.#queue.add(waiter);
    // The cause of earlier failures may be gone: each request is worth another try.
    if (this.#all.size === 0) this.#starts.forgetFailures();
    this.#fill();
    if (this.#places.hasNone(owner)) this.#starts.hastenOne();
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
    const waiting = this.#leased + this.#queue.length + coming - concurrency;
    if (waiting >= queue && !this.#queue.findYielding(owner)) throw createBusyError(concurrency, waiting);
  }

  /** A client that filled the queue cannot keep others out: the last execution of the longest line is refused instead. */
  #makeRoomFor(owner: Owner): void {
    this.checkQueue(0, owner);
    const { concurrency, queue } = this.#options;
    const waiting = this.#leased + this.#queue.length - concurrency;
    const last = waiting >= queue ? this.#queue.findYielding(owner) : undefined;
    if (last && this.#queue.remove(last)) last.reject(createBusyError(concurrency, waiting));
  }

  #refuseAll(error: GloveboxError): void {
    for (let waiter = this.#queue.take(); waiter; waiter = this.#queue.take()) waiter.reject(error);
  }

  /**
   * Starts children for the warm reserve, and one for every waiting execution without a starting child. A child that
   * prepares its next isolate does not count: under steady load two children take turns without waiting.
   */
  #fill(): void {
    const wanted = (): number => this.#queue.count(({ owner }) => this.#places.mayHold(owner));
    const isNeeded = (): boolean => this.#all.size < WARM || wanted() > this.#starts.underWay;
    while (!this.#closed && isNeeded()) {
      if (this.#all.size >= this.#options.concurrency || this.#starts.hasGivenUp) return;
      this.#all.add(this.#starts.start(this.#isUrgent()));
    }
  }

  /** Whether a principal without a child waits for it, or the only active principal. */
  #isUrgent(): boolean {
    const isUrgentFor = ({ owner }: Waiter): boolean =>
      this.#places.hasNone(owner) || this.#places.isOnlyPrincipal(owner);
    return this.#all.size < WARM || this.#queue.count(isUrgentFor) > 0;
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
    this.#leased -= 1;
    worker.uses += 1;
    this.#starts.forgetFailures();
    this.#serve();
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
    const idle = Math.max(0, this.#all.size - this.#leased);
    return { waiting: this.#queue.length, busy: this.#leased, idle, residentBytes };
  }

  /** Without a request, nothing else would notice that the cause of failed starts is gone. */
  state(): SandboxState {
    if (this.#state.kind === "failed" && this.#all.size === 0) this.#fill();
    return this.#state;
  }

  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>();
    this.#refuseAll(createClosedError());
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
