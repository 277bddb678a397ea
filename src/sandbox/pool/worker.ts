/** One child of a pool, with the facts that decide whether it serves another program. */

import { NOTHING_MEASURED, measureProcess } from "../measure.ts";
import type { SandboxChild } from "../start-child.ts";
import { TO_GUEST, TO_HOST } from "../wire.ts";

/** A child grows by a few megabytes per thousand executions, and a start costs as much as a hundred executions. */
const RECYCLE_AFTER = 5_000;
/** A child that grew by more has not released the memory of earlier programs. */
const MOST_GROWTH_BYTES = 48 * 1024 * 1024;
const FRESH_MS = 100;
/** A healthy child answers within a millisecond; a loaded machine may take longer. */
const ANSWER_MS = 2_000;

export class PoolWorker {
  readonly child: SandboxChild;
  uses = 0;
  baseline = NOTHING_MEASURED;
  timer: NodeJS.Timeout | undefined;
  /** When it last reported READY, by the clock of this process. */
  readyAt = 0;
  /** It is being killed; it gets no program even if it reports READY. */
  isDismissed = false;
  /** Its resident memory when it was new. */
  #firstBytes = Infinity;

  constructor(child: SandboxChild) {
    this.child = child;
  }

  /** Whether it has run as many programs as one child should. */
  get isWornOut(): boolean {
    return this.uses >= RECYCLE_AFTER;
  }

  /** The process takes some time to end; meanwhile it gets no program. */
  end(): void {
    this.isDismissed = true;
    this.child.kill();
  }

  /** Measures it for the next program; false if it kept too much memory of earlier ones. */
  renewBaseline(): boolean {
    this.baseline = measureProcess(this.child.pid) ?? NOTHING_MEASURED;
    if (this.baseline.residentBytes > this.#firstBytes + MOST_GROWTH_BYTES) return false;
    this.#firstBytes = Math.min(this.#firstBytes, this.baseline.residentBytes);
    return true;
  }

  /** Whether it became ready just now; after a longer silence it is pinged before it gets a program. */
  get isFresh(): boolean {
    return performance.now() - this.readyAt < FRESH_MS;
  }

  /**
   * Pings it: an idle child that is stopped or stuck must not get a program. False if it does not answer in time, sends
   * anything else, or is gone. Restores its listener.
   */
  askAlive(): Promise<boolean> {
    const { child } = this;
    if (child.isGone) return Promise.resolve(false);
    const { listener } = child;
    return new Promise((resolve) => {
      const answer = (isAlive: boolean): void => {
        clearTimeout(timer);
        child.listener = listener;
        resolve(isAlive);
      };
      const timer = setTimeout(() => answer(false), ANSWER_MS);
      child.listener = {
        frame: ({ kind }) => answer(kind === TO_HOST.PONG),
        gone(reason) {
          answer(false);
          listener.gone(reason);
        },
      };
      child.send(TO_GUEST.PING, 0, "", 0);
    });
  }
}
