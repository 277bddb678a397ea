/** The programs that wait in memory without a place, the oldest first. */

export interface ParkedProgram {
  /** Suspends it, and thereby ends its lease; false if it cannot be suspended now. */
  readonly suspend: () => boolean;
}

export interface Parking {
  readonly size: number;
  /**
   * False if it is full. At the limit the oldest program that can be suspended is, or else this one; a program that
   * waits for a timer cannot be suspended.
   */
  enter(program: ParkedProgram): boolean;
  /** False if it was not there. */
  leave(program: ParkedProgram): boolean;
}

export function createParking(most: number): Parking {
  const parked = new Set<ParkedProgram>();
  return {
    get size() {
      return parked.size;
    },
    enter(program) {
      if (parked.size >= most && ![...parked, program].some(({ suspend }) => suspend())) return false;
      // The suspended one has left; if it was this one, it has ended.
      if (parked.size >= most) return false;
      parked.add(program);
      return true;
    },
    leave: (program) => parked.delete(program),
  };
}
