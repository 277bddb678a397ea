/** Shares of the places: alone one may have all, in company one is left for the others. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

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

function hold(places: Shares, principal: string, count: number): void {
  places.noteRequest(principal);
  for (let place = 0; place < count; place += 1) places.acquire(principal);
}

describe("the share of a single active principal", () => {
  it("a single active principal may take every place and the last ready child", () => {
    const { places } = openBench(3);
    hold(places, "a", 2);
    assert.deepEqual([places.mayHold("a"), places.mayTake("a", 1), places.mayTake("a", 0)], [true, true, false]);
  });
});

describe("an active principal", () => {
  it("a principal is active within a minute of its last request and while it holds a place", () => {
    const { places, pass } = openBench(3);
    places.noteRequest("a");
    assert.equal(places.isOnlyPrincipal("a"), true);
    hold(places, "b", 1);
    pass(60_000);
    assert.equal(places.isOnlyPrincipal("a"), false);
    pass(1);
    assert.equal(places.isOnlyPrincipal("a"), false);
    places.release("b");
    assert.equal(places.isOnlyPrincipal("a"), true);
  });
});

describe("the share of a principal with others active", () => {
  it("a principal with others active may take all places except one", () => {
    const { places } = openBench(3);
    places.noteRequest("b");
    assert.deepEqual(
      [0, 1, 2].map((count) => {
        if (count > 0) hold(places, "a", 1);
        return places.mayHold("a");
      }),
      [true, true, false],
    );
    places.release("a");
    assert.equal(places.mayHold("a"), true);
  });
  it("a principal with others active leaves the last ready child to one that has none", () => {
    const { places } = openBench(5);
    places.noteRequest("b");
    hold(places, "a", 1);
    assert.deepEqual([places.mayTake("a", 1), places.mayTake("a", 2), places.mayTake("b", 1)], [false, true, true]);
  });
  it("a principal with others active may take at least one place", () => {
    const { places } = openBench(1);
    places.noteRequest("b");
    places.noteRequest("a");
    assert.deepEqual([places.mayHold("a"), places.mayTake("a", 1)], [true, true]);
  });
  it("a principal may take every place again a minute after the last request of others, unless they hold one", () => {
    const { places, pass } = openBench(2);
    hold(places, "b", 1);
    hold(places, "a", 1);
    pass(60_001);
    assert.equal(places.mayHold("a"), false);
    places.release("b");
    assert.equal(places.mayHold("a"), true);
  });
  it("a single active principal may still take every place a moment later", () => {
    const { places } = openBench(2);
    hold(places, "a", 1);
    assert.equal(places.mayHold("a"), true);
  });
});

describe("the memory of active principals", () => {
  it("the memory of active principals is bounded and still includes another one", () => {
    const { places } = openBench(2);
    for (let number = 0; number < 5_000; number += 1) places.noteRequest(`p${number}`);
    hold(places, "a", 1);
    assert.equal(places.mayHold("a"), false);
  });
});
