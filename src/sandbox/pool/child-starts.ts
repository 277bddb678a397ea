/**
 * Starts children and leads each to the moment in which it can take its first program. Counts the starts that come to
 * nothing, so that a machine that cannot run the engine is not kept busy with trying.
 */

import type { GloveboxError } from "../../domain/index.ts";

import { capMemory } from "../cap-memory.ts";
import { LOW_PRIORITY } from "../priority.ts";
import { startChild } from "../start-child.ts";
import type { ChildOptions } from "../start-child.ts";
import { TO_HOST } from "../wire.ts";
import { createWorker, endWorker } from "./worker.ts";
import type { PoolWorker } from "./worker.ts";

const START_MS = 20_000;
/** So many starts without a single ready child mean that the machine cannot run the engine at all. */
const MOST_FAILED = 3;

export interface StartListener {
  /** It has its first isolate, and its memory is capped where that was promised. */
  up(worker: PoolWorker): void;
  /** It is gone, and was never up. */
  failed(worker: PoolWorker, reason: GloveboxError): void;
}

export class ChildStarts {
  readonly #options: ChildOptions;
  readonly #listener: StartListener;
  readonly #underWay = new Set<PoolWorker>();
  #failed = 0;
  /** Until it turns out that a child's priority cannot be raised again. */
  #mayGiveWay = true;

  constructor(options: ChildOptions, listener: StartListener) {
    this.#options = options;
    this.#listener = listener;
  }

  /** How many are on their way. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Too many in a row came to nothing. */
  get hasGivenUp(): boolean {
    return this.#failed >= MOST_FAILED;
  }

  /** One that is not urgent computes behind everybody else until it is up, or hastened. */
  start(isUrgent: boolean): PoolWorker {
    const child = startChild(this.#options, {
      frame: (frame) => frame.kind === TO_HOST.READY && void this.#begin(worker),
      gone: (reason) => this.#fail(worker, reason),
    });
    // Starting takes as much of the processor as a hundred short programs, and usually nobody waits for it.
    if (this.#mayGiveWay && !isUrgent) child.lowerPriority(LOW_PRIORITY);
    const worker = createWorker(child);
    worker.timer = setTimeout(() => endWorker(worker), START_MS);
    this.#underWay.add(worker);
    return worker;
  }

  /** Somebody came who has nothing else: a child that was started for those who can wait is waited for now. */
  hastenOne(): void {
    for (const { child, isDismissed } of this.#underWay) {
      if (!isDismissed && child.hasLowPriority && child.restorePriority()) return;
    }
  }

  /** A child died before its first program: as good as one that never started, and starting on would spin. */
  countFailure(): void {
    this.#failed += 1;
  }

  /** Children run programs, or whatever was wrong may have passed: starting is worth another try. */
  forgetFailures(): void {
    this.#failed = 0;
  }

  #fail(worker: PoolWorker, reason: GloveboxError): void {
    this.#underWay.delete(worker);
    this.#failed += 1;
    this.#listener.failed(worker, reason);
  }

  /** A new child is up. It takes no program before the kernel caps its memory, where that was promised. */
  async #begin(worker: PoolWorker): Promise<void> {
    const { child } = worker;
    // It has said all that it may say before its first program.
    child.listener = { ...child.listener, frame: () => endWorker(worker) };
    const { engine, usualMemoryBytes } = this.#options;
    const capped = engine.prlimit === undefined || (await capMemory(engine.prlimit, child.pid, usualMemoryBytes));
    if (child.isGone) return; // it died meanwhile, and nobody would be told again
    if (!capped || worker.isDismissed) return endWorker(worker);
    this.#underWay.delete(worker);
    if (child.restorePriority()) return this.#listener.up(worker);
    this.#mayGiveWay = false;
    endWorker(worker);
  }
}
