/**
 * Starts children until they are ready for their first program. Counts failed starts, so that a machine that cannot run
 * the engine is not kept busy with attempts.
 */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { release } from "node:os";

import type { GloveboxError } from "../../domain/index.ts";

import { LOW_PRIORITY } from "../priority.ts";
import { startChild } from "../start-child.ts";
import type { ChildOptions } from "../start-child.ts";
import { TO_HOST } from "../wire.ts";
import { PoolWorker } from "./worker.ts";

const START_MS = 20_000;
/** After this many failed starts in a row, the machine cannot run the engine. */
const MOST_FAILED = 3;
/** Memory for garbage collection, compiled code and buffers besides a program's own data. */
const MARGIN_BYTES = 64 * 1024 * 1024;
/** An engine has about a dozen. The kernel counts them within the child's own user namespace, and spares root. */
const MOST_THREADS = 64;

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

  /** A new child is ready. It gets no program before the kernel caps its memory, if that was promised. */
  async #begin(worker: PoolWorker): Promise<void> {
    const { child } = worker;
    // It may send nothing more before its first program.
    child.listener = { ...child.listener, frame: () => worker.end() };
    const { engine, usualMemoryBytes } = this.#options;
    const capped = engine.prlimit === undefined || (await capMemory(engine.prlimit, child.pid, usualMemoryBytes));
    if (child.isGone) return; // it died meanwhile; its listener was already called
    if (!capped || worker.isDismissed) return worker.end();
    this.#underWay.delete(worker);
    if (child.restorePriority()) return this.#listener.up(worker);
    this.#mayGiveWay = false;
    worker.end();
  }
}

/**
 * Sets the kernel's caps on the memory and threads of a child once the engine is up: what it needs then, and a margin.
 * False if that fails; such a child may not be used where a cap was promised.
 */
export function capMemory(prlimit: string, pid: number, memoryBytes: number): Promise<boolean> {
  const present = readDataBytes(pid);
  if (present === undefined) return Promise.resolve(false);
  const data = `--data=${present + memoryBytes + MARGIN_BYTES}`;
  const threads = countsByNamespace(release()) ? [`--nproc=${MOST_THREADS}`] : [];
  const args = ["--pid", String(pid), data, ...threads];
  return new Promise((resolve) => {
    const child = spawn(prlimit, args, { stdio: "ignore", env: {}, cwd: "/" });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
}

/** Before Linux 5.14 the kernel counted all threads of the user on the machine, which would starve the engine. */
function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

/** Private writable memory, which is what RLIMIT_DATA counts. */
function readDataBytes(pid: number): number | undefined {
  try {
    const kilobytes = /^VmData:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
