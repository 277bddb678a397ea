/** Turns go round the principals, so that a crowd of one does not hold up another. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { createFairQueue } from "./fair-queue.ts";
import type { FairQueue } from "./fair-queue.ts";

function fill(items: readonly string[]): FairQueue<string> {
  const queue = createFairQueue<string>();
  for (const item of items) queue.add(item.slice(0, 1), item);
  return queue;
}

function drain(queue: FairQueue<string>): readonly string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

describe("a fair queue", () => {
  it("a fair queue keeps the order of one principal", () => {
    assert.deepEqual(drain(fill(["a1", "a2", "a3"])), ["a1", "a2", "a3"]);
  });
  it("a fair queue serves one principal after the other", () => {
    assert.deepEqual(drain(fill(["a1", "a2", "a3", "b1", "c1", "b2"])), ["a1", "b1", "c1", "a2", "b2", "a3"]);
  });
  it("a fair queue lets a late principal wait for one turn of each other, not for all", () => {
    const queue = fill(["a1", "a2", "a3", "a4"]);
    assert.equal(queue.take(), "a1");
    queue.add("b", "b1");
    assert.deepEqual(drain(queue), ["a2", "b1", "a3", "a4"]);
  });
  it("a fair queue skips principals that are not eligible and keeps their place", () => {
    const queue = fill(["a1", "a2", "b1", "c1"]);
    const isNotA = (principal: string): boolean => principal !== "a";
    assert.deepEqual([queue.count(isNotA), queue.take(isNotA), queue.count(isNotA)], [2, "b1", 1]);
    assert.equal(
      queue.take(() => false),
      undefined,
    );
    assert.deepEqual(drain(queue), ["a1", "c1", "a2"]);
  });
  it("a fair queue reports its length and is empty in the end", () => {
    const queue = fill(["a1", "b1"]);
    assert.deepEqual([queue.length, queue.take(), queue.length, queue.take(), queue.length], [2, "a1", 1, "b1", 0]);
    assert.deepEqual([queue.take(), queue.length], [undefined, 0]);
  });
  it("a fair queue removes an item once and keeps the others in order", () => {
    const queue = fill(["a1", "a2", "a3", "b1"]);
    assert.deepEqual([queue.remove("a", "a2"), queue.remove("a", "a2"), queue.length], [true, false, 3]);
    assert.deepEqual(drain(queue), ["a1", "b1", "a3"]);
  });
  it("a fair queue removes the last item of a principal and forgets its turn", () => {
    const queue = fill(["a1", "b1"]);
    assert.equal(queue.remove("a", "a1"), true);
    assert.deepEqual(drain(queue), ["b1"]);
  });
  it("a fair queue does not remove an unknown item or one of another principal", () => {
    const queue = fill(["a1"]);
    assert.deepEqual(
      [queue.remove("b", "a1"), queue.remove("a", "a2"), queue.remove("__proto__", "a1")],
      [false, false, false],
    );
    assert.equal(queue.length, 1);
  });
  it("a fair queue loses and repeats nothing, and never serves a principal twice before a waiting one", () => {
    const added = fc.uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(99)), { selector: String });
    fc.assert(
      fc.property(added, (pairs) => {
        const items = pairs.map(([principal, number]) => `${principal}${number}`);
        const taken = drain(fill(items));
        assert.deepEqual(taken.toSorted(), items.toSorted());
        const rounds = new Map<string, number>();
        const turns = taken.map((item) => {
          const round = (rounds.get(item.slice(0, 1)) ?? 0) + 1;
          rounds.set(item.slice(0, 1), round);
          return round;
        });
        assert.deepEqual(
          turns,
          turns.toSorted((a, b) => a - b),
        );
      }),
    );
  });
});
