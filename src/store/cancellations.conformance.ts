/** The conformance suite of `Store["cancellations"]`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { CancellationRow } from "./executions.ts";
import type { ExecutionEnding } from "./executions.ts";
import { sampleOpening } from "./fixtures/sample-opening.ts";
import type { OpenStore } from "./store.conformance.ts";

const ENDING: ExecutionEnding = { endedAt: 9, state: "completed", result: "{}" };

const wish = (n: number, askedAt: number, askedBy = "ada"): CancellationRow => ({
  execution: sampleOpening(n).id,
  askedBy,
  askedAt,
});

export function describeCancellations(open: OpenStore): void {
  test("request keeps the first request for a running or suspended execution; list returns the oldest first", async () => {
    await using store = await open();
    assert.deepEqual(await store.cancellations.list(), []);
    for (const n of [1, 2, 3]) await store.executions.open(sampleOpening(n));
    await store.executions.close(sampleOpening(2).id, { ...ENDING, state: "paused" });
    for (const row of [wish(2, 5), wish(1, 4), wish(2, 6, "grace")])
      assert.equal(await store.cancellations.request(row), true);
    assert.deepEqual(await store.cancellations.list(), [wish(1, 4), wish(2, 5)]);
  });

  test("request returns false for an ended or unknown execution", async () => {
    await using store = await open();
    await store.executions.open(sampleOpening(1));
    await store.executions.close(sampleOpening(1).id, ENDING);
    assert.equal(await store.cancellations.request(wish(1, 1)), false);
    assert.equal(await store.cancellations.request(wish(2, 1)), false);
    assert.deepEqual(await store.cancellations.list(), []);
  });

  test("list omits requests for executions that have ended", async () => {
    await using store = await open();
    await store.executions.open(sampleOpening(1));
    await store.cancellations.request(wish(1, 1));
    await store.executions.close(sampleOpening(1).id, ENDING);
    assert.deepEqual(await store.cancellations.list(), []);
    assert.equal(await store.cancellations.request(wish(1, 2)), false);
  });
}
