/** Anomalies are recorded once, and baselines survive the process. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { callEntries, endedExecution, executionId, openTelemetryFixture } from "../fixtures/events.ts";
import type { CallFacts, TelemetryFixture } from "../fixtures/events.ts";
import { createFeed } from "../feed.ts";
import { openAnomalies } from "./open-anomalies.ts";
import type { Anomalies } from "./open-anomalies.ts";

const MINUTE_MS = 60_000;

const report = (thrown: unknown): never => {
  throw thrown;
};

function open(
  { feed, store, ledger, clock }: TelemetryFixture,
  onSeen: () => void = () => undefined,
): Promise<Anomalies> {
  return openAnomalies({ feed, store, ledger, now: () => clock.now, onSeen, report });
}

async function write({ ledger, feed }: TelemetryFixture, ...calls: readonly CallFacts[]): Promise<void> {
  const written = calls.flatMap((facts) => callEntries(facts)).map((entry) => ledger.write(entry));
  await Promise.all(written);
  feed.drain();
}

async function readSeen({ store }: TelemetryFixture): Promise<readonly unknown[]> {
  const found = await store.ledger.search({ action: "anomaly.seen", limit: 100 });
  return found.toReversed().map(({ actor, subject, detail }) => [actor, subject, JSON.parse(detail)]);
}

const DROP = { tool: "crm.drop", effect: "destroy" };

test("openAnomalies records a burst of failures and a first use once each", async () => {
  await using watched = await openTelemetryFixture();
  let woken = 0;
  const anomalies = await open(watched, () => void (woken += 1));
  const failures = Array.from({ length: 60 }, (_, seq) => ({ seq, outcome: "error", code: "UPSTREAM_FAILED" }));
  await write(watched, ...failures, { seq: 90, ...DROP }, { seq: 91, ...DROP });
  await anomalies[Symbol.asyncDispose]();
  const burst = { kind: "burst", measure: "failures", measured: 51, usual: 0, limit: 50, windowMs: MINUTE_MS };
  assert.deepEqual(await readSeen(watched), [
    ["gateway", "ann", burst],
    ["gateway", "ann", { kind: "firstUse", tool: "crm.drop" }],
  ]);
  assert.deepEqual([anomalies.seen, woken], [2, 2]);
});

test("openAnomalies records nothing for a thousand steady executions, and a burst after them", async () => {
  await using watched = await openTelemetryFixture();
  const { clock, feed } = watched;
  await using anomalies = await open(watched);
  for (let number = 1; number <= 1_000; number += 1) {
    clock.now += 6_000 + (number % 7) * 1_000;
    const calls = Array.from({ length: number % 5 }, (_, seq) => ({ execution: executionId(number), seq }));
    const failed = number % 40 === 0 ? [{ execution: executionId(number), seq: 99, outcome: "error" }] : [];
    await write(watched, ...calls, ...failed);
    feed.ended(...endedExecution({ id: number, startedAt: clock.now }));
  }
  feed.drain();
  assert.deepEqual([anomalies.seen, await readSeen(watched)], [0, []]);
  clock.now += MINUTE_MS;
  await write(watched, ...Array.from({ length: 150 }, (_, seq) => ({ execution: executionId(2_000), seq })));
  assert.equal(anomalies.seen, 1);
});

test("openAnomalies keeps used tools and baselines after a restart", async () => {
  await using watched = await openTelemetryFixture();
  const { clock } = watched;
  const first = await open(watched);
  await write(watched, { seq: 1, ...DROP });
  for (let minute = 0; minute < 12; minute += 1) {
    clock.now += MINUTE_MS;
    await write(watched, { seq: minute + 2 });
  }
  await first[Symbol.asyncDispose]();
  const feed = createFeed({ now: () => clock.now, report });
  const again = await open({ ...watched, feed });
  clock.now += MINUTE_MS;
  const second = await collect(watched, 130);
  feed.committed(second, 1);
  await again[Symbol.asyncDispose]();
  assert.deepEqual(
    (await readSeen(watched)).map((seen) => JSON.stringify(seen)).map((text) => /"kind":"(\w+)"/.exec(text)?.[1]),
    ["firstUse", "burst"],
  );
});

async function collect({ ledger }: TelemetryFixture, calls: number) {
  const entries = Array.from({ length: calls }, (_, seq) => callEntries({ seq, ...DROP })).flat();
  return Promise.all(entries.map((entry) => ledger.write(entry)));
}

test("openAnomalies learns used tools from the ledger when it is first turned on", async () => {
  await using watched = await openTelemetryFixture();
  await write(watched, { seq: 1, ...DROP });
  await write(watched, { seq: 2, tool: "crm.wipe", effect: "destroy", decision: "deny", outcome: "denied" });
  await using anomalies = await open(watched);
  await write(watched, { seq: 3, ...DROP });
  assert.equal(anomalies.seen, 0);
  await write(watched, { seq: 4, tool: "crm.wipe", effect: "destroy" });
  assert.equal(anomalies.seen, 1);
});

test("openAnomalies writes at most twenty records per hour and counts the suppressed ones", async () => {
  await using watched = await openTelemetryFixture();
  const anomalies = await open(watched);
  const use = (number: number): CallFacts => ({ seq: number, tool: `crm.drop${number}`, effect: "destroy" });
  await write(watched, ...Array.from({ length: 19 }, (_, number) => use(number)));
  assert.equal(anomalies.seen, 19);
  await write(watched, use(19), use(20), use(21));
  assert.equal(anomalies.seen, 20);
  watched.clock.now += 60 * MINUTE_MS;
  await write(watched, use(22));
  await anomalies[Symbol.asyncDispose]();
  assert.deepEqual((await readSeen(watched)).at(-1), [
    "gateway",
    "ann",
    { kind: "firstUse", tool: "crm.drop22", suppressed: 2 },
  ]);
});
