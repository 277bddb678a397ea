/** Limits hold while the gateway's thread is blocked. Tests block their own thread until the child is dead. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { codeOf } from "./fixtures/play-child.ts";
import { openTestSandbox } from "./fixtures/test-sandbox.ts";
import type { GuestHost } from "./sandbox.ts";
import { openWatchdog } from "./watchdog.ts";
import type { WatchTarget } from "./watchdog.ts";

/** A safety net: a minute of looks. */
const MOST_LOOKS = 12_000;
const LOOK_MS = 5;
/** The thread stops looking before: it then has to be told of the next watch. */
const IDLE_MS = 2_000;
const isLinux = process.platform === "linux";

/** Blocks this thread; nothing else in this process can run meanwhile, except other threads. */
function blockUntilDead(pid: number): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    if (!isAlive(pid)) return;
    Atomics.wait(cell, 0, 0, LOOK_MS);
  }
  assert.fail(`Process ${pid} is still alive`);
}

/** A dead process is a zombie until this thread sees its end. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(-pid, "SIGKILL");
});

function startProcess(code: string): number {
  const { pid = 0 } = spawn(process.execPath, ["-e", code], { stdio: "ignore", detached: true });
  started.push(pid);
  return pid;
}

const IDLE = "setInterval(() => undefined, 1_000)";
const ENOUGH = { wallMs: 3_600_000, cpuMs: 3_600_000, residentBytes: 2 ** 40 };

describe("the watchdog", { skip: !isLinux && "reads /proc" }, () => {
  const exceedWith = (code: string, limits: Partial<WatchTarget>): string | undefined => {
    const watchdog = openWatchdog();
    const pid = startProcess(code);
    const watch = watchdog.watch({ group: pid, pid, ...ENOUGH, ...limits });
    blockUntilDead(pid);
    const limit = watch.exceeded();
    watch.stop();
    return limit;
  };

  it("kills a process at its time limit while this thread is blocked", () => {
    assert.equal(exceedWith(IDLE, { wallMs: 1 }), "wall");
  });
  it("kills a process at its limit of processor time while this thread is blocked", () => {
    assert.equal(exceedWith("for (;;);", { cpuMs: 200 }), "cpu");
  });
  it("kills a process at its memory limit while this thread is blocked", () => {
    const fill = "const kept = []; setInterval(() => kept.push(Buffer.alloc(8 * 1024 * 1024, 1)), 1)";
    assert.equal(exceedWith(fill, { residentBytes: 256 * 1024 * 1024 }), "memory");
  });
  it("leaves a process alone that is within its limits or no longer watched", () => {
    const watchdog = openWatchdog();
    const [within, stopped, late] = [startProcess(IDLE), startProcess(IDLE), startProcess(IDLE)];
    const first = watchdog.watch({ group: within, pid: within, ...ENOUGH });
    const second = watchdog.watch({ group: stopped, pid: stopped, ...ENOUGH, wallMs: 60_000 });
    second.stop();
    watchdog.watch({ group: late, pid: late, ...ENOUGH, wallMs: 1 });
    blockUntilDead(late);
    assert.deepEqual(
      [isAlive(within), isAlive(stopped), first.exceeded(), second.exceeded()],
      [true, true, undefined, undefined],
    );
    first.stop();
  });
});

describe("a watch that follows another one", { skip: !isLinux && "reads /proc" }, () => {
  it("kills its own process and no earlier one, also after a time without any watch", async () => {
    const watchdog = openWatchdog();
    const former = startProcess(IDLE);
    watchdog.watch({ group: former, pid: former, ...ENOUGH }).stop();
    await sleep(IDLE_MS);
    const next = startProcess(IDLE);
    const watch = watchdog.watch({ group: next, pid: next, ...ENOUGH, wallMs: 1 });
    blockUntilDead(next);
    assert.deepEqual([isAlive(former), watch.exceeded()], [true, "wall"]);
    watch.stop();
    assert.equal(watch.exceeded(), "wall", "it stays known");
    const last = watchdog.watch({ group: former, pid: former, ...ENOUGH });
    assert.equal(last.exceeded(), undefined);
    last.stop();
  });
});

describe("a program while the gateway's thread is blocked", { skip: !isLinux && "reads /proc" }, () => {
  /** The first call of the program blocks the gateway until the program's child is dead. */
  const endWith = async (code: string, limits: { readonly wallMs?: number; readonly cpuMs?: number }) => {
    const { sandbox, pids, end } = await openTestSandbox({ concurrency: 1 });
    const call: GuestHost["call"] = () => {
      for (const pid of pids) blockUntilDead(pid);
      return Promise.resolve({ ok: true, json: "1" });
    };
    const ending = await end(code, { limits, host: { call } });
    await sandbox.close();
    return [codeOf(ending), ending.kind === "failed" ? /\((\w+)\)$/.exec(ending.error.message)?.[1] : undefined];
  };

  it("a program is ended at wallMs while the gateway's thread is blocked", async () => {
    assert.deepEqual(await endWith("return await files.read({})", { wallMs: 500 }), ["LIMIT_TIME", "wallMs"]);
  });
  it("a program is ended at cpuMs while the gateway's thread is blocked", async () => {
    const code = "const reply = files.read({}); await null; for (;;);";
    assert.deepEqual(await endWith(code, { cpuMs: 300 }), ["LIMIT_TIME", "cpuMs"]);
  });
});
