/** The place and the child of one execution: the child may be parked, given up, or replaced by one of the faster engine. */

import type { EngineName } from "../../domain/index.ts";

import type { ProcessMeasure } from "../measure.ts";
import type { ChildLease, ChildRest, FasterChild } from "../child-lease.ts";
import type { SandboxChild } from "../start-child.ts";
import type { Parking } from "./parking.ts";
import type { PlaceHolder } from "./trials.ts";
import type { PoolWorker } from "./worker.ts";

/** A child that has a program, and where it comes from. */
export interface HeldChild {
  readonly worker: PoolWorker;
  readonly engine: EngineName;
  readonly isFast: boolean;
}

/** What a lease needs of its pool. */
export interface LeaseHost {
  readonly parking: Parking;
  /** The program has no place any more. */
  leave(holder: PlaceHolder): void;
  /** The same, and its child stays. */
  park(holder: PlaceHolder): void;
  release(held: HeldChild, reusable: boolean, rest?: ChildRest): void;
  /** Calls `onPlaced` when the program has a place again, unless the returned function is called before. */
  awaitPlace(holder: PlaceHolder, onPlaced: () => void): () => void;
  /** False if too many executions wait without a child. */
  enterAway(onClosed: () => void): boolean;
  leaveAway(onClosed: () => void): void;
  retake(holder: PlaceHolder, isFast: boolean, signal: AbortSignal): Promise<ChildLease>;
  readonly takeFaster: ((mustWait: boolean, signal: AbortSignal) => Promise<HeldChild | undefined>) | undefined;
}

export class PlaceLease implements ChildLease {
  readonly #host: LeaseHost;
  readonly #holder: PlaceHolder;
  readonly #parked = { suspend: (): boolean => false };
  #held: HeldChild;
  #isFreed = false;
  #stopWaking = (): void => undefined;
  #onClosed: (() => void) | undefined;
  readonly takeFaster?: NonNullable<ChildLease["takeFaster"]>;

  constructor(held: HeldChild, holder: PlaceHolder, host: LeaseHost) {
    this.#held = held;
    this.#holder = holder;
    this.#host = host;
    const { takeFaster } = host;
    if (!takeFaster || held.isFast) return;
    this.takeFaster = async (mustWait, signal) => {
      const faster = await takeFaster(mustWait, signal);
      return faster && this.#offer(faster);
    };
  }

  get child(): SandboxChild {
    return this.#held.worker.child;
  }

  get baseline(): ProcessMeasure {
    return this.#held.worker.baseline;
  }

  get engine(): EngineName {
    return this.#held.engine;
  }

  park(suspend: () => boolean): boolean {
    this.#parked.suspend = suspend;
    if (!this.#host.parking.enter(this.#parked)) return false;
    this.#host.park(this.#holder);
    return true;
  }

  wake(onPlaced: () => void): void {
    this.#stopWaking = this.#host.awaitPlace(this.#holder, () => {
      this.#host.parking.leave(this.#parked);
      onPlaced();
    });
  }

  vacate(onClosed: () => void): boolean {
    if (!this.#host.enterAway(onClosed)) return false;
    this.#onClosed = onClosed;
    this.#release(false);
    return true;
  }

  onTrialOver(leave: () => boolean): void {
    this.#holder.leave = leave;
  }

  retake(signal: AbortSignal): Promise<ChildLease> {
    if (this.#onClosed) this.#host.leaveAway(this.#onClosed);
    return this.#host.retake(this.#holder, this.#held.isFast, signal);
  }

  release(reusable: boolean, rest?: ChildRest): void {
    if (this.#onClosed) this.#host.leaveAway(this.#onClosed);
    else this.#release(reusable, rest);
  }

  freeChild(reusable: boolean, rest?: ChildRest): void {
    if (!this.#isFreed) this.#host.release(this.#held, reusable, rest);
    this.#isFreed = true;
  }

  #release(reusable: boolean, rest?: ChildRest): void {
    if (this.#host.parking.leave(this.#parked)) this.#stopWaking();
    else this.#host.leave(this.#holder);
    this.freeChild(reusable, rest);
  }

  #offer(faster: HeldChild): FasterChild {
    const { child, baseline } = faster.worker;
    return {
      child,
      baseline,
      engine: faster.engine,
      drop: () => this.#host.release(faster, false),
      takeOver: () => {
        this.freeChild(true);
        this.#held = faster;
        this.#isFreed = false;
      },
    };
  }
}
