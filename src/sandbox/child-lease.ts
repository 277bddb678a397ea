/** What an execution holds of the pool: a place, and a child in it. */

import type { EngineName } from "../domain/index.ts";

import type { ProcessMeasure } from "./measure.ts";
import type { SandboxChild } from "./start-child.ts";
import { TO_HOST } from "./wire.ts";

/** What a child may still send after its program. */
export interface ChildRest {
  /** PINGs that it has not answered. */
  readonly pongs?: number;
  /** It was told to end its program, and is ended itself if it is not ready by then. */
  readonly readyMs?: number | undefined;
}

/** Takes the kinds of its last frames in any order; returns whether all have come, or `undefined` for one too many. */
export function expectRest(pongs = 0): (kind: number) => boolean | undefined {
  const due: number[] = [TO_HOST.READY, ...Array<number>(pongs).fill(TO_HOST.PONG)];
  return (kind) => {
    const index = due.indexOf(kind);
    if (index < 0) return undefined;
    due.splice(index, 1);
    return due.length === 0;
  };
}

/** A child that serves one execution; another one may take its place. */
export interface LeasedChild {
  readonly child: SandboxChild;
  readonly engine: EngineName;
  /** What the child had used before this execution. */
  readonly baseline: ProcessMeasure;
}

/** A second child for the place of an execution. */
export interface FasterChild extends LeasedChild {
  /** Ends it; the execution stays with its first child. */
  drop(): void;
  /** The lease has this child from now on, and its first child serves others once it is ready. */
  takeOver(): void;
}

/** A place with a child for one execution. */
export interface ChildLease extends LeasedChild {
  /** Call once, at the end: the child's next frame is not for this execution. `false` if it may not be used again. */
  readonly release: (reusable: boolean, rest?: ChildRest) => void;
  /**
   * Gives its place to others while its program waits. False if too many programs wait in memory. `suspend` is called when
   * more programs wait later; it suspends this one, or returns false.
   */
  readonly park: (suspend: () => boolean) => boolean;
  /** Calls `onPlaced` once a parked child has a place again, unless it is released before. */
  readonly wake: (onPlaced: () => void) => void;
  /** Ends the child of a program that waits, to free its memory. False if too many have none. `onClosed` is called when the pool closes. */
  readonly vacate: (onClosed: () => void) => boolean;
  /** `leave` is called when the program has held a place on trial for too long; it gives up the child, or returns false. */
  readonly onTrialOver: (leave: () => boolean) => void;
  /** A new lease for a program that gave up its child; it waits in turn and is not refused. Rejects when `signal` aborts. */
  readonly retake: (signal: AbortSignal) => Promise<ChildLease>;
  /** The child has ended its program and serves others, unless it may not be used again; the place is kept. */
  readonly freeChild: (reusable: boolean) => void;
  /**
   * A child of the faster engine; absent if there is none. Without a ready child it waits for one, or returns `undefined`
   * while one starts. Rejects when `signal` aborts or the engine cannot start.
   */
  readonly takeFaster?: (mustWait: boolean, signal: AbortSignal) => Promise<FasterChild | undefined>;
}
