/** The open timers of one program, and how many of them are due within its time. */

import type { Limits } from "../../domain/index.ts";

import { timerOverrun } from "./overruns.ts";
import { lastMs } from "./program-watch.ts";

const MOST_TIMERS = 1_000;

export interface TimerOptions {
  readonly limits: Limits;
  /** The timer with this number is due. */
  readonly fire: (id: number) => void;
  /** Called with the number of open timers that will fire within the program's time. */
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

  /** Throws LIMIT_CALLS if the maximum number of timers is open. */
  checkRoom(): void {
    if (this.#timers.size >= MOST_TIMERS) throw timerOverrun(MOST_TIMERS);
  }

  /** `wantedMs` is untrusted and may be any number or NaN; `elapsedMs` is the age of the program. */
  start(id: number, wantedMs: number, elapsedMs: number): void {
    const { limits, fire } = this.#options;
    // A timer past the wall limit never fires, so a shorter delay is enough.
    const delayMs = Math.min(Math.max(wantedMs || 0, 0), lastMs(limits));
    // A timer that is due after the program's end does not count.
    const isDue = elapsedMs + delayMs < limits.wallMs;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      fire(id);
      if (isDue) this.#countDue(-1);
    }, delayMs);
    this.#timers.add(timer);
    if (isDue) this.#countDue(1);
  }

  /** Afterwards no timer fires and nothing is counted. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #countDue(change: 1 | -1): void {
    this.#due += change;
    if (!this.#stopped) this.#options.onDue?.(this.#due);
  }
}
