/** The conformance suite of `Store["journals"]`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JournalPiece } from "./executions.ts";
import { sampleOpening } from "./fixtures/sample-opening.ts";
import type { OpenStore } from "./store.conformance.ts";

function piece(n: number, number: number, bytes = 2): JournalPiece {
  return { execution: sampleOpening(n).id, piece: number, sealed: new Uint8Array(bytes).fill(number + 1) };
}

const ENDED = { state: "completed", result: "{}" } as const;
const PAUSED = { endedAt: 5, state: "paused", result: "{}" } as const;

export function describeJournals(open: OpenStore): void {
  test("read returns pieces in order, and append rejects an existing piece", async () => {
    await using store = await open();
    const { journals } = store;
    assert.deepEqual(await journals.read(sampleOpening(1).id), []);
    await journals.append(() => [piece(1, 0), piece(2, 0)], true);
    await journals.append(() => [piece(1, 1)], false);
    assert.deepEqual(await journals.read(sampleOpening(1).id), [piece(1, 0), piece(1, 1)]);
    const again = journals.append(() => [piece(1, 1)], true);
    await assert.rejects(again, { code: "REQUEST_CONFLICT" });
    assert.deepEqual(await journals.read(sampleOpening(1).id), [piece(1, 0), piece(1, 1)]);
  });

  test("drop removes old journals of ended executions, and the oldest above the total size", async () => {
    await using store = await open();
    const { executions, journals } = store;
    for (const n of [1, 2, 3, 4, 5]) {
      await executions.open(sampleOpening(n));
      await journals.append(() => [piece(n, 0, 10)], true);
    }
    for (const n of [1, 2, 3]) await executions.close(sampleOpening(n).id, { ...ENDED, endedAt: n * 10 });
    await executions.close(sampleOpening(4).id, PAUSED);
    const left = async (): Promise<readonly number[]> => {
      const all = await Promise.all([1, 2, 3, 4, 5].map(async (n) => [n, await journals.read(sampleOpening(n).id)]));
      return all.flatMap(([n, pieces]) => (Array.isArray(pieces) && pieces.length > 0 ? [Number(n)] : []));
    };
    assert.equal(await journals.drop({ endedBefore: 10, totalBytes: 30 }), 0);
    assert.equal(await journals.drop({ endedBefore: 11, totalBytes: 30 }), 1);
    assert.deepEqual(await left(), [2, 3, 4, 5]);
    assert.equal(await journals.drop({ endedBefore: 0, totalBytes: 20 }), 0);
    assert.equal(await journals.drop({ endedBefore: 0, totalBytes: 19 }), 1);
    assert.deepEqual(await left(), [3, 4, 5]);
    assert.equal(await journals.drop({ endedBefore: 1_000, totalBytes: 0 }), 1);
    assert.deepEqual(await left(), [4, 5], "one is paused, one runs");
  });

  test("append rejects a second process that writes the same journal", async () => {
    await using store = await open();
    const { executions } = store;
    const { id } = sampleOpening(1);
    await executions.open({ ...sampleOpening(1), owner: "first" });
    assert.equal(await executions.claim(id, { was: "open", from: "other", by: "second" }), false, "it runs elsewhere");
    assert.equal(await executions.claim(id, { was: "open", from: "first", by: "second" }), true);
    assert.equal(
      await executions.claim(id, { was: "open", from: "first", by: "third" }),
      false,
      "the second was faster",
    );
    await executions.close(id, PAUSED);
    assert.deepEqual(
      (await executions.listPaused()).map((execution) => execution.id),
      [id],
    );
    assert.deepEqual(await executions.listUnfinished(), []);
    assert.equal(await executions.claim(id, { was: "paused", from: "second", by: "third" }), true);
    assert.equal(await executions.claim(id, { was: "paused", from: "second", by: "fourth" }), false);
    const stored = await executions.find(id);
    assert.deepEqual([stored?.owner, stored?.ending], ["third", null]);
    await executions.close(id, { ...ENDED, endedAt: 9 });
    assert.equal(await executions.claim(id, { was: "open", from: "third", by: "fourth" }), false, "an end is final");
  });
}
