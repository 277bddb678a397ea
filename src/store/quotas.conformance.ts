/** What every store promises about quotas: all claims or none, exact, and a window that takes back only its own. */

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
const place = (lease: string, more: Partial<PlaceClaim> = {}): PlaceClaim => ({
  kind: "place",
  key: "p",
  limit: 1,
  lease,
  until: 50,
  ...more,
});

/** Runs the suite against one implementation. */
export function describeQuotas(open: () => Promise<Store>): void {
  void test("takes up to the limit of a window, and says when the next one begins", async () => {
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
  void test("takes what is left where less is enough", async () => {
    await using store = await open();
    const claim = window("a", { amount: 2 });
    const amounts: unknown[] = [];
    for (let count = 0; count < 3; count += 1) {
      const outcome = await store.quotas.take([claim], 0);
      amounts.push(outcome.kind === "taken" ? outcome.units[0]?.amount : outcome.kind);
    }
    assert.deepEqual(amounts, [2, 1, "full"]);
  });
  void test("takes all claims or none", async () => {
    await using store = await open();
    await store.quotas.take([window("b", { amount: 3, least: 3 })], 0);
    const both = [window("a"), place("x"), window("b")];
    assert.equal((await store.quotas.take(both, 0)).kind, "full");
    assert.equal((await store.quotas.take([window("a", { amount: 3, least: 3 }), place("y")], 0)).kind, "taken");
  });
  void test("gives units back to the window that they came from, and to no later one", async () => {
    await using store = await open();
    const all = window("a", { amount: 3, least: 3 });
    await store.quotas.take([all], 0);
    const units = [{ key: "a", startedAt: 0, amount: 3 }];
    await store.quotas.giveBack({ units, leases: [] });
    assert.equal((await store.quotas.take([all], 5)).kind, "taken");
    assert.equal((await store.quotas.take([all], 100)).kind, "taken");
    await store.quotas.giveBack({ units, leases: [] });
    assert.equal((await store.quotas.take([window("a")], 101)).kind, "full");
  });
  void test("holds a place until it is given back or its time is over", async () => {
    await using store = await open();
    assert.equal((await store.quotas.take([place("x")], 0)).kind, "taken");
    assert.deepEqual(await store.quotas.take([place("y")], 49), {
      kind: "full",
      claim: place("y"),
      used: 1,
      freeAt: 50,
    });
    assert.equal((await store.quotas.take([place("y", { until: 90 })], 50)).kind, "taken");
    await store.quotas.giveBack({ units: [], leases: ["y"] });
    assert.equal((await store.quotas.take([place("z")], 51)).kind, "taken");
  });
}
