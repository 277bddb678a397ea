/**
 * Watches one program from outside, where a guest cannot interfere: the time since its start, and the kernel's figures
 * for its child. Only this sees off-heap memory and native loops.
 */

import type { GloveboxError, Limits } from "../../domain/index.ts";

import { measureProcess } from "../measure.ts";
import type { ProcessMeasure } from "../measure.ts";
import { cpuOverrun, memoryOverrun, wallOverrun } from "./overruns.ts";
import { parseUsage } from "./parse-reports.ts";
import { LOWEST_PRIORITY } from "../priority.ts";
import type { SandboxChild } from "../start-child.ts";

const LOOK_MS = 20;
/** A program that computed for longer is not interactive. */
const GIVE_WAY_MS = 100;
/** The isolate ends itself at the limit with its logs in order; otherwise the child is killed after this time. */
const WALL_GRACE_MS = 25;
/** Memory of the engine besides the program's data: compiled code, garbage collection, buffers. */
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

  /** An engine without free memory may be unable to settle promises. */
  get isNearlyFull(): boolean {
    return this.#peakBytes > this.#options.limits.memoryBytes * NEARLY_ALL;
  }

  /** Adds the child's own report, which includes peaks between two measurements. */
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

/** After this time every program has been ended. */
export function lastMs(limits: Limits): number {
  return limits.wallMs + WALL_GRACE_MS;
}
