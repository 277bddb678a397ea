/** When an execution is suspended: after the grace time, never while it has other work, and at once at shutdown. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { createSuspensionDetector } from "./detect-suspension.ts";
import type { SuspensionOptions } from "./detect-suspension.ts";

/** Than the grace time and the pause after a reply. */
const LONGER_MS = 400;

function open(changes: Partial<SuspensionOptions> = {}) {
  const [leaving, ended] = [new AbortController(), new AbortController()];
  const signals = { leaving: leaving.signal, ended: ended.signal };
  const suspension = createSuspensionDetector({
    graceMs: 10,
    limits: { wallMs: 60_000 },
    canSuspend: () => true,
    ...signals,
    ...changes,
  });
  const held = Promise.withResolvers<void>();
  const other = Promise.withResolvers<void>();
  let calls = 0;
  const still: boolean[] = [];
  suspension.watchStill((isStill) => still.push(isStill));
  const waits = {
    asks: () => suspension.whileWaiting(() => held.promise),
    stays: () => suspension.whileStaying(() => held.promise),
    other: () => other.promise,
  };
  const call = (kind: keyof typeof waits): void => {
    suspension.onCalls((calls += 1));
    const work = waits[kind]();
    void work.finally(() => suspension.onCalls((calls -= 1)));
  };
  const fired = new Promise<"away">((resolve) => suspension.signal.addEventListener("abort", () => resolve("away")));
  return {
    suspension,
    leaving,
    ended,
    call,
    fired,
    still,
    release: () => other.resolve(),
    answer: () => held.resolve(),
  };
}

describe("the suspension detector", () => {
  it("suspends an execution that waits for approval after the grace time", async () => {
    const { call, fired, suspension } = open();
    call("asks");
    assert.equal(suspension.signal.aborted, false);
    assert.equal(await fired, "away");
  });
  it("suspends within the wall time that the program has left", async () => {
    const { call, fired } = open({ graceMs: 60_000, limits: { wallMs: 20 } });
    call("asks");
    assert.equal(await fired, "away");
  });
  it("waits for another open call before it suspends", async () => {
    const { call, fired, suspension, release } = open();
    call("asks");
    call("other");
    await sleep(LONGER_MS);
    assert.equal(suspension.signal.aborted, false);
    release();
    assert.equal(await fired, "away");
  });
  it("waits for an open timer before it suspends", async () => {
    const { call, fired, suspension } = open();
    suspension.onTimers(1);
    call("asks");
    await sleep(LONGER_MS);
    assert.equal(suspension.signal.aborted, false);
    suspension.onTimers(0);
    assert.equal(await fired, "away");
  });
  it("never suspends an execution that could not be resumed or has ended", async () => {
    const broken = open({ canSuspend: () => false });
    const over = open();
    for (const one of [broken, over]) one.call("asks");
    over.ended.abort();
    await sleep(LONGER_MS);
    assert.deepEqual([broken.suspension.signal.aborted, over.suspension.signal.aborted], [false, false]);
  });
  it("suspends at once when the gateway closes, unless another call is open", () => {
    const [waits, busy] = [open({ graceMs: 60_000 }), open({ graceMs: 60_000 })];
    for (const one of [waits, busy]) one.call("asks");
    busy.call("other");
    for (const one of [waits, busy]) one.leaving.abort();
    assert.deepEqual([waits.suspension.signal.aborted, busy.suspension.signal.aborted], [true, false]);
    for (const one of [waits, busy]) one.ended.abort();
  });
  it("suspends before the grace time when it is asked to, unless another call or a timer is open", () => {
    const late = { graceMs: 60_000 };
    const [waits, busy, timed] = [open(late), open(late), open(late)];
    const broken = open({ ...late, canSuspend: () => false });
    for (const one of [waits, busy, timed, broken]) one.call("asks");
    busy.call("other");
    timed.suspension.onTimers(1);
    assert.deepEqual(
      [waits, busy, timed, broken].map(({ suspension }) => [suspension.suspend(), suspension.signal.aborted]),
      [
        [true, true],
        [false, false],
        [false, false],
        [false, false],
      ],
    );
    assert.equal(waits.suspension.suspend(), false);
    for (const one of [waits, busy, timed, broken]) one.ended.abort();
  });
  it("does not suspend a program later because it could not be suspended when asked", async () => {
    const { call, suspension, ended } = open({ graceMs: 60_000 });
    suspension.onTimers(1);
    call("asks");
    assert.deepEqual([suspension.suspend(), suspension.waiting()], [false, 1]);
    suspension.onTimers(0);
    await sleep(LONGER_MS);
    assert.equal(suspension.signal.aborted, false);
    ended.abort();
  });
});

describe("the time of a program that waits in memory for a person", () => {
  it("stands still while all its calls wait for people, and is never suspended", async () => {
    const { call, still, suspension, answer } = open();
    call("asks");
    call("stays");
    assert.deepEqual([still, suspension.waiting(), suspension.suspend()], [[true], 2, false]);
    answer();
    await sleep(1);
    assert.deepEqual([still.at(-1), suspension.waiting()], [false, 0]);
  });
  it("passes while another call or a timer is open, and when the program has ended", async () => {
    const { call, still, suspension, release, ended } = open();
    call("other");
    call("stays");
    assert.deepEqual(still, []);
    release();
    await sleep(1);
    assert.deepEqual(still, [true]);
    suspension.onTimers(1);
    suspension.onTimers(0);
    assert.deepEqual(still, [true, false, true]);
    ended.abort();
    assert.deepEqual(still, [true, false, true, false]);
  });
  it("does not stand still for a call that can be suspended", () => {
    const { call, still, ended } = open({ graceMs: 60_000 });
    call("asks");
    assert.deepEqual(still, []);
    ended.abort();
  });
  it("stands still for a limited time in all", async () => {
    const { call, still, suspension, ended } = open({ mostStillMs: 5 });
    call("stays");
    for (; still.length < 2; await sleep(1));
    suspension.onTimers(1);
    suspension.onTimers(0);
    assert.deepEqual(still, [true, false]);
    ended.abort();
  });
});
