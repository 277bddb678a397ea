/**
 * Watches one program from outside, where no guest can cheat: the time since its start, and what the kernel says of its
 * child. Off-heap memory and native loops show up here and nowhere else.
 */

import type { GloveboxError, Limits } from "../../domain/index.ts";

import { measureProcess } from "../measure.ts";
import type { ProcessMeasure } from "../measure.ts";
import { cpuOverrun, memoryOverrun, wallOverrun } from "./overruns.ts";
import { parseUsage } from "./parse-reports.ts";
import { LOWEST_PRIORITY } from "../priority.ts";
import type { SandboxChild } from "../start-child.ts";

const LOOK_MS = 20;
/** A program that has computed for so long is not one that somebody waits for at a keystroke. */
const GIVE_WAY_MS = 100;
/** The isolate ends itself at the limit, with its logs in order; the kill follows if it does not. */
const WALL_GRACE_MS = 25;
/** What an engine needs beside the program's own data: compiled code, collection, buffers. */
const MEMORY_MARGIN_BYTES = 32 * 1024 * 1024;
const NEARLY_ALL = 0.8;

export interface WatchOptions {
  readonly child: SandboxChild;
  /** What the child had used before this program. */
  readonly baseline: ProcessMeasure;
  readonly limits: Limits;
  /** Called when a limit is passed, and again at the next look unless the watch is stopped. */
  readonly overrun: (error: GloveboxError) => void;
}

/** From its making to `stop`. */
export class ProgramWatch {
  readonly #options: WatchOptions;
  readonly #startedAt = performance.now();
  readonly #wall: NodeJS.Timeout;
  readonly #looks: NodeJS.Timeout;
  #cpuMs = 0;
  #gaveWay = false;
  #peakBytes = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    const { limits, overrun } = options;
    this.#wall = setTimeout(() => overrun(wallOverrun(limits)), lastMs(limits));
    this.#looks = setInterval(() => this.#look(), LOOK_MS);
  }

  get cpuMs(): number {
    return this.#cpuMs;
  }

  /** The most memory that the program was seen to hold. */
  get peakBytes(): number {
    return this.#peakBytes;
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** An engine that has no memory left may not be able to do what it is asked. */
  get isNearlyFull(): boolean {
    return this.#peakBytes > this.#options.limits.memoryBytes * NEARLY_ALL;
  }

  /** Takes the child's own account, which sees what is too short for a look. */
  report(text: string): void {
    const { cpuMs, heapBytes } = parseUsage(text);
    this.#cpuMs = Math.max(this.#cpuMs, cpuMs);
    this.#peakBytes = Math.max(this.#peakBytes, heapBytes);
  }

  stop(): void {
    clearTimeout(this.#wall);
    clearInterval(this.#looks);
  }

  #look(): void {
    const { child, baseline, limits, overrun } = this.#options;
    const measure = measureProcess(child.pid);
    if (!measure) return;
    const usedBytes = measure.residentBytes - baseline.residentBytes;
    this.#cpuMs = measure.cpuMs - baseline.cpuMs;
    if (this.#cpuMs > GIVE_WAY_MS && !this.#gaveWay) {
      this.#gaveWay = true;
      child.lowerPriority(LOWEST_PRIORITY);
    }
    this.#peakBytes = Math.max(this.#peakBytes, usedBytes);
    if (usedBytes > limits.memoryBytes + MEMORY_MARGIN_BYTES) overrun(memoryOverrun(limits));
    else if (this.#cpuMs > limits.cpuMs) overrun(cpuOverrun(limits, this.#cpuMs));
  }
}

/** After so long no program runs any more, whatever it does. */
export function lastMs(limits: Limits): number {
  return limits.wallMs + WALL_GRACE_MS;
}
