/** Turns go round the principals, so that a crowd of one does not hold up another. */

import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import * as fc from "fast-check";

import { createFairQueue } from "./fair-queue.ts";
import type { FairQueue, QueueItem } from "./fair-queue.ts";

interface Item extends QueueItem {
  readonly name: string;
}

/** `a1` is of the principal `a` without a session; `ax1` is of its session `x`; `ax1!` has run before. */
function itemOf(name: string): Item {
  const [, principal = "", session = ""] = /^(.)(\D?)/.exec(name) ?? [];
  return { owner: { principal, session }, isWaking: name.endsWith("!"), name };
}

function fill(names: readonly string[]): FairQueue<Item> {
  const queue = createFairQueue<Item>();
  for (const name of names) queue.add(itemOf(name));
  return queue;
}

function drain(queue: FairQueue<Item>): readonly string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item.name);
  return taken;
}

function countOf(queue: FairQueue<Item>, isCounted: (item: Item) => boolean = () => true): number {
  return queue.items().filter(isCounted).length;
}

describe("a fair queue", () => {
  it("a fair queue keeps the order of one principal", () => {
    assert.deepEqual(drain(fill(["a1", "a2", "a3"])), ["a1", "a2", "a3"]);
  });
  it("a fair queue serves one principal after the other", () => {
    assert.deepEqual(drain(fill(["a1", "a2", "a3", "b1", "c1", "b2"])), ["a1", "b1", "c1", "a2", "b2", "a3"]);
  });
  it("a fair queue serves a late principal before the next turn of one that was served", () => {
    const queue = fill(["a1", "a2", "a3", "a4"]);
    assert.equal(queue.take()?.name, "a1");
    queue.add(itemOf("b1"));
    assert.deepEqual(drain(queue), ["b1", "a2", "a3", "a4"]);
  });
  it("a fair queue skips principals that are not eligible and keeps their place", () => {
    const queue = fill(["a1", "a2", "b1", "c1"]);
    const isNotA = ({ owner }: Item): boolean => owner.principal !== "a";
    assert.deepEqual([countOf(queue, isNotA), queue.take(isNotA)?.name, countOf(queue, isNotA)], [2, "b1", 1]);
    assert.equal(
      queue.take(() => false),
      undefined,
    );
    assert.deepEqual(drain(queue), ["a1", "c1", "a2"]);
  });
  it("a fair queue reports its length and is empty in the end", () => {
    const queue = fill(["a1", "b1"]);
    const take = (): string | undefined => queue.take()?.name;
    assert.deepEqual([countOf(queue), take(), countOf(queue), take(), countOf(queue)], [2, "a1", 1, "b1", 0]);
    assert.deepEqual([queue.take(), countOf(queue)], [undefined, 0]);
  });
  it("a fair queue removes an item once and keeps the others in order", () => {
    const queue = fill(["a1"]);
    const item = itemOf("a2");
    queue.add(item);
    for (const name of ["a3", "b1"]) queue.add(itemOf(name));
    assert.deepEqual([queue.remove(item), queue.remove(item), countOf(queue)], [true, false, 3]);
    assert.deepEqual(drain(queue), ["a1", "b1", "a3"]);
  });
  it("a fair queue removes the last item of a principal and forgets its turn", () => {
    const queue = createFairQueue<Item>();
    const [first, second] = [itemOf("a1"), itemOf("b1")];
    for (const item of [first, second]) queue.add(item);
    assert.equal(queue.remove(first), true);
    assert.deepEqual(drain(queue), ["b1"]);
  });
  it("a fair queue does not remove an unknown item, also of an unknown principal", () => {
    const queue = fill(["a1"]);
    const stranger = { ...itemOf("a1"), owner: { principal: "__proto__", session: "" } };
    assert.deepEqual(
      [queue.remove(itemOf("a1")), queue.remove(itemOf("b1")), queue.remove(stranger)],
      [false, false, false],
    );
    assert.equal(countOf(queue), 1);
  });
  it("a fair queue serves the sessions of one principal in turn", () => {
    assert.deepEqual(drain(fill(["ax1", "ax2", "ax3", "ay1", "az1", "ay2"])), [
      "ax1",
      "ay1",
      "az1",
      "ax2",
      "ay2",
      "ax3",
    ]);
  });
  it("a fair queue gives a principal with many sessions no more turns than one with a single session", () => {
    assert.deepEqual(drain(fill(["ax1", "ay1", "az1", "b1", "b2", "b3"])), ["ax1", "b1", "ay1", "b2", "az1", "b3"]);
  });
  it("a fair queue skips a session that is not eligible and serves another one of its principal", () => {
    const queue = fill(["ax1", "ay1"]);
    assert.equal(queue.take(({ owner }) => owner.session !== "x")?.name, "ay1");
    assert.deepEqual(drain(queue), ["ax1"]);
  });
  it("a fair queue serves waking items before the new ones of their session, in their own order", () => {
    assert.deepEqual(drain(fill(["ax1", "ax2", "ax3!", "ax4!"])), ["ax3!", "ax4!", "ax1", "ax2"]);
  });
  it("a fair queue lets a waking item wait for the turns of other sessions and principals", () => {
    assert.deepEqual(drain(fill(["ay1", "b1", "ax1", "ax2!"])), ["ay1", "b1", "ax2!", "ax1"]);
  });
  for (const [waiting, newcomer, removed] of [
    [["a1", "a2"], "b", "a2"],
    [["a1", "b1"], "b", undefined],
    [["a1", "a2", "b1"], "b", undefined],
    [["a1", "a2", "a3", "b1"], "b", "a3"],
    [["ax1", "ay1", "ay2", "b1"], "c", "ay2"],
    [["ax1", "ax2"], "ay", "ax2"],
    [["ax1", "ax2"], "ax", undefined],
    [["ax1", "ax2", "ay1"], "ay", undefined],
    [["a1", "a2!"], "b", undefined],
    [["a1", "a2", "a3!"], "b", "a2"],
    [[], "a", undefined],
  ] as const)
    it(`a full fair queue of ${waiting.join(" ") || "nothing"} ${removed ? `gives the place of ${removed} to` : "makes no room for"} ${newcomer}`, () => {
      const queue = fill(waiting);
      assert.equal(queue.findYielding(itemOf(`${newcomer}9`).owner)?.name, removed);
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

describe("a fair queue with costs", () => {
  it("a fair queue serves the sessions of one principal by their cost, and principals in turn", () => {
    const costs: Record<string, number> = { x: 2, y: 1 };
    const queue = createFairQueue<Item>(({ owner }) => costs[owner.session] ?? 0);
    for (const name of ["ax1", "ax2", "ay1", "az1", "bx1"]) queue.add(itemOf(name));
    assert.deepEqual(drain(queue), ["az1", "bx1", "ay1", "ax1", "ax2"]);
  });
  it("a fair queue skips a cheap session that is not eligible", () => {
    const queue = createFairQueue<Item>(({ owner }) => (owner.session === "x" ? 1 : 0));
    for (const name of ["ax1", "ay1"]) queue.add(itemOf(name));
    assert.equal(queue.take(({ owner }) => owner.session !== "y")?.name, "ax1");
  });
});

test("isWaiting is true for an owner with items only", () => {
  const queue = fill(["ax1"]);
  const [own, session, principal] = ["ax1", "ay1", "bx1"].map((name) => queue.isWaiting(itemOf(name).owner));
  queue.take();
  assert.deepEqual([own, session, principal, queue.isWaiting(itemOf("ax1").owner)], [true, false, false, false]);
});
