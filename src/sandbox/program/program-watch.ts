/**
 * Watches one program from outside, where a guest cannot interfere: the time since its start, and the kernel's figures
 * for its child. Only this sees off-heap memory and native loops.
 */

import type { GloveboxError, Limits } from "../../domain/index.ts";
import { HOUR_MS } from "../../timing/index.ts";

import { measureProcess } from "../measure.ts";
import { LOWEST_PRIORITY } from "../priority.ts";
import type { LeasedChild } from "../child-lease.ts";
import type { SandboxChild } from "../start-child.ts";
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

/** A child that has the program, and what was measured of it. */
interface MeasuredChild {
  readonly leased: LeasedChild;
  guard: ChildWatch | undefined;
  gaveWay: boolean;
  cpuMs: number;
}

/** Watches from its creation to `stop`: the time always, and the children that it is given. */
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
  /** One, or two while another engine repeats the program. */
  readonly #children = new Map<SandboxChild, MeasuredChild>();
  /** Of earlier children whose work was not repeated, and of those whose work was. */
  #earlierCpuMs = 0;
  #repeatedCpuMs = 0;
  /** The most memory that was measured for the program in one child. */
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
  attach({ child, baseline, engine }: LeasedChild): void {
    const watched = { leased: { child, baseline, engine }, guard: undefined, gaveWay: false, cpuMs: 0 };
    this.#children.set(child, watched);
    this.#startGuard(watched);
  }

  /**
   * The child no longer runs the program. Its processor time counts against the limit, unless the program repeats its
   * work in the next child only because it had to give this one up.
   */
  detach(child: SandboxChild, { isRepeated = false } = {}): void {
    const watched = this.#children.get(child);
    if (!watched || !this.#children.delete(child)) return;
    watched.guard?.stop();
    if (isRepeated) this.#repeatedCpuMs += watched.cpuMs;
    else this.#earlierCpuMs += watched.cpuMs;
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

  /** Stops the program's time for as long as the host needs: other limits end what the host waits for. */
  set isHeld(isHeld: boolean) {
    const now = performance.now();
    const heldAt = this.#heldAt ?? now;
    this.#heldAt = isHeld ? now : undefined;
    this.heldMs += now - heldAt;
    this.#changedAt += now - Math.max(heldAt, this.#changedAt);
    clearTimeout(this.#wall);
    if (!isHeld) this.#wall = this.#startWall();
    this.#startGuards();
  }

  #turn(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#changedAt = performance.now();
    clearTimeout(this.#wall);
    this.#wall = this.#startWall();
    this.#startGuards();
  }

  #startWall(): NodeJS.Timeout {
    const { limits, overrun } = this.#options;
    return setTimeout(() => overrun(createOverrun(this.#isPaused ? "place" : "wall", limits)), this.#restMs);
  }

  #startGuards(): void {
    for (const watched of this.#children.values()) this.#startGuard(watched);
  }

  #startGuard(watched: MeasuredChild): void {
    const { limits, watchdog } = this.#options;
    const { child, baseline } = watched.leased;
    const cpuMs = limits.cpuMs - (this.#countedCpuMs - watched.cpuMs);
    watched.guard?.stop();
    watched.guard = watchdog.watch({
      group: child.group,
      pid: child.pid,
      wallMs: this.isHeld ? Infinity : this.#restMs + WATCHDOG_GRACE_MS,
      cpuMs: baseline.cpuMs + cpuMs + WATCHDOG_GRACE_MS,
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
    const ranMs = this.#isPaused ? 0 : (this.#heldAt ?? performance.now()) - this.#changedAt;
    return this.#ranMs + Math.max(0, ranMs); // it may have had a pause while it was held
  }

  get pausedMs(): number {
    return this.#pausedMs + (this.#isPaused ? performance.now() - this.#changedAt : 0);
  }

  /** The program's remaining time. */
  get leftMs(): number {
    return Math.max(1, Math.ceil(this.#options.limits.wallMs - this.elapsedMs));
  }

  get cpuMs(): number {
    return this.#countedCpuMs + this.#repeatedCpuMs;
  }

  /** What counts against the limit. */
  get #countedCpuMs(): number {
    return this.#children.values().reduce((sum, { cpuMs }) => sum + cpuMs, this.#earlierCpuMs);
  }

  /** For the result of a program that waited so long in the queue. */
  usageAfter(queueMs: number) {
    const { cpuMs, elapsedMs: wallMs, peakBytes: peakMemoryBytes } = this;
    return { queueMs: queueMs + this.pausedMs + this.heldMs, wallMs, cpuMs, peakMemoryBytes };
  }

  /** Adds the child's own report, which includes peaks between two measurements. */
  report(child: SandboxChild, text: string): void {
    const watched = this.#children.get(child);
    const { cpuMs, heapBytes } = parseUsage(text);
    if (watched) watched.cpuMs = Math.max(watched.cpuMs, cpuMs);
    this.peakBytes = Math.max(this.peakBytes, heapBytes);
  }

  stop(): void {
    clearTimeout(this.#wall);
    clearInterval(this.#looks);
    for (const { guard } of this.#children.values()) guard?.stop();
  }

  /** Why the child is gone: a limit if the watchdog killed it for one, otherwise `reason`. */
  toDeath(child: SandboxChild, reason: GloveboxError): GloveboxError {
    const { limits } = this.#options;
    const limit = this.#children.get(child)?.guard?.exceeded();
    if (limit === "wall" && this.#isPaused) return createOverrun("place", limits);
    return limit
      ? createOverrun(limit, limits, Math.max(this.cpuMs, limits.cpuMs))
      : toDeath(reason, limits, this.peakBytes);
  }

  #look(): void {
    const { limits, overrun } = this.#options;
    for (const watched of this.#children.values()) {
      const usedBytes = this.#measure(watched);
      if (usedBytes > limits.memoryBytes + MEMORY_MARGIN_BYTES) return overrun(createOverrun("memory", limits));
    }
    if (this.#countedCpuMs > limits.cpuMs) overrun(createOverrun("cpu", limits, this.#countedCpuMs));
  }

  /** Returns the memory that the program uses in this child. */
  #measure(watched: MeasuredChild): number {
    const { child, baseline } = watched.leased;
    const measure = measureProcess(child.pid);
    if (!measure) return 0;
    watched.cpuMs = measure.cpuMs - baseline.cpuMs;
    if (watched.cpuMs > GIVE_WAY_MS && !watched.gaveWay) {
      watched.gaveWay = true;
      child.lowerPriority(LOWEST_PRIORITY);
    }
    const usedBytes = measure.residentBytes - baseline.residentBytes;
    this.peakBytes = Math.max(this.peakBytes, usedBytes);
    return usedBytes;
  }
}

/** After this time every program has been ended. */
export function lastMs(limits: Limits): number {
  return limits.wallMs + WALL_GRACE_MS;
}

interface OpenTimer {
  readonly id: number;
  /** When it is due, by the clock of this process. */
  readonly atMs: number;
  /** Whether it will fire in time. */
  readonly isDue: boolean;
}

/**
 * The timers of one program. Calls `fire` for those that are due, in the order of their times: Node keeps to it only among
 * timers of the same length. Calls `onDue` with the number that will fire in time.
 */
export function createTimers(limits: Limits, fire: (id: number) => void, onDue: ((open: number) => void) | undefined) {
  const timers = new Map<NodeJS.Timeout, OpenTimer>();
  let due = 0;
  let isStopped = false;
  const countDue = (change: 1 | -1): void => {
    due += change;
    if (!isStopped) onDue?.(due);
  };
  const fireUntil = (lastMs: number): void => {
    const isEarlier = ([, { atMs }]: readonly [NodeJS.Timeout, OpenTimer]): boolean => atMs <= lastMs;
    for (const [timer, { id, isDue }] of [...timers].filter(isEarlier).toSorted(([, a], [, b]) => a.atMs - b.atMs)) {
      if (isStopped) return;
      clearTimeout(timer);
      timers.delete(timer);
      fire(id);
      if (isDue) countDue(-1);
    }
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
      const atMs = performance.now() + delayMs;
      timers.set(
        setTimeout(() => fireUntil(atMs), delayMs),
        { id, atMs, isDue },
      );
      if (isDue) countDue(1);
    },
    /** Afterwards no timer fires and nothing is counted. */
    stop(): void {
      isStopped = true;
      for (const timer of timers.keys()) clearTimeout(timer);
    },
  };
}
