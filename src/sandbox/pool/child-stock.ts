/**
 * The children of one engine: starts them, hands out ready ones, and takes them back. A child whose program violated a
 * limit is never used again.
 */

import { GloveboxError } from "../../domain/index.ts";

import { expectRest } from "../child-lease.ts";
import type { ChildRest } from "../child-lease.ts";
import { measureProcess } from "../measure.ts";
import type { ChildOptions } from "../start-child.ts";
import { ChildStarts } from "./child-starts.ts";
import type { PoolWorker } from "./worker.ts";

const IDLE_MS = 30_000;
/** A child that computes for this long instead of preparing its next isolate is stuck in the last program. */
const READY_MS = 2_000;
/** One that gets no processor on a busy machine, or is stopped, has so many times as long. */
const READY_WAITS = 5;
/** Preparing takes a few milliseconds of processor time. */
const STUCK_CPU_MS = 500;
/** One that takes longer may be stuck. */
const PREPARES_MS = 100;

export interface StockOptions extends ChildOptions {
  /** As many stay while they are idle. */
  readonly warm: number;
  /** Called when a child is ready for a program. */
  readonly onReady: () => void;
  /** Called when a child is gone. */
  readonly onLost: () => void;
  /** Called after several failed starts in a row, when no other start is in progress. */
  readonly onFailed: (error: GloveboxError) => void;
}

export class ChildStock {
  readonly #options: StockOptions;
  readonly #idle: PoolWorker[] = [];
  readonly #all = new Set<PoolWorker>();
  readonly starts: ChildStarts;
  /** Children between two programs, with the times of their release. */
  readonly #preparing = new Map<PoolWorker, number>();
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: StockOptions) {
    this.#options = options;
    this.starts = new ChildStarts(options, {
      up: (worker) => this.#ready(worker),
      failed: (worker, reason) => this.#startFailed(worker, reason),
    });
  }

  get size(): number {
    return this.#all.size;
  }

  /** How many are ready. */
  get ready(): number {
    return this.#idle.length;
  }

  /** How many will probably be ready in a moment. */
  get preparing(): number {
    const since = performance.now() - PREPARES_MS;
    return this.#preparing
      .values()
      .filter((releasedAt) => releasedAt > since)
      .toArray().length;
  }

  /** Whether all that should stay are there, or are starting. */
  get isWarm(): boolean {
    return this.#all.size >= this.#options.warm;
  }

  get residentBytes(): number {
    return this.#all.values().reduce((sum, { child }) => sum + (measureProcess(child.pid)?.residentBytes ?? 0), 0);
  }

  start(isUrgent: boolean): void {
    if (!this.#closed) this.#all.add(this.starts.start(isUrgent));
  }

  /** A ready child, which is not ready any more. */
  take(): PoolWorker | undefined {
    const worker = this.#idle.pop();
    if (worker) clearTimeout(worker.timer);
    return worker;
  }

  release(worker: PoolWorker, reusable: boolean, { pongs, readyMs }: ChildRest = {}): void {
    worker.uses += 1;
    this.starts.forgetFailures();
    if (worker.child.isGone) return this.#forget(worker);
    const isComplete = expectRest(pongs);
    worker.child.listener = {
      frame: ({ kind }) => isComplete(kind) && this.#ready(worker),
      gone: () => this.#forget(worker),
    };
    if (!reusable || worker.isWornOut || !worker.child.restorePriority()) return this.#dismiss(worker);
    this.#preparing.set(worker, performance.now());
    if (readyMs === undefined) return this.#awaitReady(worker, cpuMsOf(worker), READY_WAITS);
    worker.timer = setTimeout(() => this.#dismiss(worker), readyMs);
  }

  #awaitReady(worker: PoolWorker, releasedAtCpuMs: number, waits: number): void {
    worker.timer = setTimeout(() => {
      const isStuck = cpuMsOf(worker) - releasedAtCpuMs >= STUCK_CPU_MS;
      if (isStuck || waits === 1) this.#dismiss(worker);
      else this.#awaitReady(worker, releasedAtCpuMs, waits - 1);
    }, READY_MS);
  }

  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>();
    for (const worker of this.#all) worker.child.kill();
    if (this.#all.size === 0) this.#closed.resolve();
    return this.#closed.promise;
  }

  #startFailed(worker: PoolWorker, reason: GloveboxError): void {
    this.#forget(worker);
    if (!this.starts.hasGivenUp || this.starts.underWay > 0) return;
    const error = new GloveboxError("SANDBOX_UNAVAILABLE", reason.message, {
      cause: reason,
      hint: reason.details.hint ?? "Run `glovebox doctor` to see what the sandbox needs on this machine",
    });
    this.#options.onFailed(error);
    this.starts.forgetFailures();
  }

  /** The child has a fresh isolate. */
  #ready(worker: PoolWorker): void {
    clearTimeout(worker.timer);
    this.#preparing.delete(worker);
    if (this.#closed || worker.isDismissed || !worker.renewBaseline()) return this.#dismiss(worker);
    worker.child.listener = { frame: () => this.#dismiss(worker), gone: () => this.#lose(worker) };
    const { warm, onReady } = this.#options;
    worker.timer = setTimeout(() => this.#all.size > warm && this.#dismiss(worker), IDLE_MS).unref();
    worker.readyAt = performance.now();
    this.#idle.push(worker);
    onReady();
  }

  #lose(worker: PoolWorker): void {
    if (worker.uses === 0 && !worker.isDismissed) this.starts.countFailure();
    this.#forget(worker);
  }

  #dismiss(worker: PoolWorker): void {
    this.#takeFromIdle(worker);
    worker.end();
  }

  #forget(worker: PoolWorker): void {
    clearTimeout(worker.timer);
    this.#all.delete(worker);
    this.#takeFromIdle(worker);
    if (this.#closed && this.#all.size === 0) this.#closed.resolve();
    else this.#options.onLost();
  }

  /** Removes it from the ready children, if it was one. */
  #takeFromIdle(worker: PoolWorker): void {
    this.#preparing.delete(worker);
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
  }
}

function cpuMsOf({ child }: PoolWorker): number {
  return measureProcess(child.pid)?.cpuMs ?? 0;
}
