/** Limits how many calls of an execution are under way at once; later calls wait in order. */

export interface CallSlots {
  /** Resolves when a slot is free. Every `enter` that resolved needs one `leave`. */
  enter(): Promise<void>;
  leave(): void;
}

export function createCallSlots(most: number): CallSlots {
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
      // The slot passes straight to the next call in line, so that a newer call cannot take it in between.
      const next = waiting.shift();
      if (next) next();
      else taken -= 1;
    },
  };
}
