/**
 * Watches one program from outside, where a guest cannot interfere: the time since its start, and the kernel's figures
 * for its child. Only this sees off-heap memory and native loops.
 */

import type { GloveboxError, Limits } from "../../domain/index.ts";
import { HOUR_MS } from "../../timing/index.ts";

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
/** Longer than a queue takes. */
const MOST_PATIENT_MS = HOUR_MS;
/** The watchdog is later by this much: the watch of this file also knows what the child reported. */
const WATCHDOG_GRACE_MS = 100;
/** Memory of the engine besides the program's data: compiled code, garbage collection, buffers. */
const MEMORY_MARGIN_BYTES = 32 * 1024 * 1024;

export interface WatchOptions {
  readonly limits: Limits;
  readonly watchdog: Watchdog;
  /** Called when a limit is passed, and again at the next look unless the watch is stopped. */
  readonly overrun: (error: GloveboxError) => void;
  /** Called after every look. */
  readonly onLook: () => void;
}

/** Watches from its creation to `stop`: the time always, and the child that it is given. */
export class ProgramWatch {
  readonly #options: WatchOptions;
  readonly #looks: NodeJS.Timeout;
  #wall: NodeJS.Timeout;
  /** When its time began to run, or to stand still. */
  #changedAt = performance.now();
  #isPaused = false;
  /** Whether it may be paused for any time: it did not leave its place by itself. */
  isPatient = false;
  /** Of its pauses, those that may take any time. */
  #excusedMs = 0;
  #ranMs = 0;
  #pausedMs = 0;
  /** Since when the host holds its calls back. */
  #heldAt: number | undefined;
  /** How long the host held its calls back. */
  heldMs = 0;
  #lease: ChildLease | undefined;
  #guard: ChildWatch | undefined;
  #gaveWay = false;
  /** Of its earlier children, and of the present one. */
  #earlierCpuMs = 0;
  #childCpuMs = 0;
  /** The most memory that was measured for the program. */
  peakBytes = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#wall = this.#startWall();
    this.#looks = setInterval(() => {
      this.#look();
      options.onLook();
    }, LOOK_MS);
  }

  /** Watches this child from now on. */
  attach(lease: ChildLease): void {
    this.#lease = lease;
    this.#gaveWay = false;
    this.#startGuard();
  }

  /** The child no longer runs the program. */
  detach(): void {
    this.#lease = undefined;
    this.#guard?.stop();
    this.#guard = undefined;
    this.#earlierCpuMs += this.#childCpuMs;
    this.#childCpuMs = 0;
  }

  /** Stops the program's time, but not for longer in all than its limit. */
  pause(): void {
    this.#ranMs = this.elapsedMs;
    this.#turn(true);
  }

  resume(): void {
    if (this.isPatient) this.#excusedMs += this.pausedMs - this.#pausedMs;
    this.isPatient = false;
    this.#pausedMs = this.pausedMs;
    this.#turn(false);
  }

  get isHeld(): boolean {
    return this.#heldAt !== undefined;
  }

  /** Stops the program's time for as long as the host needs: the host has limits of its own. */
  set isHeld(isHeld: boolean) {
    const now = performance.now();
    const heldMs = this.#heldAt === undefined ? 0 : now - this.#heldAt;
    this.#heldAt = isHeld ? now : undefined;
    this.heldMs += heldMs;
    this.#changedAt += heldMs;
    clearTimeout(this.#wall);
    if (!isHeld) this.#wall = this.#startWall();
    this.#startGuard();
  }

  #turn(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#changedAt = performance.now();
    clearTimeout(this.#wall);
    this.#wall = this.#startWall();
    if (this.#lease) this.#startGuard();
  }

  #startWall(): NodeJS.Timeout {
    const { limits, overrun } = this.#options;
    return setTimeout(() => overrun(createOverrun(this.#isPaused ? "place" : "wall", limits)), this.#restMs);
  }

  #startGuard(): void {
    if (!this.#lease) return;
    const { limits, watchdog } = this.#options;
    const { child, baseline } = this.#lease;
    this.#guard?.stop();
    this.#guard = watchdog.watch({
      group: child.group,
      pid: child.pid,
      wallMs: this.isHeld ? Infinity : this.#restMs + WATCHDOG_GRACE_MS,
      cpuMs: baseline.cpuMs + limits.cpuMs + WATCHDOG_GRACE_MS,
      residentBytes: baseline.residentBytes + limits.memoryBytes + MEMORY_MARGIN_BYTES,
    });
  }

  /** Until its time, or the time in which it may be paused, is over. */
  get #restMs(): number {
    if (this.#isPaused && this.isPatient) return MOST_PATIENT_MS;
    const spentMs = this.#isPaused ? this.pausedMs - this.#excusedMs : this.elapsedMs;
    return Math.max(0, lastMs(this.#options.limits) - spentMs);
  }

  /** How long it ran, without pauses. */
  get elapsedMs(): number {
    return this.#ranMs + (this.#isPaused ? 0 : (this.#heldAt ?? performance.now()) - this.#changedAt);
  }

  get pausedMs(): number {
    return this.#pausedMs + (this.#isPaused ? performance.now() - this.#changedAt : 0);
  }

  /** The program's remaining time. */
  get leftMs(): number {
    return Math.max(1, Math.ceil(this.#options.limits.wallMs - this.elapsedMs));
  }

  get cpuMs(): number {
    return this.#earlierCpuMs + this.#childCpuMs;
  }

  /** Adds the child's own report, which includes peaks between two measurements. */
  report(text: string): void {
    const { cpuMs, heapBytes } = parseUsage(text);
    this.#childCpuMs = Math.max(this.#childCpuMs, cpuMs);
    this.peakBytes = Math.max(this.peakBytes, heapBytes);
  }

  stop(): void {
    clearTimeout(this.#wall);
    clearInterval(this.#looks);
    this.#guard?.stop();
  }

  /** Why the child is gone: a limit if the watchdog killed it for one, otherwise `reason`. */
  toDeath(reason: GloveboxError): GloveboxError {
    const { limits } = this.#options;
    const limit = this.#guard?.exceeded();
    if (limit === "wall" && this.#isPaused) return createOverrun("place", limits);
    return limit
      ? createOverrun(limit, limits, Math.max(this.cpuMs, limits.cpuMs))
      : toDeath(reason, limits, this.peakBytes);
  }

  #look(): void {
    if (!this.#lease) return;
    const { child, baseline } = this.#lease;
    const { limits, overrun } = this.#options;
    const measure = measureProcess(child.pid);
    if (!measure) return;
    const usedBytes = measure.residentBytes - baseline.residentBytes;
    this.#childCpuMs = measure.cpuMs - baseline.cpuMs;
    if (this.#childCpuMs > GIVE_WAY_MS && !this.#gaveWay) {
      this.#gaveWay = true;
      child.lowerPriority(LOWEST_PRIORITY);
    }
    this.peakBytes = Math.max(this.peakBytes, usedBytes);
    if (usedBytes > limits.memoryBytes + MEMORY_MARGIN_BYTES) overrun(createOverrun("memory", limits));
    else if (this.#childCpuMs > limits.cpuMs) overrun(createOverrun("cpu", limits, this.#childCpuMs));
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
      // A timer past the program's time and its pauses never fires, so a shorter delay is enough.
      const delayMs = Math.min(Math.max(wantedMs || 0, 0), 2 * lastMs(limits));
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
