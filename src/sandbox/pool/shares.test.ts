/** Shares of the places: a single active client may have all; with others active, one is left for them. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Owner } from "../../timing/index.ts";
import { createShares } from "./shares.ts";
import type { Shares } from "./shares.ts";

interface Bench {
  readonly places: Shares;
  readonly pass: (ms: number) => void;
}

function openBench(concurrency: number): Bench {
  let time = 0;
  return {
    places: createShares(concurrency, () => time),
    pass: (ms) => {
      time += ms;
    },
  };
}

const A: Owner = { principal: "a", session: "" };
const B: Owner = { principal: "b", session: "" };
const A1: Owner = { principal: "a", session: "1" };
const A2: Owner = { principal: "a", session: "2" };

function hold(places: Shares, owner: Owner, count: number): void {
  places.noteRequest(owner);
  for (let place = 0; place < count; place += 1) places.acquire(owner);
}

describe("the share of a single active principal", () => {
  it("a single active principal may take every place and the last ready child", () => {
    const { places } = openBench(3);
    hold(places, A, 2);
    assert.deepEqual([places.mayHold(A), places.mayTake(A, 1), places.mayTake(A, 0)], [true, true, false]);
  });
});

describe("an active principal", () => {
  it("a principal is active within a minute of its last request and while it holds a place", () => {
    const { places, pass } = openBench(3);
    places.noteRequest(A);
    assert.equal(places.isOnlyPrincipal(A), true);
    hold(places, B, 1);
    pass(60_000);
    assert.equal(places.isOnlyPrincipal(A), false);
    pass(1);
    assert.equal(places.isOnlyPrincipal(A), false);
    places.release(B);
    assert.equal(places.isOnlyPrincipal(A), true);
  });
});

describe("the share of a principal with others active", () => {
  it("a principal with others active may take all places except one", () => {
    const { places } = openBench(3);
    places.noteRequest(B);
    assert.deepEqual(
      [0, 1, 2].map((count) => {
        if (count > 0) hold(places, A, 1);
        return places.mayHold(A);
      }),
      [true, true, false],
    );
    places.release(A);
    assert.equal(places.mayHold(A), true);
  });
  it("a principal with others active leaves the last ready child to one that has none", () => {
    const { places } = openBench(5);
    places.noteRequest(B);
    hold(places, A, 1);
    assert.deepEqual([places.mayTake(A, 1), places.mayTake(A, 2), places.mayTake(B, 1)], [false, true, true]);
  });
  it("a principal with others active may take at least one place", () => {
    const { places } = openBench(1);
    places.noteRequest(B);
    places.noteRequest(A);
    assert.deepEqual([places.mayHold(A), places.mayTake(A, 1)], [true, true]);
  });
  it("a principal may take every place again a minute after the last request of others, unless they hold one", () => {
    const { places, pass } = openBench(2);
    hold(places, B, 1);
    hold(places, A, 1);
    pass(60_001);
    assert.equal(places.mayHold(A), false);
    places.release(B);
    assert.equal(places.mayHold(A), true);
  });
  it("a single active principal may still take every place a moment later", () => {
    const { places } = openBench(2);
    hold(places, A, 1);
    assert.equal(places.mayHold(A), true);
  });
});

describe("the share of a session with others active", () => {
  it("a session may take all places except one while another session of its principal is active", () => {
    const { places, pass } = openBench(3);
    places.noteRequest(A2);
    hold(places, A1, 2);
    assert.deepEqual([places.mayHold(A1), places.mayHold(A2)], [false, true]);
    pass(60_000);
    assert.equal(places.mayHold(A1), false);
    pass(1);
    assert.equal(places.mayHold(A1), true);
  });
  it("a session leaves the last ready child to a session that has none", () => {
    const { places } = openBench(5);
    places.noteRequest(A2);
    hold(places, A1, 1);
    assert.deepEqual([places.mayTake(A1, 1), places.mayTake(A1, 2), places.mayTake(A2, 1)], [false, true, true]);
  });
  it("many sessions of one principal together leave one place to another principal", () => {
    const { places } = openBench(3);
    places.noteRequest(B);
    hold(places, A1, 1);
    hold(places, A2, 1);
    assert.deepEqual([places.mayHold(A1), places.mayHold(A2), places.mayHold(B)], [false, false, true]);
    places.release(A1);
    assert.equal(places.mayHold(A2), true);
  });
});

describe("the memory of active principals", () => {
  it("the memory of active principals is bounded and still includes another one", () => {
    const { places } = openBench(2);
    for (let number = 0; number < 5_000; number += 1) places.noteRequest({ principal: `p${number}`, session: "" });
    hold(places, A, 1);
    assert.equal(places.mayHold(A), false);
  });
});

describe("the time that a session held places", () => {
  it("the time that a session held places counts, less the time since, and at most a minute", () => {
    const { places, pass } = openBench(3);
    places.charge(A1, 4_000);
    const after = (ms: number): number => (pass(ms), places.usedMs(A1));
    assert.deepEqual([places.usedMs(A2), after(0), after(3_999), after(1), after(1)], [0, 4_000, 1, 0, 0]);
    places.charge(A1, 40_000);
    places.charge(A1, 40_000);
    assert.equal(places.usedMs(A1), 60_000);
  });
  it("a session is without a place until it has one", () => {
    const { places } = openBench(3);
    hold(places, A1, 1);
    assert.deepEqual([places.isWithoutPlace(A1), places.isWithoutPlace(A2)], [false, true]);
    places.release(A1);
    assert.equal(places.isWithoutPlace(A1), true);
  });
});
