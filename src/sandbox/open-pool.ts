/**
 * Keeps children ready and gives each to one execution at a time. One or two stay warm; more are started on demand
 * up to the concurrency limit and leave again when idle. A child that saw a violation is never used again.
 */

import { GloveboxError } from "../domain/index.ts";

import { askAlive } from "./ask-alive.ts";
import { capMemory } from "./confinement/cap-memory.ts";
import { createFairQueue } from "./fair-queue.ts";
import { createPlaces } from "./places.ts";
import type { Places } from "./places.ts";
import { NOTHING_MEASURED, measureProcess } from "./measure.ts";
import type { Measure } from "./measure.ts";
import { BEHIND } from "./priority.ts";
import type { SandboxLoad } from "./sandbox.ts";
import { startChild } from "./start-child.ts";
import type { Child, ChildOptions } from "./start-child.ts";
import { TO_HOST } from "./wire.ts";

/** A child grows by a few megabytes in a thousand executions, and starting one takes as long as a hundred of them. */
const RECYCLE_AFTER = 5_000;
/** One that holds so much more than at its start has not given back what programs used; the next needs its room. */
const MOST_GROWTH_BYTES = 48 * 1024 * 1024;
const IDLE_MS = 30_000;
/** A child that has not spoken for so long is asked whether it still answers before it gets a program. */
const FRESH_MS = 100;
const WARM = 1;
/** A child that was told to prepare its next isolate and does not is stuck in the last program. */
const READY_MS = 2_000;
const START_MS = 20_000;
/** So many starts without a single ready child mean that the machine cannot run the engine at all. */
const MOST_FAILED_STARTS = 3;

export interface PoolOptions extends ChildOptions {
  readonly concurrency: number;
  readonly queue: number;
}

export interface Lease {
  readonly child: Child;
  readonly baseline: Measure;
  /** Gives the child back, or away: `false` when it may not be used again. */
  release(reusable: boolean): void;
}

export interface Pool {
  /** Waits for a child. Rejects with LIMIT_BUSY when the queue is full, with REQUEST_CANCELLED when `signal` says so. */
  take(principal: string, signal: AbortSignal): Promise<Lease>;
  load(): SandboxLoad;
  close(): Promise<void>;
}

interface Worker {
  readonly child: Child;
  uses: number;
  /** What it held when it was new. */
  firstBytes: number;
  baseline: Measure;
  timer: NodeJS.Timeout | undefined;
  /** When it last said that it is ready, by the clock of this process. */
  readyAt: number;
  /** It has never been ready. */
  isStarting: boolean;
  /** It is being ended; whatever it still says, it gets no program. */
  isDismissed: boolean;
}

interface Waiter {
  readonly principal: string;
  readonly resolve: (worker: Worker) => void;
  readonly reject: (error: GloveboxError) => void;
}

export function openPool(options: PoolOptions): Pool {
  return new ChildPool(options);
}

