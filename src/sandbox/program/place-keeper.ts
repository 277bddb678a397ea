/**
 * Gives a program's place back while the program waits for timers or people, and takes it again before the next delivery.
 * Only the answer to a PING proves that a program waits: one that computes could have an open timer, too. A child that
 * answers and computes nevertheless is found by its processor time.
 */

import type { ChildLease } from "../child-lease.ts";

/** A program that waits for less keeps its place. */
export const WAITED_MS = 200;
/** A program that waits answers a PING at once; one that answers later was computing until then. */
const PROMPT_MS = 20;
/** More processor time than the threads of an engine use while its program waits. */
export const MOST_IDLE_CPU_MS = 250;

export interface PlaceOptions extends Pick<ChildLease, "park"> {
  /** Calls `onPlaced` once the program has its place again. */
  readonly wake: (onPlaced: () => void) => void;
  /** Whether all open requests of the program are timers and calls that wait for people. */
  readonly onlyWaits: () => boolean;
  readonly ping: () => void;
  /** Suspends the program, or gives up its child; false if neither is possible now. */
  readonly suspend: () => boolean;
  /** The processor time of the program so far. */
  readonly cpuMs: () => number;
  /** Called when the child computes without a place. */
  readonly lied: () => void;
  readonly now: () => number;
}

/** What is known since the last delivery: nothing, a PONG is due, a PONG is due that proves nothing, or it waits. */
type Proof = "none" | "asked" | "outdated" | "waits";

export class PlaceKeeper {
  readonly #options: PlaceOptions;
  /** Deliveries until it has its place again; `undefined` while it has one. */
  #held: (() => void)[] | undefined;
  #isWaking = false;
  #proof: Proof = "none";
  #activeAt: number;
  #pingedAt = 0;
  #parkedCpuMs = 0;

  constructor(options: PlaceOptions) {
    this.#options = options;
    this.#activeAt = options.now();
  }

  /** Whether a PONG may still come. */
  get isPinged(): boolean {
    return this.#proof === "asked" || this.#proof === "outdated";
  }

  /** Whether deliveries are held until it has its place again. */
  get isWithoutPlace(): boolean {
    return this.#held !== undefined;
  }

  /** Calls `give` now, or when the program has its place again. */
  deliver(give: () => void): void {
    if (!this.#held) return this.#give(give);
    this.#held.push(give);
    if (this.#isWaking) return;
    this.#isWaking = true;
    this.#options.wake(() => {
      const held = this.#held ?? [];
      this.#held = undefined;
      this.#isWaking = false;
      for (const one of held) this.#give(one);
    });
  }

  /** The program has lost its place, and waits for another one at once. */
  yield(): void {
    this.#held = [];
    this.deliver(() => undefined);
  }

  /** Call it every few milliseconds. */
  look(): void {
    const { now, onlyWaits, ping, cpuMs, lied } = this.#options;
    if (this.#held) return void (cpuMs() - this.#parkedCpuMs > MOST_IDLE_CPU_MS && lied());
    if (!onlyWaits()) return void (this.#activeAt = now());
    if (now() - this.#activeAt < WAITED_MS) return;
    if (this.#proof === "waits") return this.#park();
    if (this.#proof !== "none") return;
    this.#proof = "asked";
    this.#pingedAt = now();
    ping();
  }

  /** Another child has the program: it owes no answer. */
  renew(): void {
    this.#proof = "none";
    this.#activeAt = this.#options.now();
  }

  /** Takes a PONG; false if none is due. */
  takePong(): boolean {
    if (!this.isPinged) return false;
    this.#proof = this.#proof === "asked" ? "waits" : "none";
    if (this.#options.now() - this.#pingedAt > PROMPT_MS) this.#activeAt = this.#options.now();
    this.look();
    return true;
  }

  #park(): void {
    const { park, suspend, cpuMs } = this.#options;
    this.#parkedCpuMs = cpuMs();
    const leave = (): boolean => {
      // One that is about to continue is not suspended.
      if (this.#isWaking || !suspend()) return false;
      this.#held ??= [];
      return true;
    };
    if (park(leave)) this.#held ??= [];
  }

  #give(give: () => void): void {
    this.#proof = this.isPinged ? "outdated" : "none";
    this.#activeAt = this.#options.now();
    give();
  }
}
