/** The checker's process: started late, asked once, bounded in time and memory, and never in the way of a program. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { isJsonObject, parseDigest, parseJson } from "../domain/index.ts";
import type { ApiSurface, JsonObject } from "../domain/index.ts";
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
  /** `a` is a principal without a session; `a1` is its session `1`. */
  readonly checkFor: (who: string, text: string) => Promise<CheckResult>;
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
    limits: { backoffMs: 0, prepareMs: 60_000, checkMs: 30_000, slowMs: 30_000, ...options.limits },
  });
  opened.push(checker);
  return {
    checker,
    kept,
    check: (text, api = "1") => checker.check({ text, surface: surfaceOf(api), principal: { id: "a" } }),
    checkFor: (who, text) => {
      const [id = "", session] = who;
      const principal = { id, ...(session !== undefined && { session }) };
      return checker.check({ text, surface: surfaceOf("1"), principal });
    },
  };
}

function surfaceOf(mark: string, declarations = "declare const a: { b(): Promise<any> };"): ApiSurface {
  const snapshot = parseDigest(`sha256:${mark.repeat(64)}`);
  assert.ok(snapshot);
  return { snapshot, declarations, namespaces: [] };
}

/** What the odd child tells of itself, without its pid. */
function told(checked: CheckResult): unknown {
  const { pid: _, ...others } = detailOf(checked);
  return others;
}

/** The process that checked it. */
function pidOf(checked: CheckResult): unknown {
  return detailOf(checked)["pid"];
}

function detailOf(checked: CheckResult): JsonObject {
  const detail = checked.kind === "checked" ? parseJson(checked.mistakes[0]?.detail ?? "") : checked.reason;
  assert.ok(isJsonObject(detail), JSON.stringify(detail));
  return detail;
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
      const request = { text: "a", surface: ${surface}, principal: { id: "a" } };
      await openChecker(options).check(request);
      await closed.check(request);
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
      const { checker, kept, check, checkFor } = open({ limits: { checkMs: 1_000 } });
      await check("a");
      const { pid } = checker.stats();
      assert.deepEqual(await check(text), { kind: "unchecked", reason });
      assert.equal(isAlive(pid), false);
      assert.ok(![0, pid].includes(checker.stats().pid));
      assert.equal(pidOf(await checkFor("b", "b")), checker.stats().pid);
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
  it("backs off after each process that cannot be prepared and resets the backoff after a success", async () => {
    let now = 0;
    const { checker } = open({ now: () => now, limits: { backoffMs: 100 } });
    const kindAt = async (at: number, declarations: string): Promise<string> => {
      now = at;
      const surface = surfaceOf("1", declarations);
      const checked = await checker.check({ text: `${at} ${declarations}`, surface, principal: { id: "a" } });
      return checked.kind === "checked" ? checked.kind : (checked.reason.split(": ")[1] ?? "");
    };
    const waiting = "the checker failed a moment ago and is not started again yet";
    assert.match(await kindAt(0, "die"), /ended/);
    assert.equal(await kindAt(99, "fine"), waiting);
    assert.match(await kindAt(100, "die"), /ended/);
    assert.equal(await kindAt(299, "fine"), waiting);
    assert.equal(await kindAt(300, "fine"), "checked");
    process.kill(checker.stats().pid, "SIGKILL");
    for (let tries = 0; checker.stats().pid !== 0 && tries < 1_000; tries += 1) await wait(10);
    assert.match(await kindAt(300, "die"), /ended/);
    assert.equal(await kindAt(399, "fine"), waiting);
    assert.equal(await kindAt(400, "fine"), "checked");
  });
});

