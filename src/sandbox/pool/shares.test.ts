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
  it("is every place and the last ready child", () => {
    const { places } = openBench(3);
    hold(places, "a", 2);
    assert.deepEqual([places.mayHold("a"), places.mayTake("a", 1), places.mayTake("a", 0)], [true, true, false]);
  });
});

describe("an active principal", () => {
  it("is one that made a request within the last minute or still holds a place", () => {
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
  it("is all places except one", () => {
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
  it("leaves the last ready child to a principal that has none", () => {
    const { places } = openBench(5);
    places.noteRequest("b");
    hold(places, "a", 1);
    assert.deepEqual([places.mayTake("a", 1), places.mayTake("a", 2), places.mayTake("b", 1)], [false, true, true]);
  });
  it("is at least one place", () => {
    const { places } = openBench(1);
    places.noteRequest("b");
    places.noteRequest("a");
    assert.deepEqual([places.mayHold("a"), places.mayTake("a", 1)], [true, true]);
  });
  it("is every place again a minute after the last request of others, unless they still hold one", () => {
    const { places, pass } = openBench(2);
    hold(places, "b", 1);
    hold(places, "a", 1);
    pass(60_001);
    assert.equal(places.mayHold("a"), false);
    places.release("b");
    assert.equal(places.mayHold("a"), true);
  });
  it("is still every place a moment later without other principals", () => {
    const { places } = openBench(2);
    hold(places, "a", 1);
    assert.equal(places.mayHold("a"), true);
  });
});

describe("the memory of active principals", () => {
  it("is bounded and still knows that another principal is active", () => {
    const { places } = openBench(2);
    for (let number = 0; number < 5_000; number += 1) places.noteRequest(`p${number}`);
    hold(places, "a", 1);
    assert.equal(places.mayHold("a"), false);
  });
});
