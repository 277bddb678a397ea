/** The conformance suite of `Store["results"]`. */

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

/** Returns result `n` of Ada, created at millisecond `n` and kept for 1,000 ms. */
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

export function describeResults(open: () => Promise<Store>): void {
  void test("find returns a result to its principal, and findSummary without the body", async () => {
    await using store = await open();
    const { body, ...summary } = sample(1);
    await store.results.put({ ...summary, body }, TOTAL);
    const view = { principal: ADA, now: 5 };
    const found = certain(await store.results.find(handle(1), view));
    assert.deepEqual({ ...found, body: new Uint8Array(found.body) }, sample(1));
    assert.deepEqual(await store.results.findSummary(handle(1), view), summary);
  });

  void test("find returns bodies of every size as they were, and findSummary their sizes", async () => {
    await using store = await open();
    const view = { principal: ADA, now: 5 };
    for (const bytes of [0, 1, 256 * 1024, 256 * 1024 + 1, 1_000_000]) {
      const body = new Uint8Array(bytes).map((_, at) => at % 251);
      await store.results.put({ ...sample(1, bytes), id: handle(bytes), body }, 10_000_000);
      const found = certain(await store.results.find(handle(bytes), view));
      assert.ok(Buffer.from(found.body).equals(body), `${bytes} bytes`);
      assert.deepEqual([found.bytes, found.shape], [bytes, "number[]"]);
      assert.equal(certain(await store.results.findSummary(handle(bytes), view)).bytes, bytes);
    }
  });

  void test("find returns nothing for another principal or another handle", async () => {
    await using store = await open();
    await store.results.put(sample(1), TOTAL);
    assert.equal(await store.results.find(handle(1), { principal: GRACE, now: 5 }), undefined);
    assert.equal(await store.results.findSummary(handle(1), { principal: GRACE, now: 5 }), undefined);
    assert.equal(await store.results.find(handle(2), { principal: ADA, now: 5 }), undefined);
  });

  void test("find returns a result until its expiry", async () => {
    await using store = await open();
    await store.results.put(sample(1), TOTAL);
    assert.deepEqual([await idsOf(store, 1_000), await idsOf(store, 1_001)], [[1], []]);
  });

  void test("put evicts the oldest results, and no more than needed", async () => {
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

  void test("put evicts expired results first", async () => {
    await using store = await open();
    await store.results.put({ ...sample(2, 50), expiresAt: 3 }, TOTAL);
    await store.results.put(sample(1, 50), TOTAL);
    await store.results.put(sample(4, 50), TOTAL);
    assert.deepEqual(await idsOf(store, 5), [1, 4]);
  });

  void test("put accepts a result of the total size and rejects a larger one without evicting", async () => {
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