describe("sessions that share the checker", () => {
  /** A session's hanging programs never end by themselves within a test. */
  const patient = { slowMs: 50, checkMs: 600_000 };
  const isChecked = ({ kind }: CheckResult): boolean => kind === "checked";

  it("checks another session's program while a program hangs", async () => {
    const { checker, checkFor } = open({ limits: patient });
    await checkFor("a1", "a");
    const hungPid = checker.stats().pid;
    const ends: string[] = [];
    const hung = checkFor("a1", "hang").finally(() => ends.push("hang"));
    const other = await checkFor("b1", "b").finally(() => ends.push("b"));
    assert.deepEqual([pidOf(other), checker.stats().secondPid], [checker.stats().pid, hungPid]);
    await checker[Symbol.asyncDispose]();
    assert.equal((await hung).kind, "unchecked");
    assert.deepEqual(ends, ["b", "hang"]);
  });
  it("checks all programs of other sessions in one process while a session sends one hanging program after the other", async () => {
    const { checker, checkFor } = open({ limits: { slowMs: 50, checkMs: 1_000 } });
    const pids = new Set<unknown>();
    for (let round = 0; round < 4; round += 1) {
      const hung = checkFor("a1", `hang ${round}`);
      for (const who of ["a2", "b1"]) pids.add(pidOf(await checkFor(who, `${who} ${round}`)));
      assert.equal((await hung).kind, "unchecked");
    }
    assert.deepEqual([...pids], [checker.stats().pid]);
  });
  it("lets a slow check finish in the process that it occupies, and checks later programs of its session there", async () => {
    const { checker, checkFor } = open({ limits: patient });
    const pid = pidOf(await checkFor("a1", "a"));
    const [slow, other] = await Promise.all([checkFor("a1", "slow"), checkFor("b1", "b")]);
    assert.equal(pidOf(slow), pid);
    assert.equal(pidOf(await checkFor("a1", "later")), pid);
    assert.deepEqual([pidOf(other), pid], [checker.stats().pid, checker.stats().secondPid]);
  });
  it("keeps a slow check in the shared process and starts no second one while no other session waits", async () => {
    const { checker, checkFor } = open({ limits: patient });
    const pid = pidOf(await checkFor("a1", "a"));
    const both = await Promise.all([checkFor("a1", "slow"), checkFor("a1", "b")]);
    const { starts, secondPid } = checker.stats();
    assert.deepEqual([...both.map(pidOf), starts, secondPid], [pid, pid, 1, 0]);
  });
  it("checks a slow program again if the second process is busy as well", async () => {
    const { checker, checkFor } = open({ limits: patient });
    await checkFor("a1", "die");
    await checkFor("b1", "b");
    const hung = checkFor("a1", "hang");
    const { pid, secondPid } = checker.stats();
    const [slow, other] = await Promise.all([checkFor("b1", "slow"), checkFor("c1", "c")]);
    assert.deepEqual([isAlive(pid), isAlive(secondPid)], [false, false]);
    assert.deepEqual([pidOf(other), pidOf(slow)], [checker.stats().pid, checker.stats().secondPid]);
    assert.equal((await hung).kind, "unchecked");
  });
  it("stops a slow check of a session that has ended a process before, if another program waits", async () => {
    const { checker, checkFor } = open({ limits: patient });
    await checkFor("a1", "die");
    const hung = checkFor("a1", "hang");
    assert.equal(pidOf(await checkFor("a1", "b")), checker.stats().secondPid);
    assert.deepEqual(await hung, { kind: "unchecked", reason: "The types were not checked: the check took too long" });
  });
  it("does not stop a slow check of a session that has ended no process, if another program waits", async () => {
    const { checkFor } = open({ limits: patient });
    await Promise.all([checkFor("a1", "slow 1"), checkFor("b1", "b")]);
    const both = await Promise.all([checkFor("a1", "slow 2"), checkFor("a1", "c")]);
    assert.deepEqual(both.map(isChecked), [true, true]);
  });
  it("takes turns between principals, and between the sessions of a principal", async () => {
    const { checkFor } = open();
    const order: string[] = [];
    const add = (who: string, text: string): Promise<unknown> =>
      checkFor(who, text).finally(() => order.push(`${who} ${text}`));
    await Promise.all([
      ...["first", "second", "third"].map((text) => add("a1", text)),
      add("a2", "fourth"),
      add("b1", "fifth"),
    ]);
    assert.deepEqual(order, ["a1 first", "b1 fifth", "a2 fourth", "a1 second", "a1 third"]);
  });
  it("ends both processes when they are idle, and starts each of them again", async () => {
    const { checker, kept, checkFor } = open({ limits: { ...patient, idleMs: 300 } });
    const first = await Promise.all([checkFor("a1", "slow"), checkFor("b1", "b")]);
    for (let tries = 0; kept.size > 0 && tries < 1_000; tries += 1) await wait(10);
    assert.deepEqual([checker.stats().pid, checker.stats().secondPid, ...kept], [0, 0]);
    const again = await Promise.all([checkFor("a1", "again"), checkFor("b1", "again, too")]);
    assert.equal(new Set([...first, ...again].map(pidOf)).size, 4);
  });
  it("starts another process for a check that comes while an idle one is ending", async () => {
    const { checker, check } = open({ limits: { idleMs: 1 } });
    const checked = ["a", "b", "c", "d"].map(async (text, at) => {
      await wait(at * 500);
      const result = await check(text);
      for (let tries = 0; checker.stats().pid !== 0 && tries < 1_000; tries += 1) await wait(1);
      return [result, await check(`${text} at once`)].every(isChecked);
    });
    assert.deepEqual(await Promise.all(checked), [true, true, true, true]);
  });
  it("keeps a process that is not idle for long enough", async () => {
    const { checker, check } = open({ limits: { idleMs: 60_000 } });
    await check("a");
    const { pid } = checker.stats();
    await wait(50);
    await check("b");
    assert.deepEqual([checker.stats().pid, checker.stats().starts], [pid, 1]);
  });
  it("ends both processes on dispose, also while they are busy", async () => {
    const { checker, kept, checkFor } = open({ limits: patient });
    const hung = checkFor("a1", "hang");
    await checkFor("b1", "b");
    const { pid, secondPid } = checker.stats();
    await checker[Symbol.asyncDispose]();
    assert.deepEqual([isAlive(pid), isAlive(secondPid), kept.size], [false, false, 0]);
    assert.equal((await hung).kind, "unchecked");
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
