/** The programs that wait in memory without a place, the oldest first. */

export interface ParkedProgram {
  /** Suspends it or gives up its child, and thereby ends its lease; false if neither is possible now. */
  readonly suspend: () => boolean;
}

export interface Parking {
  readonly size: number;
  /** False if it is full. At the limit the oldest program that can be suspended is, or else this one. */
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
      const suspended = parked.size >= most ? [...parked, program].find(({ suspend }) => suspend()) : undefined;
      // This one has no child any more, even if another one left meanwhile.
      if (suspended === program || parked.size >= most) return false;
      parked.add(program);
      return true;
    },
    leave: (program) => parked.delete(program),
  };
}
