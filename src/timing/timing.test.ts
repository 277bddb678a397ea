/** Caches, backoff, races and polling, each just below and just above its limit. */

import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";

import {
  backoffMs,
  createRecent,
  pollEvery,
  runAtOnce,
  runInSlices,
  settlesWithin,
  takeTurn,
  untilAborted,
} from "./index.ts";
import type { SlicedWork } from "./index.ts";

test("createRecent keeps entries up to its limit and drops the one used longest ago", () => {
  const recent = createRecent<string, number>(2);
  recent.set("a", 1);
  recent.set("b", 2);
  assert.deepEqual([recent.get("a"), recent.get("b"), recent.size], [1, 2, 2]);
  recent.get("a");
  recent.set("c", 3);
  assert.deepEqual([recent.has("a"), recent.has("b"), recent.has("c")], [true, false, true]);
});

test("createRecent returns its entries with the one used longest ago first", () => {
  const recent = createRecent<string, number>(2);
  recent.set("a", 1);
  recent.set("b", 2);
  recent.get("a");
  assert.deepEqual(
    [...recent.entries()],
    [
      ["b", 2],
      ["a", 1],
    ],
  );
});

test("createRecent makes a missing entry once", () => {
  const recent = createRecent<string, number>(2);
  let made = 0;
  const make = (): number => (made += 1);
  assert.deepEqual([recent.getOr("a", make), recent.getOr("a", make), made], [1, 1, 1]);
});

test("backoffMs doubles with each failure up to its limit", () => {
  const range = { firstMs: 100, longestMs: 350 };
  assert.deepEqual(
    [0, 1, 2, 3, 60].map((failures) => backoffMs(failures, range)),
    [0, 100, 200, 350, 350],
  );
});

test("untilAborted rejects with the reason of the first signal, and resolves without one", async () => {
  const controller = new AbortController();
  const pending = untilAborted(new Promise<never>(() => undefined), controller.signal);
  controller.abort(new Error("stop"));
  await assert.rejects(pending, { message: "stop" });
  assert.equal(await untilAborted(Promise.resolve(1), new AbortController().signal), 1);
});

test("settlesWithin is true for a rejection and false for a promise that never settles", async () => {
  assert.equal(await settlesWithin(Promise.reject(new Error("no")), 60_000), true);
  assert.equal(await settlesWithin(new Promise(() => undefined), 1), false);
});

test("pollEvery continues after a failed run and waits for the last run when disposed", async () => {
  let runs = 0;
  const twice = Promise.withResolvers<void>();
  const poll = pollEvery(1, async () => {
    runs += 1;
    if (runs === 2) twice.resolve();
    throw new Error("failed run");
  });
  // The poll's own timer does not keep the process alive.
  const alive = setInterval(() => undefined, 1_000);
  await twice.promise;
  clearInterval(alive);
  await poll[Symbol.asyncDispose]();
  const after = runs;
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(runs, after);
});

/** Ends when `isOver` holds. */
function* workUntil(isOver: () => boolean): SlicedWork<string> {
  while (!isOver()) yield;
  return "done";
}

describe("sliced work", () => {
  it("runInSlices lets the event loop turn between two slices", async () => {
    let hasTurned = false;
    setImmediate(() => (hasTurned = true));
    assert.equal(await runInSlices(workUntil(() => hasTurned)), "done");
  });
  it("runInSlices stops when a slice is refused", async () => {
    let slices = 0;
    const refuse = <T>(slice: () => T): T => {
      slices += 1;
      if (slices > 2) throw new RangeError("enough");
      return slice();
    };
    await assert.rejects(
      runInSlices(
        workUntil(() => false),
        refuse,
      ),
      new RangeError("enough"),
    );
    assert.equal(slices, 3);
  });
  it("runAtOnce returns the result without a pause", () => {
    let steps = 0;
    assert.equal(runAtOnce(workUntil(() => (steps += 1) > 3)), "done");
  });
});

const owner = (principal: string, session = "") => ({ principal, session });

/** Works for each of them at once, for longer than a slice; returns the order, with the turns of the event loop between. */
async function workAtOnce(names: readonly string[]): Promise<readonly string[]> {
  const order: string[] = [];
  const work = async (name: string): Promise<void> => {
    const later = takeTurn(owner(name.slice(0, 1), name.slice(1, 2)));
    if (later) await later;
    order.push(name);
    for (const until = performance.now() + 10; performance.now() < until;);
  };
  let isOver = false;
  const turn = (): void => {
    order.push("turn");
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await nextTurn();
  await nextTurn();
  order.splice(0);
  await Promise.all(names.map((name) => work(name)));
  isOver = true;
  return order;
}

/** Work of so many slices. */
function* workFor(slices: number): SlicedWork<void> {
  for (let slice = 0; slice < slices; slice += 1) {
    for (const until = performance.now() + 10; performance.now() < until;);
    yield;
  }
}

describe("turns on the thread", () => {
  it("takeTurn lets the event loop turn between long work", async () => {
    const order = await workAtOnce(["ax1", "ax2", "ax3"]);
    for (const [index, name] of order.entries()) {
      if (name !== "turn" && name !== "ax1") assert.equal(order[index - 1], "turn");
    }
  });
  it("takeTurn serves principals in turn, and then the sessions of one principal in turn", async () => {
    const order = await workAtOnce(["cx1", "cx2", "cx3", "cy1", "cz1", "dx1", "dx2"]);
    assert.deepEqual(
      order.filter((name) => name !== "turn"),
      ["cx1", "cx2", "dx1", "cy1", "dx2", "cz1", "cx3"],
    );
  });
  it("takeTurn does not delay short work", async () => {
    await nextTurn();
    assert.equal(takeTurn(owner("a")), undefined);
  });
  it("runInSlices takes one turn for each slice, so that much work of one principal leaves others every second turn", async () => {
    await nextTurn();
    const served: string[] = [];
    const runAs = (name: string) => {
      const run = <T>(slice: () => T): T => (served.push(name), slice());
      return runInSlices(workFor(4), Object.assign(run, { owner: owner(name.slice(0, 1), name.slice(1)) }));
    };
    await Promise.all([...["a1", "a2", "a3", "a4", "a5", "a6"].map(runAs), runAs("b1")]);
    const last = served.lastIndexOf("b1");
    assert.ok(last < 12, served.join(" "));
  });
});
