/** Which events listeners get, in which order, without delaying the source. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createFeed } from "./feed.ts";
import type { TelemetryEvent } from "./event.ts";
import { callEntries, endedExecution, executionId, openTelemetryFixture } from "./fixtures/events.ts";

test("createFeed emits a call once, with its decision and outcome", async () => {
  await using watched = await openTelemetryFixture();
  const { feed, ledger } = watched;
  const told: TelemetryEvent[] = [];
  feed.listen((event) => void (event.kind === "commit" || told.push(event)));
  for (const entry of callEntries({ effect: "write", outcome: "error", code: "UPSTREAM_FAILED" })) {
    await ledger.write(entry);
  }
  feed.ended(...endedExecution({}));
  feed.drain();
  const who = { principal: "ann", execution: executionId(1) };
  const tool = { address: "crm.read", server: "crm server", effect: "write", decision: "allow", isFlow: false };
  const outcome = { outcome: "error", code: "UPSTREAM_FAILED", ms: 3, endedAt: 1_000_000 };
  const { stats } = endedExecution({})[1];
  const times = { startedAt: 1_000_000, endedAt: 1_000_000 };
  assert.deepEqual(told, [
    { kind: "call", ...who, seq: 1, tool, ...outcome },
    { kind: "execution", ...who, ...times, state: "completed", code: undefined, stats },
  ]);
});

test("createFeed emits nothing for a dry run", async () => {
  await using watched = await openTelemetryFixture();
  const { feed, ledger } = watched;
  const told: TelemetryEvent[] = [];
  feed.listen((event) => void (event.kind === "call" && told.push(event)));
  const [intended, ended] = callEntries({ effect: "write" });
  for (const entry of [intended, ended]) {
    await ledger.write({ ...entry, detail: { ...Object(entry.detail), dryRun: true } });
  }
  feed.drain();
  assert.deepEqual(told, []);
  for (const entry of [intended, ended]) await ledger.write(entry);
  feed.drain();
  assert.equal(told.length, 1);
});

test("createFeed emits a call of an unknown name without a tool", async () => {
  await using watched = await openTelemetryFixture();
  const { feed, ledger } = watched;
  const told: TelemetryEvent[] = [];
  feed.listen((event) => void (event.kind === "call" && told.push(event)));
  await ledger.write(callEntries({ tool: "made.up", outcome: "error", code: "TOOL_NOT_FOUND" })[1]);
  feed.drain();
  assert.deepEqual(
    told.map((event) => event.kind === "call" && [event.tool, event.code]),
    [[undefined, "TOOL_NOT_FOUND"]],
  );
});

test("createFeed calls listeners after the write, and one that throws does not affect others", async () => {
  const reported: unknown[] = [];
  const feed = createFeed({ now: () => 0, report: (thrown) => reported.push(thrown) });
  const told: string[] = [];
  const broken = new Error("broken");
  feed.listen(() => {
    throw broken;
  });
  feed.listen(({ kind }) => void told.push(kind));
  feed.committed([], 1);
  assert.deepEqual(told, []);
  await new Promise(setImmediate);
  assert.deepEqual([told, reported], [["commit"], [broken]]);
});

test("createFeed drops events above the maximum queue length", () => {
  const feed = createFeed({ now: () => 0, report: () => undefined });
  let told = 0;
  feed.listen(() => void (told += 1));
  for (let entry = 0; entry < 4_095; entry += 1) feed.committed([], 1);
  feed.committed([], 1);
  assert.equal(feed.dropped, 0);
  feed.committed([], 1);
  feed.drain();
  assert.deepEqual([feed.dropped, told], [1, 4_096]);
});