class ChildPool implements Pool {
  readonly #options: PoolOptions;
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  readonly #queue = createFairQueue<Waiter>();
  readonly #places: Places;
  #leased = 0;
  #starting = 0;
  #failedStarts = 0;
  /** Until it turns out that a child's priority cannot be raised again. */
  #mayGiveWay = true;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#places = createPlaces(options.concurrency, () => performance.now());
    this.#fill();
  }

  async take(principal: string, signal: AbortSignal): Promise<Lease> {
    if (this.#closed) throw new GloveboxError("REQUEST_CANCELLED", "Glovebox is shutting down");
    if (signal.aborted) throw cancelled();
    this.#places.see(principal);
    const worker = await this.#find(principal, signal);
    const release = (reusable: boolean): void => {
      this.#places.leave(principal);
      this.#release(worker, reusable);
    };
    const isFresh = performance.now() - worker.readyAt < FRESH_MS;
    if (isFresh || (await askAlive(worker.child))) return { child: worker.child, baseline: worker.baseline, release };
    release(false);
    return this.take(principal, signal);
  }

  /** Those who wait already come first, unless what is ready is not for them. */
  async #find(principal: string, signal: AbortSignal): Promise<Worker> {
    const mayTake = (one: string): boolean => this.#places.mayTake(one, this.#idle.length);
    const worker = mayTake(principal) && this.#queue.count(mayTake) === 0 ? this.#idle.pop() : undefined;
    if (!worker) return this.#wait(principal, signal);
    this.#lease(worker, principal);
    return worker;
  }

  #lease(worker: Worker, principal: string): void {
    clearTimeout(worker.timer);
    this.#leased += 1;
    this.#places.enter(principal);
  }

  /** Hands ready children to those who wait and may have one. */
  #serve(): void {
    for (;;) {
      const waiter = this.#queue.take((principal) => this.#places.mayTake(principal, this.#idle.length));
      const worker = waiter && this.#idle.pop();
      if (!waiter || !worker) return;
      this.#lease(worker, waiter.principal);
      waiter.resolve(worker);
    }
  }

  #wait(principal: string, signal: AbortSignal): Promise<Worker> {
    // Whoever gets one of the free places waits for a child at most, which is not the queue that the limit is about.
    const free = this.#options.concurrency - this.#leased;
    if (this.#queue.length >= free + this.#options.queue) {
      throw new GloveboxError(
        "LIMIT_BUSY",
        `All ${this.#options.concurrency} places are taken and ${this.#queue.length} executions wait`,
        {
          hint: "Try again in a moment; an operator can raise sandbox.concurrency or sandbox.queue",
        },
      );
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        if (this.#queue.remove(principal, waiter)) reject(cancelled());
      };
      const waiter: Waiter = {
        principal,
        resolve: (worker) => {
          signal.removeEventListener("abort", giveUp);
          resolve(worker);
        },
        reject: (error) => {
          signal.removeEventListener("abort", giveUp);
          reject(error);
        },
      };
      signal.addEventListener("abort", giveUp, { once: true });
      this.#queue.add(principal, waiter);
      // Whatever was wrong may have passed: each request is worth another try.
      if (this.#all.size === 0) this.#failedStarts = 0;
      this.#fill();
      if (this.#places.holdsNone(principal)) this.#hasten();
    });
  }

  /** Somebody came who has nothing else: a child that was started for those who can wait is waited for now. */
  #hasten(): void {
    for (const { child, isStarting, isDismissed } of this.#all) {
      if (isStarting && !isDismissed && child.hasGivenWay && child.comeBack()) return;
    }
  }

  /**
   * Starts children for the warm reserve, and one for every waiting execution that has none on its way. A child that
   * is making its next isolate is not one of those: under steady load two children take turns and nobody waits.
   */
  #fill(): void {
    const wanted = (): number => this.#queue.count((principal) => this.#places.mayHold(principal));
    const isNeeded = (): boolean => this.#all.size < WARM || wanted() > this.#starting;
    while (!this.#closed && isNeeded()) {
      if (this.#all.size >= this.#options.concurrency || this.#failedStarts >= MOST_FAILED_STARTS) return;
      this.#start();
    }
  }

  #start(): void {
    this.#starting += 1;
    const child = startChild(this.#options, {
      frame: (frame) => frame.kind === TO_HOST.READY && void this.#begin(worker),
      gone: (reason) => this.#startFailed(worker, reason),
    });
    // Starting takes as much of the processor as a hundred short programs, and usually nobody waits for it.
    if (this.#mayGiveWay && !this.#isUrgent()) child.giveWay(BEHIND);
    const worker: Worker = {
      child,
      uses: 0,
      firstBytes: Infinity,
      baseline: NOTHING_MEASURED,
      timer: undefined,
      readyAt: 0,
      isStarting: true,
      isDismissed: false,
    };
    worker.timer = setTimeout(() => this.#dismiss(worker), START_MS);
    this.#all.add(worker);
  }

  /** Somebody waits for it who has nothing else, or whom nobody else would wait for. */
  #isUrgent(): boolean {
    const isUrgentFor = (principal: string): boolean =>
      this.#places.holdsNone(principal) || this.#places.isAlone(principal);
    return this.#all.size < WARM || this.#queue.count(isUrgentFor) > 0;
  }

  #startFailed(worker: Worker, reason: GloveboxError): void {
    this.#starting -= 1;
    this.#failedStarts += 1;
    this.#forget(worker);
    if (this.#failedStarts < MOST_FAILED_STARTS || this.#starting > 0) return this.#fill();
    const error = new GloveboxError("SANDBOX_UNAVAILABLE", reason.message, {
      cause: reason,
      hint: "Run `glovebox doctor` to see what the sandbox needs on this machine",
    });
    for (let waiter = this.#queue.take(); waiter; waiter = this.#queue.take()) waiter.reject(error);
    this.#failedStarts = 0;
  }

  /** A new child is up. It takes no program before the kernel caps its memory, where that was promised. */
  async #begin(worker: Worker): Promise<void> {
    // It has said all that it may say before its first program.
    worker.child.listener = { ...worker.child.listener, frame: () => this.#dismiss(worker) };
    const { engine, usualMemoryBytes } = this.#options;
    const capped =
      engine.prlimit === undefined || (await capMemory(engine.prlimit, worker.child.pid, usualMemoryBytes));
    if (!this.#all.has(worker)) return; // it died meanwhile, and nobody would be told again
    if (!capped || worker.isDismissed) return this.#dismiss(worker);
    this.#starting -= 1;
    worker.isStarting = false;
    if (worker.child.comeBack()) return this.#ready(worker);
    this.#mayGiveWay = false;
    this.#dismiss(worker);
  }

  /** The child has a fresh isolate: it goes to the next in the queue, or to rest. */
  #ready(worker: Worker): void {
    clearTimeout(worker.timer);
    if (this.#closed || worker.isDismissed) return this.#dismiss(worker);
    worker.baseline = measureProcess(worker.child.pid) ?? NOTHING_MEASURED;
    if (worker.baseline.residentBytes > worker.firstBytes + MOST_GROWTH_BYTES) return this.#dismiss(worker);
    worker.firstBytes = Math.min(worker.firstBytes, worker.baseline.residentBytes);
    worker.child.listener = { frame: () => this.#dismiss(worker), gone: () => this.#lose(worker) };
    worker.timer = setTimeout(() => this.#rest(worker), IDLE_MS);
    worker.timer.unref();
    worker.readyAt = performance.now();
    this.#idle.push(worker);
    this.#serve();
    this.#fill();
  }

  /** A child that dies before its first program is as good as one that never started: starting on would spin. */
  #lose(worker: Worker): void {
    if (worker.uses === 0 && !worker.isDismissed) this.#failedStarts += 1;
    this.#forget(worker);
  }

  #rest(worker: Worker): void {
    if (this.#all.size > WARM) this.#dismiss(worker);
  }

  /** Takes some time until the process is gone, in which nobody may get it. */
  #dismiss(worker: Worker): void {
    worker.isDismissed = true;
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
    worker.child.kill();
  }

  #release(worker: Worker, reusable: boolean): void {
    this.#leased -= 1;
    worker.uses += 1;
    this.#failedStarts = 0;
    this.#serve();
    if (worker.child.isGone) return this.#forget(worker);
    worker.child.listener = {
      frame: (frame) => frame.kind === TO_HOST.READY && this.#ready(worker),
      gone: () => this.#forget(worker),
    };
    if (!reusable || worker.uses >= RECYCLE_AFTER || !worker.child.comeBack()) return this.#dismiss(worker);
    worker.timer = setTimeout(() => this.#dismiss(worker), READY_MS);
  }

  #forget(worker: Worker): void {
    clearTimeout(worker.timer);
    this.#all.delete(worker);
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
    if (this.#closed && this.#all.size === 0) this.#closed.resolve();
    else this.#fill();
  }

  load(): SandboxLoad {
    const measured = [...this.#all].map(({ child }) => measureProcess(child.pid) ?? NOTHING_MEASURED);
    const residentBytes = measured.reduce((sum, one) => sum + one.residentBytes, 0);
    const busy = this.#leased;
    return { waiting: this.#queue.length, busy, idle: Math.max(0, this.#all.size - busy), residentBytes };
  }

  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>();
    const error = new GloveboxError("REQUEST_CANCELLED", "Glovebox is shutting down");
    for (let waiter = this.#queue.take(); waiter; waiter = this.#queue.take()) waiter.reject(error);
    for (const worker of this.#all) worker.child.kill();
    if (this.#all.size === 0) this.#closed.resolve();
    return this.#closed.promise;
  }
}

function cancelled(): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", "The execution was cancelled while it waited for its turn");
}
