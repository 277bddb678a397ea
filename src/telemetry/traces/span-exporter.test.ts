/** Spans reach a real collector in batches, and one that is slow or down costs nothing but spans. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { openEgress } from "../../egress/index.ts";
import { startReceiver } from "../fixtures/receiver.ts";
import type { Receiver } from "../fixtures/receiver.ts";
import { MOST_QUEUED, createSpanExporter } from "./span-exporter.ts";
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
    paceMs: 5,
  });
}

const addMany = (exporter: SpanExporter, count: number): void => {
  for (let number = 0; number < count; number += 1) exporter.add({ number });
};

/** The numbers of the spans of each request. */
const batchesOf = ({ received }: Receiver): readonly (readonly number[])[] =>
  received.map(({ body }) => (JSON.parse(body) as { spans: { number: number }[] }).spans.map(({ number }) => number));

test("spans leave together, in order, in batches of at most 512", async () => {
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

test("the queue is bounded: one below its length, at it and above it", async () => {
  await using receiver = await startReceiver();
  const exporter = open(receiver);
  addMany(exporter, MOST_QUEUED - 1);
  exporter.add({});
  assert.equal(exporter.dropped, 0);
  exporter.add({});
  assert.equal(exporter.dropped, 1);
  await exporter[Symbol.asyncDispose]();
  assert.equal(exporter.exported, MOST_QUEUED);
});

test("a batch that fails is sent again with fresh headers, and dropped after the third time", async () => {
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

test("a collector that never answers holds up neither spans nor the end", { timeout: 20_000 }, async () => {
  await using receiver = await startReceiver();
  receiver.status = undefined;
  const exporter = open(receiver);
  exporter.add({ number: 1 });
  await receiver.until(1);
  addMany(exporter, 10);
  await exporter[Symbol.asyncDispose]();
  assert.deepEqual([exporter.exported, exporter.dropped], [0, 11]);
});
