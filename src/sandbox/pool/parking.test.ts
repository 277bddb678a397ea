/** Programs that wait in memory: as many as there are places, and the oldest is suspended for another one. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { createParking } from "./parking.ts";
import type { ParkedProgram, Parking } from "./parking.ts";

/** A program that leaves when it is suspended, as one in the pool does. */
function programOf(parking: Parking, canSuspend: boolean) {
  const program: ParkedProgram & { suspensions: number } = {
    suspensions: 0,
    suspend: () => {
      if (!canSuspend) return false;
      program.suspensions += 1;
      parking.leave(program);
      return true;
    },
  };
  return program;
}

describe("the parking of a pool", () => {
  it("the parking of a pool suspends the oldest program for one above its limit, and none below", () => {
    const parking = createParking(2);
    const programs = [1, 2, 3].map(() => programOf(parking, true));
    assert.deepEqual(
      programs.map((program) => parking.enter(program)),
      [true, true, true],
    );
    assert.deepEqual([programs.map(({ suspensions }) => suspensions), parking.size], [[1, 0, 0], 2]);
  });
  it("the parking of a pool skips a program that cannot be suspended", () => {
    const parking = createParking(2);
    const programs = [false, true, true].map((canSuspend) => programOf(parking, canSuspend));
    for (const program of programs) assert.equal(parking.enter(program), true);
    assert.deepEqual([programs.map(({ suspensions }) => suspensions), parking.size], [[0, 1, 0], 2]);
  });
  it("the parking of a pool suspends the newest program if no older one can be", () => {
    const parking = createParking(1);
    const [older, newest] = [programOf(parking, false), programOf(parking, true)];
    assert.deepEqual([parking.enter(older), parking.enter(newest)], [true, false]);
    assert.deepEqual([newest.suspensions, parking.size], [1, 1]);
  });
  it("the parking of a pool has no room when nothing can be suspended, and has room again when one leaves", () => {
    const parking = createParking(1);
    const [first, second] = [programOf(parking, false), programOf(parking, false)];
    assert.deepEqual([parking.enter(first), parking.enter(second)], [true, false]);
    assert.deepEqual([parking.leave(first), parking.leave(first), parking.enter(second)], [true, false, true]);
  });
  it("the parking of a pool does not take a program that was suspended, although another one left meanwhile", () => {
    const parking = createParking(1);
    const older = programOf(parking, false);
    parking.enter(older);
    assert.equal(parking.enter({ suspend: () => parking.leave(older) }), false);
    assert.equal(parking.size, 0);
  });
});
