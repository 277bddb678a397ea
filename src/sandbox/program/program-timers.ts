/** The timers that one program has set, and how many of them it can still live to see. */

import type { Limits } from "../../domain/index.ts";

import { timerOverrun } from "./overruns.ts";
import { lastMs } from "./program-watch.ts";

const MOST_TIMERS = 1_000;

export interface TimerOptions {
  readonly limits: Limits;
  /** The timer with this number is due. */
  readonly fire: (id: number) => void;
  /** Hears how many are open that will fire within the time of the program. */
  readonly onDue: ((open: number) => void) | undefined;
}

export class ProgramTimers {
  readonly #options: TimerOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  #due = 0;
  #stopped = false;

  constructor(options: TimerOptions) {
    this.#options = options;
  }

  /** Throws LIMIT_CALLS when as many wait as may. */
  checkRoom(): void {
    if (this.#timers.size >= MOST_TIMERS) throw timerOverrun(MOST_TIMERS);
  }

  /** `wantedMs` is the child's word and may be any number or none; `elapsedMs` is the age of the program. */
  start(id: number, wantedMs: number, elapsedMs: number): void {
    const { limits, fire } = this.#options;
    // A timer past the wall limit never fires, so there is no need to wait longer.
    const delayMs = Math.min(Math.max(wantedMs || 0, 0), lastMs(limits));
    // One that is due after the end of the program is nothing that it waits for.
    const isDue = elapsedMs + delayMs < limits.wallMs;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      fire(id);
      if (isDue) this.#countDue(-1);
    }, delayMs);
    this.#timers.add(timer);
    if (isDue) this.#countDue(1);
  }

  /** None fires and nothing is counted afterwards. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #countDue(change: 1 | -1): void {
    this.#due += change;
    if (!this.#stopped) this.#options.onDue?.(this.#due);
  }
}
