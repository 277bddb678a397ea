/** States and pauses of a connection, with a clock that the test sets. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { GloveboxError, parseConnectorId } from "../domain/index.ts";

import { Lifecycle } from "./lifecycle.ts";

const ID = parseConnectorId("up");
assert.ok(ID);
const id = ID;
const broken = new GloveboxError("UPSTREAM_UNREACHABLE", "up: broken");
const crashed = new GloveboxError("UPSTREAM_UNREACHABLE", "up: exit 7");

/** What the test controls: the clock, whether the next attempt succeeds, and a count of attempts. */
class Bench {
  opens = 0;
  works = true;
  time = 0;
  readonly lifecycle = new Lifecycle<object>({
    id,
    now: () => this.time,
    open: () => this.#open(),
    isCrash: (error) => error === crashed,
  });

  async #open(): Promise<object> {
    this.opens += 1;
    if (!this.works) throw broken;
    return {};
  }
}

/** The length of the current pause, found by trying. */
async function findPauseMs(bench: Bench): Promise<number> {
  const { opens, time } = bench;
  for (const ms of [0, 250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000]) {
    bench.time = time + ms - 1;
    if (ms > 0) await bench.lifecycle.reach().catch(() => undefined);
    if (bench.opens > opens) return -1;
    bench.time = time + ms;
    await bench.lifecycle.reach().catch(() => undefined);
    if (bench.opens > opens) return ms;
  }
  return Number.POSITIVE_INFINITY;
}

test("the lifecycle opens a connection once and shares it", async () => {
  const { lifecycle } = new Bench();
  assert.deepEqual(lifecycle.view(), { state: "idle", since: 0, error: undefined });
  const first = lifecycle.reach();
  assert.equal(lifecycle.view().state, "connecting");
  assert.equal(await first, await lifecycle.reach());
  assert.equal(lifecycle.view().state, "ready");
});

test("pauses after failed attempts double from 250 ms to 30 s", async () => {
  const bench = new Bench();
  bench.works = false;
  await assert.rejects(bench.lifecycle.reach(), broken);
  const pauses: number[] = [];
  for (let count = 0; count < 9; count += 1) pauses.push(await findPauseMs(bench));
  assert.deepEqual(pauses, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test("during a pause reach rejects at once with the original code and the time of the next attempt", async () => {
  const bench = new Bench();
  bench.works = false;
  await assert.rejects(bench.lifecycle.reach(), broken);
  bench.time = 50;
  await assert.rejects(bench.lifecycle.reach(), {
    code: "UPSTREAM_UNREACHABLE",
    message: "up: broken; the next try is in 0.2 s",
  });
  assert.deepEqual([bench.opens, bench.lifecycle.view()], [1, { state: "failed", since: 0, error: broken }]);
});

test("the first loss of a connection has no pause, later ones do", async () => {
  const bench = new Bench();
  const pauses: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    bench.lifecycle.lose(await bench.lifecycle.reach(), broken);
    pauses.push(await findPauseMs(bench));
  }
  assert.deepEqual(pauses, [0, 250, 500]);
});

test("an answered call makes the next loss the first one again", async () => {
  const bench = new Bench();
  for (let count = 0; count < 3; count += 1) {
    const link = await bench.lifecycle.reach();
    bench.lifecycle.prove(link);
    bench.lifecycle.lose(link, broken);
  }
  assert.equal(await findPauseMs(bench), 0);
});

test("losing a connection that was replaced changes nothing", async () => {
  const { lifecycle } = new Bench();
  const old = await lifecycle.reach();
  lifecycle.lose(old, broken);
  const current = await lifecycle.reach();
  lifecycle.lose(old, broken);
  assert.equal(await lifecycle.reach(), current);
});

test("after close the lifecycle opens no connection", async () => {
  const bench = new Bench();
  await bench.lifecycle.reach();
  bench.lifecycle.close();
  bench.lifecycle.close();
  await assert.rejects(bench.lifecycle.reach(), { message: "up: the connection was closed by Glovebox" });
  assert.deepEqual([bench.opens, bench.lifecycle.view().state], [1, "closed"]);
});

test("an unexpected error of open becomes INTERNAL_BUG in the state", async () => {
  const lifecycle = new Lifecycle({ id, now: () => 0, open: () => Promise.reject(new RangeError("oops")) });
  await assert.rejects(lifecycle.reach(), RangeError);
  assert.equal(lifecycle.view().error?.code, "INTERNAL_BUG");
});

/** Crashes `count` times, `everyMs` apart, and reconnects each time. */
async function crash(bench: Bench, count: number, everyMs: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    const link = await bench.lifecycle.reach();
    bench.lifecycle.prove(link);
    bench.time += everyMs;
    bench.lifecycle.lose(link, crashed);
  }
}

test("five crashes within five minutes suspend the upstream with evidence, and it stays suspended", async () => {
  const bench = new Bench();
  await crash(bench, 4, 1000);
  assert.equal(bench.lifecycle.view().state, "failed");
  await crash(bench, 1, 1000);
  const message = "up: suspended after 5 crashes within 5 minutes (exit 7, 5 times)";
  assert.deepEqual([bench.lifecycle.view().state, bench.lifecycle.view().error?.message], ["suspended", message]);
  bench.time += 24 * 60 * 60 * 1000;
  await assert.rejects(bench.lifecycle.reach(), { code: "UPSTREAM_UNREACHABLE", message });
  assert.equal(bench.opens, 5);
});

test("crashes that are further apart, and failures that are not crashes, never suspend", async () => {
  const slow = new Bench();
  await crash(slow, 20, 75_000);
  assert.equal(slow.lifecycle.view().state, "failed");
  const quick = new Bench();
  await crash(quick, 5, 74_999);
  assert.equal(quick.lifecycle.view().state, "suspended");
  const lossy = new Bench();
  for (let count = 0; count < 20; count += 1) {
    const link = await lossy.lifecycle.reach();
    lossy.lifecycle.prove(link);
    lossy.lifecycle.lose(link, broken);
  }
  assert.equal(lossy.lifecycle.view().state, "failed");
});

test("a restart ends a suspension, forgets failures and returns the live connection", async () => {
  const bench = new Bench();
  await crash(bench, 5, 1000);
  assert.equal(bench.lifecycle.restart(), undefined);
  assert.deepEqual(bench.lifecycle.view(), { state: "idle", since: bench.time, error: undefined });
  await crash(bench, 4, 1000);
  assert.equal(bench.lifecycle.view().state, "failed");
  const link = await bench.lifecycle.reach();
  assert.equal(bench.lifecycle.restart(), link);
  bench.lifecycle.close();
  assert.equal(bench.lifecycle.restart(), undefined);
  assert.equal(bench.lifecycle.view().state, "closed");
});

test("the cause of a failure is kept during the next attempt and removed when it succeeds", async () => {
  const bench = new Bench();
  bench.works = false;
  await assert.rejects(bench.lifecycle.reach(), broken);
  bench.time += 250;
  bench.works = true;
  const attempt = bench.lifecycle.reach();
  assert.deepEqual([bench.lifecycle.view().state, bench.lifecycle.view().error], ["connecting", broken]);
  await attempt;
  assert.deepEqual([bench.lifecycle.view().state, bench.lifecycle.view().error], ["ready", undefined]);
});
