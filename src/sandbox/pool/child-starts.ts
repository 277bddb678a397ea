/**
 * Starts children until they are ready for their first program. Counts failed starts, so that a machine that cannot run
 * the engine is not kept busy with attempts.
 */

import type { GloveboxError } from "../../domain/index.ts";

import { LOW_PRIORITY } from "../priority.ts";
import { startChild } from "../start-child.ts";
import type { ChildOptions } from "../start-child.ts";
import { TO_HOST } from "../wire.ts";
import { makeReady } from "./make-ready.ts";
import { PoolWorker } from "./worker.ts";

const START_MS = 20_000;
/** After this many failed starts in a row, the machine cannot run the engine. */
const MOST_FAILED = 3;

interface StartListener {
  /** It has its first isolate, and its memory is capped if that was promised. */
  up(worker: PoolWorker): void;
  /** It ended before it was ready. */
  failed(worker: PoolWorker, reason: GloveboxError): void;
}

export class ChildStarts {
  readonly #options: ChildOptions;
  readonly #listener: StartListener;
  readonly #underWay = new Set<PoolWorker>();
  #failed = 0;
  /** False once a child's priority could not be restored. */
  #mayGiveWay = true;

  constructor(options: ChildOptions, listener: StartListener) {
    this.#options = options;
    this.#listener = listener;
  }

  /** The number of starts in progress. */
  get underWay(): number {
    return this.#underWay.size;
  }

  get hasGivenUp(): boolean {
    return this.#failed >= MOST_FAILED;
  }

  /** A start that is not urgent has low priority until the child is ready or hastened. */
  start(isUrgent: boolean): PoolWorker {
    const child = startChild(this.#options, {
      frame: (frame) => frame.kind === TO_HOST.READY && void this.#begin(worker),
      gone: (reason) => this.#fail(worker, reason),
    });
    // A start costs as much processor time as a hundred short programs, and usually no request waits for it.
    if (this.#mayGiveWay && !isUrgent) child.lowerPriority(LOW_PRIORITY);
    const worker = new PoolWorker(child);
    worker.timer = setTimeout(() => worker.end(), START_MS);
    this.#underWay.add(worker);
    return worker;
  }

  /** Restores the priority of one starting child, because a principal without a child waits for it. */
  hastenOne(): void {
    for (const { child, isDismissed } of this.#underWay) {
      if (!isDismissed && child.hasLowPriority && child.restorePriority()) return;
    }
  }

  /** A child died before its first program; it counts as a failed start, or restarts could loop. */
  countFailure(): void {
    this.#failed += 1;
  }

  /** Children run programs, or the cause may be gone: starts are worth another try. */
  forgetFailures(): void {
    this.#failed = 0;
  }

  #fail(worker: PoolWorker, reason: GloveboxError): void {
    this.#underWay.delete(worker);
    this.#failed += 1;
    this.#listener.failed(worker, reason);
  }

  /** A new child is ready. It gets no program before its filters are seen and the kernel caps its memory, if promised. */
  async #begin(worker: PoolWorker): Promise<void> {
    const { child } = worker;
    // It may send nothing more before its first program.
    child.listener = { ...child.listener, frame: () => worker.end() };
    const { engine, usualMemoryBytes } = this.#options;
    const isReady = engine.readiness === undefined || (await makeReady(engine.readiness, child.pid, usualMemoryBytes));
    if (child.isGone) return; // it died meanwhile; its listener was already called
    if (!isReady || worker.isDismissed) return worker.end();
    this.#underWay.delete(worker);
    if (child.restorePriority()) return this.#listener.up(worker);
    this.#mayGiveWay = false;
    worker.end();
  }
}
