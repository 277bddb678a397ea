/**
 * The times in which a program has no child, or waits for its place: it has given its child up, and a new one repeats
 * what happened.
 */

import type { GloveboxError } from "../../domain/index.ts";

import type { ChildLease } from "../child-lease.ts";
import { toFatal } from "./parse-reports.ts";
import type { ProgramHistory } from "./program-history.ts";
import type { ProgramWatch } from "./program-watch.ts";

/** A program that has computed for longer keeps its child: repeating it would cost more than the place is worth. */
const MOST_REPEATED_CPU_MS = 500;

export interface AbsenceOptions {
  readonly lease: () => ChildLease;
  readonly watch: () => ProgramWatch;
  readonly history: ProgramHistory;
  /** Repeats the program in a new child up to where it waits, and calls `done`. */
  readonly repeat: (lease: ChildLease, done: () => void) => void;
  /** Sends the child the program's remaining time. */
  readonly sendLeft: () => void;
  readonly cancel: () => void;
  readonly fail: (error: GloveboxError) => void;
}

export class Absence {
  readonly #options: AbsenceOptions;
  /** Fires if the program ends meanwhile. */
  #away: AbortController | undefined;

  constructor(options: AbsenceOptions) {
    this.#options = options;
  }

  /** Whether it has given up its child, or a new one repeats what happened. */
  get isAway(): boolean {
    return this.#away !== undefined;
  }

  /** A program that waits for a timer cannot be suspended: it stays in this process and gets a new child later. */
  giveUpChild(): boolean {
    const { lease, watch, history, cancel } = this.#options;
    const isCheap = history.isWhole && watch().cpuMs <= MOST_REPEATED_CPU_MS;
    if (!isCheap || !lease().vacate(cancel)) return false;
    this.#away = new AbortController();
    watch().detach(lease().child, { isRepeated: true });
    return true;
  }

  /** The program's time stands still until it has its place, and its child has repeated what happened. */
  wake(onPlaced: () => void): void {
    const { lease, watch, repeat, sendLeft, cancel, fail } = this.#options;
    watch().pause();
    const placed = (): void => {
      this.#away = undefined;
      watch().resume();
      sendLeft();
      onPlaced();
    };
    if (!this.#away) return lease().wake(placed);
    lease()
      .retake(this.#away.signal)
      .then(
        (taken) => repeat(taken, placed),
        (thrown: unknown) => {
          const error = toFatal(thrown);
          if (error.code === "REQUEST_CANCELLED") cancel();
          else fail(error);
        },
      );
  }

  /** The program has ended. */
  stop(): void {
    this.#away?.abort();
  }
}
