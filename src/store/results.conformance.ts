/** What every store promises about kept results: whose they are, how long they stay, how much there may be. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { GloveboxError, parseExecutionId, parsePrincipalId, parseResultId } from "../domain/index.ts";
import type { ResultId } from "../domain/index.ts";

import type { Store, StoredResult } from "./store.ts";

function certain<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

const ADA = certain(parsePrincipalId("ada"));
const GRACE = certain(parsePrincipalId("grace"));
const TOTAL = 100;

function handle(n: number): ResultId {
  return certain(parseResultId(`rs_${n.toString(16).padStart(24, "0")}`));
}

/** The result number `n` of Ada, made at that millisecond and kept for 1,000. */
function sample(n: number, bytes = 10): StoredResult {
  return {
    id: handle(n),
    principal: ADA,
    execution: certain(parseExecutionId(`ex_${"0".repeat(24)}`)),
    mimeType: "application/json",
    bytes,
    shape: "number[]",
    labels: [],
    body: new Uint8Array(bytes).fill(n),
    createdAt: n,
    expiresAt: n + 1_000,
  };
}

async function idsOf({ results }: Store, now: number): Promise<number[]> {
  const found = await Promise.all(
    [1, 2, 3, 4].map((n) => results.findSummary(handle(n), { principal: ADA, now }).then((one) => (one ? n : 0))),
  );
  return found.filter((n) => n > 0);
}

/** Part of the suite of `describeStore`. */
export function describeResults(open: () => Promise<Store>): void {
  void test("a result is found whole by its principal, and without its body", async () => {
    await using store = await open();
    const { body, ...summary } = sample(1);
    await store.results.put({ ...summary, body }, TOTAL);
    const view = { principal: ADA, now: 5 };
    const found = certain(await store.results.find(handle(1), view));
    assert.deepEqual({ ...found, body: new Uint8Array(found.body) }, sample(1));
    assert.deepEqual(await store.results.findSummary(handle(1), view), summary);
  });

  void test("nobody else finds it, and no handle beside it is found", async () => {
    await using store = await open();
    await store.results.put(sample(1), TOTAL);
    assert.equal(await store.results.find(handle(1), { principal: GRACE, now: 5 }), undefined);
    assert.equal(await store.results.findSummary(handle(1), { principal: GRACE, now: 5 }), undefined);
    assert.equal(await store.results.find(handle(2), { principal: ADA, now: 5 }), undefined);
  });

  void test("it is found until its time is over, not at it", async () => {
    await using store = await open();
    await store.results.put(sample(1), TOTAL);
    assert.deepEqual([await idsOf(store, 1_000), await idsOf(store, 1_001)], [[1], []]);
  });

  void test("the oldest make room, and no more of them than needed", async () => {
    await using store = await open();
    for (const [n, bytes] of [
      [1, 30],
      [2, 30],
      [3, 40],
    ] as const)
      await store.results.put(sample(n, bytes), TOTAL);
    assert.deepEqual(await idsOf(store, 5), [1, 2, 3]);
    await store.results.put(sample(4, 31), TOTAL);
    assert.deepEqual(await idsOf(store, 5), [3, 4]);
  });

  void test("expired ones make room before any other", async () => {
    await using store = await open();
    await store.results.put({ ...sample(2, 50), expiresAt: 3 }, TOTAL);
    await store.results.put(sample(1, 50), TOTAL);
    await store.results.put(sample(4, 50), TOTAL);
    assert.deepEqual(await idsOf(store, 5), [1, 4]);
  });

  void test("one that fills everything is taken, one that is larger is refused and evicts nobody", async () => {
    await using store = await open();
    await store.results.put(sample(1), TOTAL);
    await assert.rejects(
      store.results.put(sample(2, TOTAL + 1), TOTAL),
      (error) => error instanceof GloveboxError && error.code === "LIMIT_SIZE",
    );
    assert.deepEqual(await idsOf(store, 5), [1]);
    await store.results.put(sample(2, TOTAL), TOTAL);
    assert.deepEqual(await idsOf(store, 5), [2]);
  });
}
