/** Places for calls that are under way at once; whoever comes later waits for a place in order. */

export interface Slots {
  /** Resolves when a place is free. Every `enter` that resolved needs one `leave`. */
  enter(): Promise<void>;
  leave(): void;
}

export function createSlots(most: number): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    async enter() {
      if (taken < most) {
        taken += 1;
        return;
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    leave() {
      // The place passes straight to the next in line, so that nobody can slip in between.
      const next = waiting.shift();
      if (next) next();
      else taken -= 1;
    },
  };
}
