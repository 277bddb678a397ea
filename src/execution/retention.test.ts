/** When the limits of stored executions are applied. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createRetention, startSealing } from "./retention.ts";

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

const MIB = 1024 * 1024;

test("sealing continues until nothing is left, and only its first step may rebuild a large file", async () => {
  const asked: number[] = [];
  const steps = ["results", "results", "file"] as const;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const sealOlder = async (rebuildBytes: number) => {
    const left = steps[asked.push(rebuildBytes) - 1];
    if (left === "file") end();
    return left ?? assert.fail("It does not stop");
  };
  await using sealing = startSealing({ store: { sealOlder }, report: (thrown) => assert.fail(String(thrown)) });
  await ended;
  await sealing[Symbol.asyncDispose]();
  assert.deepEqual(asked, [256 * MIB, 16 * MIB, 16 * MIB]);
});

test("sealing stops after the step in progress when it is disposed", async () => {
  let steps = 0;
  const sealOlder = async () => {
    steps += 1;
    return "results" as const;
  };
  const sealing = startSealing({ store: { sealOlder }, report: (thrown) => assert.fail(String(thrown)) });
  await sealing[Symbol.asyncDispose]();
  assert.equal(steps, 1);
});

test("a failure of sealing is reported and does not end the gateway", async () => {
  const reports: unknown[] = [];
  const sealOlder = () => Promise.reject(new Error("disk full"));
  const sealing = startSealing({ store: { sealOlder }, report: (thrown) => reports.push(String(thrown)) });
  await sealing[Symbol.asyncDispose]();
  assert.deepEqual(reports, ["Error: disk full"]);
});
