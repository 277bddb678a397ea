/** A child is on the keeper's list before a kill of the gateway could leave it behind. */

import assert from "node:assert/strict";
import { readFileSync, readlinkSync } from "node:fs";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { ChildKeeper } from "../domain/index.ts";
import { openReaper } from "../processes/index.ts";

import type { ConfinedEngine } from "./engine.ts";
import { ROLL_DESCRIPTOR } from "./engine.ts";
import { startChild } from "./start-child.ts";
import type { SandboxChild } from "./start-child.ts";

const ENGINE: ConfinedEngine = {
  name: "isolate",
  isolation: "process",
  layers: [],
  readiness: undefined,
  contained: undefined,
  command: () => ({ file: "/bin/sleep", args: ["1000"] }),
};

const LISTENER = { frame: () => assert.fail("it says nothing"), gone: () => undefined };

function start(keeper: ChildKeeper): SandboxChild {
  return startChild({ engine: ENGINE, keeper, usualMemoryBytes: 1, maxFrameBytes: 1 }, LISTENER);
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

function isAsleep({ pid }: SandboxChild): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("/bin/sleep");
}

const skip = process.platform !== "linux";

it("ends a child with the gateway even if `keep` was not called", { skip }, async () => {
  const reaper = openReaper();
  const keeper: ChildKeeper = { keep: () => undefined, release: () => undefined, roll: reaper.roll };
  const child = start(keeper);
  await until(() => isAsleep(child));
  assert.equal(child.isGone, false);
  await reaper[Symbol.asyncDispose]();
  await until(() => child.isGone);
});

it("leaves a child that was never on the list (positive control)", { skip }, async () => {
  const reaper = openReaper();
  const child = start({ keep: () => undefined, release: () => undefined });
  await until(() => isAsleep(child));
  await reaper[Symbol.asyncDispose]();
  assert.equal(isAsleep(child), true);
  child.kill();
  await until(() => child.isGone);
});

it("closes the list's descriptor in a running child and lists it once", { skip }, async () => {
  const reaper = openReaper();
  const child = start(reaper);
  await until(() => isAsleep(child));
  assert.throws(() => readlinkSync(`/proc/${child.pid}/fd/${ROLL_DESCRIPTOR}`), { code: "ENOENT" });
  // It has said its number itself, and was kept: released once, it is on the list no more.
  reaper.release(child.pid);
  await reaper[Symbol.asyncDispose]();
  assert.equal(isAsleep(child), true);
  child.kill();
  await until(() => child.isGone);
});
