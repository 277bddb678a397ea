/**
 * One more place than the pool has, on trial. It is for a session without a place while all places have been held for
 * long, so that long programs do not delay the first short one of another session. A program on trial that takes long
 * itself gives the place up, so that it is free for the next session, and repeats in an ordinary place what it did.
 */

import type { Owner } from "../../timing/index.ts";

/** A program that holds its place for longer is a long one. */
const LONG_MS = 250;
const LOOK_MS = 50;

/** A program with a place. */
export interface PlaceHolder {
  readonly owner: Owner;
  /** Gives up the child, so that the program waits again; false if it cannot. */
  leave: () => boolean;
}

export interface Trials {
  enter(holder: PlaceHolder, isOnTrial?: boolean): void;
  /** Returns how long it had the place. */
  leave(holder: PlaceHolder): number;
  /** Whether there are this many holders and all are long. */
  areAllLong(count: number): boolean;
  /** Asks the program on trial to leave, if it is a long one. */
  end(): void;
  /** Calls `look` from time to time until `stop`. */
  start(look: () => void): void;
  stop(): void;
}

export function createTrials(now: () => number): Trials {
  const since = new Map<PlaceHolder, number>();
  let onTrial: PlaceHolder | undefined;
  let timer: NodeJS.Timeout | undefined;
  const heldMs = (holder: PlaceHolder): number => now() - (since.get(holder) ?? now());
  const isLong = (holder: PlaceHolder): boolean => heldMs(holder) > LONG_MS;
  return {
    enter(holder, isOnTrial = false) {
      since.set(holder, now());
      if (isOnTrial) onTrial = holder;
    },
    leave(holder) {
      const ms = heldMs(holder);
      since.delete(holder);
      if (onTrial === holder) onTrial = undefined;
      return ms;
    },
    areAllLong: (count) => since.size === count && [...since.keys()].every(isLong),
    end() {
      if (onTrial && isLong(onTrial)) onTrial.leave();
    },
    start: (look) => void (timer ??= setInterval(look, LOOK_MS).unref()),
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
