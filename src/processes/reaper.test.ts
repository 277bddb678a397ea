/** The reaper with real processes: a gateway that is killed with SIGKILL, and one that ends normally. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, test } from "node:test";

import { openReaper } from "./index.ts";

const GATEWAY = fileURLToPath(new URL("fixtures/doomed-gateway.mjs", import.meta.url));

const started: number[] = [];

interface Families {
  readonly kept: readonly number[];
  readonly released: readonly number[];
}

/** A zombie has ended; it stays listed if no process collects orphans. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function untilGone(pids: readonly number[]): Promise<readonly number[]> {
  const deadline = performance.now() + 60_000;
  while (pids.some(isAlive) && performance.now() < deadline) await wait(10);
  return pids.filter(isAlive);
}

async function killGateway(kept: number, released: number, signal: NodeJS.Signals): Promise<Families> {
  const gateway = spawn(process.execPath, [GATEWAY, String(kept), String(released)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line]: unknown[] = await once(gateway.stdout, "data");
  const families: Families = JSON.parse(String(line));
  started.push(...families.kept, ...families.released);
  assert.deepEqual(
    [...families.kept, ...families.released].filter((pid) => !isAlive(pid)),
    [],
  );
  gateway.kill(signal);
  await once(gateway, "exit");
  return families;
}

/** Ends whatever a test started, also if the reaper failed to do so. */
afterEach(() => {
  for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, "SIGKILL");
});

test("a gateway killed with SIGKILL takes its kept children and their children along", async () => {
  const { kept, released } = await killGateway(2, 1, "SIGKILL");
  assert.deepEqual(await untilGone(kept), []);
  assert.deepEqual(released.filter(isAlive), released);
});

test("the reaper ends all of many kept children", async () => {
  const { kept, released } = await killGateway(40, 20, "SIGKILL");
  assert.equal(kept.length, 80);
  assert.deepEqual(await untilGone(kept), []);
  assert.deepEqual(released.filter(isAlive), released);
});

test("disposing the reaper ends kept children and leaves released ones alone", async () => {
  const reaper = openReaper();
  assert.equal(reaper.supported, true);
  const [first, second] = [startSleeper(), startSleeper()];
  reaper.keep(first);
  reaper.keep(first);
  reaper.keep(second);
  reaper.release(second);
  reaper.release(second);
  await reaper[Symbol.asyncDispose]();
  assert.deepEqual(await untilGone([first]), []);
  assert.equal(isAlive(second), true);
});

test("a reaper whose shell was killed starts another with the same list", async () => {
  let time = 0;
  const reaper = openReaper({ now: () => time });
  const sleeper = startSleeper();
  reaper.keep(sleeper);
  const [shell] = findShells();
  assert.ok(shell);
  time = 1000;
  process.kill(shell, "SIGKILL");
  await untilGone([shell]);
  while (findShells().every((found) => found === shell)) await wait(10);
  assert.equal(reaper.supported, true);
  await reaper[Symbol.asyncDispose]();
  assert.deepEqual(await untilGone([sleeper]), []);
});

test("a reaper whose shell dies at once gives up and reports it as unsupported", async () => {
  const reaper = openReaper({ now: () => 0 });
  const [shell] = findShells();
  assert.ok(shell);
  process.kill(shell, "SIGKILL");
  await untilGone([shell]);
  while (reaper.supported) await wait(10);
  reaper.keep(99_999);
  await reaper[Symbol.asyncDispose]();
});

test("an open reaper does not keep its process alive", async () => {
  const code = `import { openReaper } from ${JSON.stringify(new URL("index.ts", import.meta.url).href)}; openReaper();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code]);
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("the reaper refuses numbers that mean more than one process", async () => {
  const reaper = openReaper();
  for (const pid of [1, 0, -1, -5, 1.5, Number.NaN]) assert.throws(() => reaper.keep(pid), TypeError);
  await reaper[Symbol.asyncDispose]();
});

test("on a platform without a shell the reaper is unsupported and does nothing", async () => {
  const reaper = openReaper({ platform: "win32" });
  assert.equal(reaper.supported, false);
  reaper.keep(99_999);
  reaper.release(99_999);
  await reaper[Symbol.asyncDispose]();
});

function startSleeper(): number {
  const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
  child.unref();
  assert.ok(child.pid);
  started.push(child.pid);
  return child.pid;
}

/** The direct children of this test that are shells. */
function findShells(): readonly number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ").map(Number);
  return children.filter((pid) =>
    readFileSync(`/proc/${pid}/comm`, "utf8")
      .trim()
      .match(/^(sh|dash|bash)$/),
  );
}
