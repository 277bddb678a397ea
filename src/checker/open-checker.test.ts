/** The checker's process: started late, asked once, bounded in time and memory, and never in the way of a program. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { parseDigest } from "../domain/index.ts";
import type { ApiSurface } from "../domain/index.ts";
import { measureFamily } from "../processes/index.ts";
import { openChecker } from "./open-checker.ts";
import type { CheckResult, Checker, CheckerOptions } from "./open-checker.ts";

const ODD = fileURLToPath(new URL("./fixtures/odd-child.ts", import.meta.url));
const MIB = 1024 * 1024;
const opened: Checker[] = [];
after(() => Promise.all(opened.map((checker) => checker[Symbol.asyncDispose]())));

interface Opened {
  readonly checker: Checker;
  readonly kept: Set<number>;
  readonly check: (text: string, api?: string) => Promise<CheckResult>;
}

function open(options: Partial<CheckerOptions> = {}): Opened {
  const kept = new Set<number>();
  const checker = openChecker({
    node: process.execPath,
    keeper: { keep: (pid) => kept.add(pid), release: (pid) => kept.delete(pid) },
    now: Date.now,
    measure: measureFamily,
    script: ODD,
    ...options,
    limits: { backoffMs: 0, prepareMs: 60_000, checkMs: 30_000, ...options.limits },
  });
  opened.push(checker);
  return { checker, kept, check: (text, api = "1") => checker.check({ text, surface: surfaceOf(api) }) };
}

function surfaceOf(mark: string): ApiSurface {
  const snapshot = parseDigest(`sha256:${mark.repeat(64)}`);
  assert.ok(snapshot);
  return { snapshot, declarations: "declare const a: { b(): Promise<any> };", namespaces: [] };
}

/** What the odd child tells of itself. */
function told(checked: CheckResult): unknown {
  assert.equal(checked.kind, "checked");
  return JSON.parse((checked.kind === "checked" && checked.mistakes[0]?.detail) || "null");
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("the checker's process", () => {
  it("starts the process at the first check and registers it with the reaper", async () => {
    const { checker, kept, check } = open();
    assert.deepEqual([checker.stats().pid, kept.size], [0, 0]);
    assert.deepEqual(told(await check("hello")), { environment: {}, cwd: "/", given: 1 });
    assert.deepEqual([...kept], [checker.stats().pid]);
  });
  it("sends the declarations once per snapshot", async () => {
    const { check } = open();
    for (const [text, api, given] of [
      ["a", "1", 1],
      ["b", "1", 1],
      ["c", "2", 2],
      ["d", "1", 2],
    ] as const) {
      assert.deepEqual(told(await check(text, api)), { environment: {}, cwd: "/", given });
    }
  });
  it("sends the declarations again if the process does not know them", async () => {
    const { check } = open();
    await check("a");
    assert.deepEqual(told(await check("forget")), { environment: {}, cwd: "/", given: 2 });
  });
  it("asks the process once for the same program and tools", async () => {
    const { checker, check } = open();
    const both = await Promise.all([check("same"), check("same")]);
    assert.equal(both[0], both[1]);
    assert.equal(await check("same"), both[0]);
    assert.equal(checker.stats().asked, 1);
    await check("same", "2");
    assert.equal(checker.stats().asked, 2);
  });
  it("forgets the oldest results", async () => {
    const { checker, check } = open();
    for (let text = 0; text < 257; text += 1) await check(String(text));
    await check("1");
    assert.equal(checker.stats().asked, 257);
    await check("0");
    assert.equal(checker.stats().asked, 258);
  });
  it("the checker's process does not keep the gateway alive while idle, but does until close has ended the process", async () => {
    const front = JSON.stringify(new URL("./index.ts", import.meta.url).href);
    const surface = JSON.stringify(surfaceOf("1"));
    const script = `import { openChecker } from ${front};
      const keeper = { keep() {}, release() {} };
      const options = { node: process.execPath, keeper, now: Date.now, measure: () => 0, script: ${JSON.stringify(ODD)} };
      await using closed = openChecker(options);
      await openChecker(options).check({ text: "a", surface: ${surface} });
      await closed.check({ text: "a", surface: ${surface} });
      process.on("exit", () => console.log("alone"));`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    assert.deepEqual({ stdout, stderr }, { stdout: "alone\n", stderr: "" });
  });
  it("ends the process on dispose", async () => {
    const { checker, kept, check } = open();
    await check("a");
    const { pid } = checker.stats();
    await checker[Symbol.asyncDispose]();
    assert.deepEqual([isAlive(pid), checker.stats().pid, kept.size], [false, 0, 0]);
    assert.equal((await check("b")).kind, "unchecked");
  });
});

describe("a checker whose process fails", () => {
  const reasons = {
    hang: "The types were not checked: the check took too long",
    silent: "The types were not checked: the check took too long",
    die: "The types were not checked: the checker ended and will be started again",
    babble: "The types were not checked: the checker ended and will be started again",
    fail: "The types were not checked: the checker ended and will be started again",
  };
  for (const [text, reason] of Object.entries(reasons)) {
    it(`replaces the process after a program that makes it ${text}, and does not check that program again`, async () => {
      const { checker, kept, check } = open({ limits: { checkMs: 1_000 } });
      await check("a");
      const { pid } = checker.stats();
      assert.deepEqual(await check(text), { kind: "unchecked", reason });
      assert.equal(isAlive(pid), false);
      assert.equal((await check("b")).kind, "checked");
      assert.notEqual(checker.stats().pid, pid);
      assert.deepEqual([...kept], [checker.stats().pid]);
      const { asked } = checker.stats();
      assert.deepEqual(await check(text), { kind: "unchecked", reason });
      assert.equal(checker.stats().asked, asked);
    });
  }
  it("restarts a process that was killed between two checks", async () => {
    const { checker, check } = open();
    await check("a");
    process.kill(checker.stats().pid, "SIGKILL");
    for (let tries = 0; checker.stats().pid !== 0 && tries < 1_000; tries += 1) await wait(10);
    assert.deepEqual(told(await check("b")), { environment: {}, cwd: "/", given: 1 });
  });
  it("backs off after each failure and resets the backoff after a success", async () => {
    let now = 0;
    const { check } = open({ now: () => now, limits: { backoffMs: 100 } });
    const kindAt = async (at: number, text: string): Promise<string> => {
      now = at;
      const checked = await check(text);
      return checked.kind === "checked" ? checked.kind : (checked.reason.split(": ")[1] ?? "");
    };
    const waiting = "the checker failed a moment ago and is not started again yet";
    assert.match(await kindAt(0, "die"), /ended/);
    assert.equal(await kindAt(99, "a"), waiting);
    assert.match(await kindAt(100, "fail"), /ended/);
    assert.equal(await kindAt(299, "a"), waiting);
    assert.equal(await kindAt(300, "a"), "checked");
    assert.match(await kindAt(300, "babble"), /ended/);
    assert.equal(await kindAt(399, "b"), waiting);
    assert.equal(await kindAt(400, "b"), "checked");
  });
});

describe("the memory limit of the checker", () => {
  it("replaces a process above the memory limit", async () => {
    const { checker, check } = open({ limits: { memoryBytes: 300 * MIB } });
    await check("a");
    const { pid } = checker.stats();
    await check("grow");
    assert.equal(isAlive(pid), false);
    assert.equal((await check("b")).kind, "checked");
    assert.notEqual(checker.stats().pid, pid);
  });
  it("keeps a process below the memory limit", async () => {
    const { checker, check } = open({ limits: { memoryBytes: 2_000 * MIB } });
    await check("a");
    const { pid } = checker.stats();
    await check("grow");
    await check("b");
    assert.equal(checker.stats().pid, pid);
  });
});
