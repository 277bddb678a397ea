/**
 * Watches one program from outside, where a guest cannot interfere: the time since its start, and the kernel's figures
 * for its child. Only this sees off-heap memory and native loops.
 */

import type { GloveboxError, Limits } from "../../domain/index.ts";

import { measureProcess } from "../measure.ts";
import { LOWEST_PRIORITY } from "../priority.ts";
import type { ChildLease } from "../start-child.ts";
import type { ChildWatch, Watchdog } from "../watchdog.ts";
import { MOST_TIMERS, createOverrun } from "./overruns.ts";
import { parseUsage, toDeath } from "./parse-reports.ts";

const LOOK_MS = 20;
/** A program that computed for longer is not interactive. */
const GIVE_WAY_MS = 100;
/** The isolate ends itself at the limit with its logs in order; otherwise the child is killed after this time. */
const WALL_GRACE_MS = 25;
/** The watchdog is later by this much: the watch of this file also knows what the child reported. */
const WATCHDOG_GRACE_MS = 100;
/** Memory of the engine besides the program's data: compiled code, garbage collection, buffers. */
const MEMORY_MARGIN_BYTES = 32 * 1024 * 1024;

/** Watches from its creation to `stop`. */
export class ProgramWatch {
  readonly #lease: ChildLease;
  readonly #limits: Limits;
  readonly #overrun: (error: GloveboxError) => void;
  readonly #startedAt = performance.now();
  readonly #wall: NodeJS.Timeout;
  readonly #looks: NodeJS.Timeout;
  readonly #guard: ChildWatch;
  #gaveWay = false;
  cpuMs = 0;
  /** The most memory that was measured for the program. */
  peakBytes = 0;

  /** `overrun` is called when a limit is passed, and again at the next look unless the watch is stopped. */
  constructor(
    lease: ChildLease & { readonly watchdog: Watchdog },
    limits: Limits,
    { overrun, onLook }: { readonly overrun: (error: GloveboxError) => void; readonly onLook: () => void },
  ) {
    this.#lease = lease;
    this.#limits = limits;
    this.#overrun = overrun;
    this.#wall = setTimeout(() => overrun(createOverrun("wall", limits)), lastMs(limits));
    this.#looks = setInterval(() => {
      this.#look();
      onLook();
    }, LOOK_MS);
    const { child, baseline, watchdog } = lease;
    this.#guard = watchdog.watch({
      group: child.group,
      pid: child.pid,
      wallMs: lastMs(limits) + WATCHDOG_GRACE_MS,
      cpuMs: baseline.cpuMs + limits.cpuMs + WATCHDOG_GRACE_MS,
      residentBytes: baseline.residentBytes + limits.memoryBytes + MEMORY_MARGIN_BYTES,
    });
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Adds the child's own report, which includes peaks between two measurements. */
  report(text: string): void {
    const { cpuMs, heapBytes } = parseUsage(text);
    this.cpuMs = Math.max(this.cpuMs, cpuMs);
    this.peakBytes = Math.max(this.peakBytes, heapBytes);
  }

  stop(): void {
    clearTimeout(this.#wall);
    clearInterval(this.#looks);
    this.#guard.stop();
  }

  /** Why the child is gone: a limit if the watchdog killed it for one, otherwise `reason`. */
  toDeath(reason: GloveboxError): GloveboxError {
    const limit = this.#guard.exceeded();
    return limit
      ? createOverrun(limit, this.#limits, Math.max(this.cpuMs, this.#limits.cpuMs))
      : toDeath(reason, this.#limits, this.peakBytes);
  }

  #look(): void {
    const { child, baseline } = this.#lease;
    const limits = this.#limits;
    const measure = measureProcess(child.pid);
    if (!measure) return;
    const usedBytes = measure.residentBytes - baseline.residentBytes;
    this.cpuMs = measure.cpuMs - baseline.cpuMs;
    if (this.cpuMs > GIVE_WAY_MS && !this.#gaveWay) {
      this.#gaveWay = true;
      child.lowerPriority(LOWEST_PRIORITY);
    }
    this.peakBytes = Math.max(this.peakBytes, usedBytes);
    if (usedBytes > limits.memoryBytes + MEMORY_MARGIN_BYTES) this.#overrun(createOverrun("memory", limits));
    else if (this.cpuMs > limits.cpuMs) this.#overrun(createOverrun("cpu", limits, this.cpuMs));
  }
}

/** After this time every program has been ended. */
export function lastMs(limits: Limits): number {
  return limits.wallMs + WALL_GRACE_MS;
}

/** The timers of one program. Calls `fire` for one that is due, and `onDue` with the number that will fire in time. */
export function createTimers(limits: Limits, fire: (id: number) => void, onDue: ((open: number) => void) | undefined) {
  const timers = new Set<NodeJS.Timeout>();
  let due = 0;
  let isStopped = false;
  const countDue = (change: 1 | -1): void => {
    due += change;
    if (!isStopped) onDue?.(due);
  };
  return {
    open: (): number => timers.size,
    /** Throws LIMIT_CALLS if the maximum number of timers is open. */
    checkRoom(): void {
      if (timers.size >= MOST_TIMERS) throw createOverrun("timers", limits);
    },
    /** `wantedMs` is untrusted and may be any number or NaN; `elapsedMs` is the age of the program. */
    start(id: number, wantedMs: number, elapsedMs: number): void {
      // A timer past the wall limit never fires, so a shorter delay is enough.
      const delayMs = Math.min(Math.max(wantedMs || 0, 0), lastMs(limits));
      // A timer that is due after the program's end does not count.
      const isDue = elapsedMs + delayMs < limits.wallMs;
      const timer = setTimeout(() => {
        timers.delete(timer);
        fire(id);
        if (isDue) countDue(-1);
      }, delayMs);
      timers.add(timer);
      if (isDue) countDue(1);
    },
    /** Afterwards no timer fires and nothing is counted. */
    stop(): void {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
