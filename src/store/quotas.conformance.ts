/** The conformance suite of `Store["quotas"]`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { PlaceClaim, WindowClaim } from "./quotas.ts";
import type { Store } from "./store.ts";

const window = (key: string, more: Partial<WindowClaim> = {}): WindowClaim => ({
  kind: "window",
  key,
  windowMs: 100,
  limit: 3,
  amount: 1,
  least: 1,
  ...more,
});
const place = (holder: string, more: Partial<PlaceClaim> = {}): PlaceClaim => ({
  kind: "place",
  key: "p",
  limit: 1,
  holder,
  until: 50,
  ...more,
});

export function describeQuotas(open: () => Promise<Store>): void {
  describeHolders(open);
  describeFamilies(open);
  void test("take grants up to the limit of a window and returns when the next one begins", async () => {
    await using store = await open();
    const taken = { kind: "taken", units: [{ key: "a", startedAt: 10, amount: 1 }] };
    for (const at of [10, 20, 109]) assert.deepEqual(await store.quotas.take([window("a")], at), taken);
    const full = { kind: "full", claim: window("a"), used: 3, freeAt: 110 };
    assert.deepEqual(await store.quotas.take([window("a")], 109), full);
    assert.deepEqual(await store.quotas.take([window("a")], 110), {
      kind: "taken",
      units: [{ key: "a", startedAt: 110, amount: 1 }],
    });
  });
  void test("take grants what is left if the minimum is smaller", async () => {
    await using store = await open();
    const claim = window("a", { amount: 2 });
    const amounts: unknown[] = [];
    for (let count = 0; count < 3; count += 1) {
      const outcome = await store.quotas.take([claim], 0);
      amounts.push(outcome.kind === "taken" ? outcome.units[0]?.amount : outcome.kind);
    }
    assert.deepEqual(amounts, [2, 1, "full"]);
  });
  void test("take grants all claims or none", async () => {
    await using store = await open();
    await store.quotas.take([window("b", { amount: 3, least: 3 })], 0);
    const both = [window("a"), place("x"), window("b")];
    assert.equal((await store.quotas.take(both, 0)).kind, "full");
    assert.equal((await store.quotas.take([window("a", { amount: 3, least: 3 }), place("y")], 0)).kind, "taken");
  });
  void test("giveBack returns units only to the window that they came from", async () => {
    await using store = await open();
    const all = (holder: string) => window("a", { amount: 3, least: 3, holder });
    await store.quotas.take([all("x")], 0);
    await store.quotas.giveBack("x", 0);
    assert.equal((await store.quotas.take([all("y")], 5)).kind, "taken");
    assert.equal((await store.quotas.take([all("z")], 100)).kind, "taken");
    await store.quotas.giveBack("y", 0);
    assert.equal((await store.quotas.take([window("a")], 101)).kind, "full");
  });
  void test("take holds a slot until it is returned or its time is over", async () => {
    await using store = await open();
    assert.equal((await store.quotas.take([place("x")], 0)).kind, "taken");
    assert.deepEqual(await store.quotas.take([place("y")], 49), {
      kind: "full",
      claim: place("y"),
      used: 1,
      freeAt: 50,
    });
    assert.equal((await store.quotas.take([place("y", { until: 90 })], 50)).kind, "taken");
    await store.quotas.giveBack("y", 0);
    assert.equal((await store.quotas.take([place("z")], 51)).kind, "taken");
  });
}

function describeHolders(open: () => Promise<Store>): void {
  void test("giveBack returns unused units of each window once", async () => {
    await using store = await open();
    const of = (key: string, amount: number) => window(key, { limit: 10, amount, holder: "x" });
    const left = async (key: string): Promise<number> => {
      const outcome = await store.quotas.take([window(key, { limit: 10, amount: 10, holder: "who looks" })], 0);
      await store.quotas.giveBack("who looks", 0);
      return outcome.kind === "taken" ? (outcome.units[0]?.amount ?? 0) : 0;
    };
    await store.quotas.take([of("a", 8), of("b", 5), window("c", { limit: 10, amount: 4 })], 0);
    for (const time of ["first", "second"]) {
      await store.quotas.giveBack("x", 6);
      assert.deepEqual([await left("a"), await left("b"), await left("c")], [4, 5, 6], time);
    }
  });
  void test("heldFor returns how long units were held, and restoreHold continues that", async () => {
    await using store = await open();
    const { quotas } = store;
    for (const holder of ["x", "y"]) await quotas.take([window("a", { limit: 9, holder })], 10);
    assert.deepEqual([await quotas.heldFor("x"), await quotas.heldFor("none")], [0, undefined]);
    await quotas.noteHeld(["x", "none"], 30);
    assert.deepEqual([await quotas.heldFor("x"), await quotas.heldFor("y")], [20, 0]);
    await quotas.restoreHold("x", 25, 80);
    await quotas.noteHeld(["x"], 90);
    assert.deepEqual([await quotas.heldFor("x"), await quotas.heldFor("y")], [35, 0]);
    await quotas.noteHeld(["y"], 5);
    assert.equal(await quotas.heldFor("y"), 0);
    await quotas.giveBack("x", 0);
    assert.equal(await quotas.heldFor("x"), undefined);
  });
}

function describeFamilies(open: () => Promise<Store>): void {
  void test("a new counter of a family removes counters of the family whose windows have ended, and no others", async () => {
    // A longer window shows whether a counter is still there.
    const startOf = async (store: Store, key: string): Promise<unknown> => {
      const outcome = await store.quotas.take([window(key, { windowMs: 1_000 })], 100);
      return outcome.kind === "taken" && outcome.units[0]?.startedAt;
    };
    for (const [at, starts] of [
      [99, [0, 0, 0]],
      [100, [100, 0, 0]],
    ] as const) {
      await using store = await open();
      for (const key of ["f:a", "f", "g:a"]) await store.quotas.take([window(key)], 0);
      await store.quotas.take([window("f:b", { family: "f:" })], at);
      assert.deepEqual([await startOf(store, "f:a"), await startOf(store, "f"), await startOf(store, "g:a")], starts);
    }
  });
}
