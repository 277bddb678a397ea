/** When the limits of stored executions are applied. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createRetention } from "./retention.ts";

const STEP = 100;

function create(keepMs = 64_000) {
  let at = 1_000_000;
  const seen: unknown[] = [];
  const retention = createRetention({
    store: {
      executions: { drop: async (bounds) => (seen.push(bounds), 0) },
      results: { expire: async (now) => void seen.push(`expire ${now}`) },
    },
    journals: { drop: async () => (seen.push("journals"), 0) },
    now: () => at,
    keepMs,
    totalBytes: 6_400,
    stepBytes: STEP,
    report: (thrown) => assert.fail(String(thrown)),
  });
  const wait = (ms: number): void => void (at += ms);
  const count = async (): Promise<number> => {
    await retention[Symbol.asyncDispose]();
    return seen.length / 3;
  };
  return { retention, seen, wait, count };
}

test("the first end applies the limits to executions, journals and kept results", async () => {
  const { retention, seen, count } = create();
  retention.ended();
  assert.equal(await count(), 1);
  assert.deepEqual(seen, [{ endedBefore: 1_000_000 - 64_000, totalBytes: 6_400 }, "journals", "expire 1000000"]);
});

test("an end applies the limits again once enough was stored, and not before", async () => {
  const { retention, count } = create();
  retention.ended();
  await count();
  retention.stored(STEP - 1);
  retention.ended();
  assert.equal(await count(), 1);
  retention.stored(1);
  retention.ended();
  assert.equal(await count(), 2);
});

test("an end applies the limits again after a part of the kept time, and not before", async () => {
  const { retention, wait, count } = create();
  retention.ended();
  await count();
  wait(999);
  retention.ended();
  assert.equal(await count(), 1);
  wait(1);
  retention.ended();
  assert.equal(await count(), 2);
});

test("a failed deletion is reported, and the next end tries again", async () => {
  const reported: unknown[] = [];
  let isFull = true;
  const retention = createRetention({
    store: {
      executions: { drop: () => (isFull ? Promise.reject(new Error("full")) : Promise.resolve(1)) },
      results: { expire: async () => undefined },
    },
    journals: { drop: async () => 0 },
    now: () => 0,
    keepMs: 1,
    totalBytes: 1,
    stepBytes: 1,
    report: (thrown) => reported.push(String(thrown)),
  });
  for (isFull of [true, false]) {
    retention.stored(1);
    retention.ended();
    await retention[Symbol.asyncDispose]();
  }
  assert.deepEqual(reported, ["Error: full"]);
});
