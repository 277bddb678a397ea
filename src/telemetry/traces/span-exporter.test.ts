/** Spans reach a real collector in batches; a slow or unavailable one costs only spans. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { openEgress } from "../../egress/index.ts";
import { startReceiver } from "../fixtures/receiver.ts";
import type { Receiver } from "../fixtures/receiver.ts";
import { MAX_QUEUED, createSpanExporter } from "./span-exporter.ts";
import type { SpanExporter } from "./span-exporter.ts";

interface Setting {
  readonly warnings?: unknown[];
  readonly keys?: string[];
}

function open(receiver: Receiver, { warnings = [], keys = [] }: Setting = {}): SpanExporter {
  return createSpanExporter({
    url: `${receiver.url}/v1/traces`,
    send: openEgress().fetchFrom(receiver.url, { maxBytes: 1_000, mayBePrivate: true }),
    resolveHeaders: async () => ({ "x-key": keys.shift() ?? "last" }),
    wrap: (spans) => ({ spans: [...spans] }),
    warn: (thrown) => warnings.push(thrown),
    delayMs: 5,
  });
}

const addMany = (exporter: SpanExporter, count: number): void => {
  for (let number = 0; number < count; number += 1) exporter.add({ number });
};

/** Returns the span numbers of each request. */
const batchesOf = ({ received }: Receiver): readonly (readonly number[])[] =>
  received.map(({ body }) => (JSON.parse(body) as { spans: { number: number }[] }).spans.map(({ number }) => number));

test("createSpanExporter sends spans in order in batches of at most 512", async () => {
  await using receiver = await startReceiver();
  const exporter = open(receiver);
  addMany(exporter, 513);
  await exporter[Symbol.asyncDispose]();
  assert.deepEqual(
    batchesOf(receiver).map((batch) => [batch.length, batch[0]]),
    [
      [512, 0],
      [1, 512],
    ],
  );
  assert.deepEqual([exporter.exported, exporter.dropped], [513, 0]);
});

test("createSpanExporter drops spans above the maximum queue length", async () => {
  await using receiver = await startReceiver();
  const exporter = open(receiver);
  addMany(exporter, MAX_QUEUED - 1);
  exporter.add({});
  assert.equal(exporter.dropped, 0);
  exporter.add({});
  assert.equal(exporter.dropped, 1);
  await exporter[Symbol.asyncDispose]();
  assert.equal(exporter.exported, MAX_QUEUED);
});

test("createSpanExporter retries a batch with new headers and drops it after three failures", async () => {
  await using receiver = await startReceiver();
  const warnings: unknown[] = [];
  const exporter = open(receiver, { warnings, keys: ["a", "b", "c", "d"] });
  receiver.status = 503;
  exporter.add({ number: 1 });
  await receiver.until(3);
  while (exporter.dropped === 0) await sleep(5);
  receiver.status = 200;
  exporter.add({ number: 2 });
  await receiver.until(4);
  while (exporter.exported === 0) await sleep(5);
  await exporter[Symbol.asyncDispose]();
  assert.deepEqual(batchesOf(receiver), [[1], [1], [1], [2]]);
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers["x-key"]),
    ["a", "b", "c", "d"],
  );
  assert.deepEqual([exporter.exported, exporter.dropped, warnings.length], [1, 1, 1]);
});

test(
  "createSpanExporter blocks neither spans nor closing when the collector never answers",
  { timeout: 20_000 },
  async () => {
    await using receiver = await startReceiver();
    receiver.status = undefined;
    const exporter = open(receiver);
    exporter.add({ number: 1 });
    await receiver.until(1);
    addMany(exporter, 10);
    await exporter[Symbol.asyncDispose]();
    assert.deepEqual([exporter.exported, exporter.dropped], [0, 11]);
  },
);
