/** When an execution is put away: not before its time, not while anything else goes on, and at once when all ends. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { GuestHost } from "../../sandbox/index.ts";
import { watchForPause } from "./detect-pause.ts";
import type { PutAwayOptions } from "./detect-pause.ts";

function open(changes: Partial<PutAwayOptions> = {}) {
  const [leaving, ended] = [new AbortController(), new AbortController()];
  const signals = { leaving: leaving.signal, ended: ended.signal };
  const putAway = watchForPause({
    graceMs: 10,
    limits: { wallMs: 60_000 },
    canPause: () => true,
    ...signals,
    ...changes,
  });
  const held = Promise.withResolvers<{ readonly ok: true; readonly json: string }>();
  const host: GuestHost = {
    call: (address) => (address === "asks" ? putAway.whileAsking(() => held.promise) : other.promise),
  };
  const other = Promise.withResolvers<{ readonly ok: true; readonly json: string }>();
  const watched = putAway.watch(host);
  const call = (address: string): void => void watched.call(address, "{}", 1);
  const fired = new Promise<"away">((resolve) => putAway.signal.addEventListener("abort", () => resolve("away")));
  return { putAway, leaving, ended, call, fired, release: () => other.resolve({ ok: true, json: "1" }) };
}

describe("an execution that waits for a person", () => {
  it("is put away after the grace", async () => {
    const { call, fired, putAway } = open();
    call("asks");
    assert.equal(putAway.signal.aborted, false);
    assert.equal(await fired, "away");
  });
  it("is put away within the time that its program has left", async () => {
    const { call, fired } = open({ graceMs: 60_000, limits: { wallMs: 20 } });
    call("asks");
    assert.equal(await fired, "away");
  });
  it("goes on while another call is under way, and is put away when that has ended", async () => {
    const { call, fired, putAway, release } = open();
    call("asks");
    call("other");
    await sleep(150);
    assert.equal(putAway.signal.aborted, false);
    release();
    assert.equal(await fired, "away");
  });
  it("goes on while a timer of its program is open, and is put away when that has fired", async () => {
    const { call, fired, putAway } = open();
    putAway.onTimers(1);
    call("asks");
    await sleep(150);
    assert.equal(putAway.signal.aborted, false);
    putAway.onTimers(0);
    assert.equal(await fired, "away");
  });
  it("is not put away when it could not be brought back, or has ended", async () => {
    const broken = open({ canPause: () => false });
    const over = open();
    for (const one of [broken, over]) one.call("asks");
    over.ended.abort();
    await sleep(150);
    assert.deepEqual([broken.putAway.signal.aborted, over.putAway.signal.aborted], [false, false]);
  });
  it("is put away at once when the gateway ends, unless something else is under way", () => {
    const [waits, busy] = [open({ graceMs: 60_000 }), open({ graceMs: 60_000 })];
    for (const one of [waits, busy]) one.call("asks");
    busy.call("other");
    for (const one of [waits, busy]) one.leaving.abort();
    assert.deepEqual([waits.putAway.signal.aborted, busy.putAway.signal.aborted], [true, false]);
    for (const one of [waits, busy]) one.ended.abort();
  });
});
