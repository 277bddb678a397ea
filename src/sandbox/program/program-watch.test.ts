/** The limits of a program that two children have, one after the other or at once. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { DEFAULT_LIMITS } from "../../domain/index.ts";
import type { Limits } from "../../domain/index.ts";
import { playChild } from "../fixtures/play-child.ts";
import { NOTHING_MEASURED, measureProcess } from "../measure.ts";
import type { LeasedChild } from "../child-lease.ts";
import { openWatchdog } from "../watchdog.ts";
import { ProgramWatch, createTimers } from "./program-watch.ts";

const skip = !existsSync("/proc/self");
const MINUTE_MS = 60_000;
const GIGABYTE = 2 ** 30;

function open(limits: Partial<Limits>) {
  const overruns: string[] = [];
  const watch = new ProgramWatch({
    limits: { ...DEFAULT_LIMITS, ...limits },
    watchdog: openWatchdog(), // a child without a process group starts no thread
    overrun: ({ message }) => void overruns.push(message),
    onLook: () => undefined,
  });
  return { watch, overruns };
}

/** This process as a child that has used so much since its program began. */
function childThatUsed(cpuMs: number, residentBytes = 0): LeasedChild {
  const now = measureProcess(process.pid) ?? NOTHING_MEASURED;
  const baseline = { cpuMs: now.cpuMs - cpuMs, residentBytes: now.residentBytes - residentBytes };
  return { child: { ...playChild().child, pid: process.pid }, engine: "isolate", baseline };
}

/** Long enough for several looks. */
const looks = (): Promise<void> => sleep(200);

it("processor time of two children counts together", { skip }, async (t) => {
  const { watch, overruns } = open({ cpuMs: 2 * MINUTE_MS });
  t.after(() => watch.stop());
  watch.attach(childThatUsed(1.5 * MINUTE_MS));
  await looks();
  assert.deepEqual(overruns, []);
  watch.attach(childThatUsed(1.5 * MINUTE_MS));
  await looks();
  assert.match(overruns[0] ?? "", /its limit is 120000 ms \(cpuMs\)/);
});

it(
  "processor time of a child that had the program before counts, unless its work was repeated",
  { skip },
  async (t) => {
    for (const isRepeated of [true, false]) {
      const { watch, overruns } = open({ cpuMs: 2 * MINUTE_MS });
      t.after(() => watch.stop());
      const first = childThatUsed(1.5 * MINUTE_MS);
      watch.attach(first);
      await looks();
      watch.detach(first.child, { isRepeated });
      watch.attach(childThatUsed(1.5 * MINUTE_MS));
      await looks();
      assert.equal(overruns.length > 0, !isRepeated);
      assert.ok(watch.cpuMs >= 3 * MINUTE_MS, "all of it is reported");
    }
  },
);

it("memory of two children does not count together", { skip }, async (t) => {
  const { watch, overruns } = open({ memoryBytes: 2 * GIGABYTE });
  t.after(() => watch.stop());
  watch.attach(childThatUsed(0, 1.5 * GIGABYTE));
  watch.attach(childThatUsed(0, 1.5 * GIGABYTE));
  await looks();
  assert.deepEqual([overruns, watch.peakBytes < 2 * GIGABYTE], [[], true]);
  watch.attach(childThatUsed(0, 2.5 * GIGABYTE));
  await looks();
  assert.match(overruns[0] ?? "", /memoryBytes/);
});

function compute(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

it("timers fire in the order of their times, also after a stall", async () => {
  const fired: number[] = [];
  const others = setTimeout(() => undefined, 100);
  compute(60);
  await new Promise(setImmediate);
  const timers = createTimers(DEFAULT_LIMITS, (id) => void fired.push(id), undefined);
  // Node fires the last one first: it has the length of another timer, which is due before all of them.
  for (const [id, ms] of [150, 50, 100].entries()) timers.start(id, ms, 0);
  compute(160);
  while (timers.open() > 0) await sleep(1);
  clearTimeout(others);
  assert.deepEqual(fired, [1, 2, 0]);
});

it("a timer that is not due does not fire with an earlier one, and none fires after the stop", async () => {
  const fired: number[] = [];
  const timers = createTimers(
    DEFAULT_LIMITS,
    (id) => {
      fired.push(id);
      if (id === 1) timers.stop();
    },
    undefined,
  );
  for (const [id, ms] of [20_000, 10, 10].entries()) timers.start(id, ms, 0);
  compute(30);
  while (fired.length === 0) await sleep(1);
  await sleep(5);
  assert.deepEqual(fired, [1]);
});
