/** Which callers wait for which flush, with a simulated disk. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { createSyncedLog } from "./synced-log.ts";
import type { SyncedLog } from "./synced-log.ts";

interface Disk {
  readonly log: SyncedLog;
  readonly flushes: PromiseWithResolvers<void>[];
}

function openDisk(): Disk {
  const flushes: PromiseWithResolvers<void>[] = [];
  const flush = (): Promise<void> => {
    const flushing = Promise.withResolvers<void>();
    flushes.push(flushing);
    return flushing.promise;
  };
  return { log: createSyncedLog(flush), flushes };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("createSyncedLog", () => {
  it("flushes once per commit without concurrency", async () => {
    const { log, flushes } = openDisk();
    const first = log.synced();
    await settle();
    flushes[0]?.resolve();
    await first;
    const second = log.synced();
    await settle();
    assert.equal(flushes.length, 2);
    flushes[1]?.resolve();
    await second;
  });

  it("shares one more flush between callers that arrive during a flush", async () => {
    const { log, flushes } = openDisk();
    const first = log.synced();
    await settle();
    const done: string[] = [];
    const late = ["a", "b", "c"].map((name) => log.synced().then(() => done.push(name)));
    flushes[0]?.resolve();
    await first;
    await settle();
    assert.deepEqual([flushes.length, done], [2, []]);
    flushes[1]?.resolve();
    await Promise.all(late);
    assert.deepEqual([flushes.length, done], [2, ["a", "b", "c"]]);
  });

  it("rejects every caller after a failed flush and does not retry", async () => {
    const { log, flushes } = openDisk();
    const first = log.synced();
    await settle();
    const late = log.synced();
    flushes[0]?.reject(new Error("EIO"));
    for (const waiting of [first, late, log.synced()]) await assert.rejects(waiting, { message: "EIO" });
    assert.equal(flushes.length, 1);
  });

  it("closes once no flush is in progress", async () => {
    const { log, flushes } = openDisk();
    const pending = log.synced();
    let isClosed = false;
    const closing = log.close().then(() => (isClosed = true));
    await settle();
    assert.equal(isClosed, false);
    flushes[0]?.resolve();
    await Promise.all([pending, closing]);
    assert.equal(isClosed, true);
  });
});
