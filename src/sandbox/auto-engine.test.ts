/** The engine `auto` with real children: programs that change their engine at any point, and what holds across it. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { getPriority } from "node:os";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { DEFAULT_LIMITS } from "../domain/index.ts";
import type { EngineName } from "../domain/index.ts";
import { gate } from "./fixtures/gate.ts";
import { countingHost, tapedProgram } from "./fixtures/taped-program.ts";
import { ECHO, openTestSandbox, programOf } from "./fixtures/test-sandbox.ts";
import { LOWEST_PRIORITY } from "./priority.ts";
import type { GuestHost, SandboxResult } from "./sandbox.ts";
import type { Delivery, Tape, TapeStart } from "./tape.ts";

const FIB = "const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2));";
/** In QuickJS it takes some hundred times longer than a program may compute there. */
const COMPUTE = `${FIB} const sum = fib(27);`;

/** The pool waits a little longer for a child before it starts another one. */
const SEEMS_STUCK_MS = 90;

/** Its timer never fires. */
const PROGRAM = tapedProgram(100_000);

let step: number | undefined;
let clock = 0;
const { sandbox, run, pids } = await openTestSandbox({ switchAtStep: () => step, now: () => (clock += 1) }, "auto");
after(() => sandbox.close());

/** Runs it with a change of engine at this step, of those in which it sends a frame or is interrupted. */
async function runAt(at: number | undefined, program: string, more: Parameters<typeof run>[1] = {}) {
  step = at;
  clock = 0;
  try {
    return await run(program, more);
  } finally {
    step = undefined;
  }
}

/** The V8 child is ready, so that a program that computes changes its engine at its first request. */
async function warmUp(): Promise<void> {
  for (;;) {
    const { usage } = await run(COMPUTE);
    if (usage.switches === 1) return;
  }
}

function shown({ ending, logs }: SandboxResult) {
  return { ending, logs: logs.map(({ level, text }) => [level, text]) };
}

describe("a change of engine at any step", () => {
  it("gives the same value, calls and lines as no change, with every call made once", async () => {
    const host = countingHost();
    const plain = await runAt(undefined, PROGRAM, { host });
    assert.equal(plain.ending.kind, "returned");
    const steps = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    let changes = 0;
    for (const at of steps) {
      const again = countingHost();
      const result = await runAt(at, PROGRAM, { host: again });
      assert.deepEqual(shown(result), shown(plain), `step ${at}`);
      assert.deepEqual(again.made, host.made, `step ${at}`);
      assert.equal(result.engine, result.usage.switches === 1 ? "isolate" : "quickjs");
      changes += result.usage.switches;
    }
    assert.ok(changes >= 10, `${changes} changes`);
  });

  it("a tape that is recorded across a change repeats the program on the last engine without a call", async () => {
    for (const at of [0, 2, 5, 8]) {
      const kept = { start: undefined as TapeStart | undefined, past: [] as Delivery[], engine: "auto" as EngineName };
      const tape: Tape = {
        past: [],
        began: (start, engine) => void Object.assign(kept, { start, engine }),
        switched: (engine) => void (kept.engine = engine),
        repeat: () => undefined,
        keep: (delivery) => void kept.past.push(delivery),
      };
      const first = await runAt(at, PROGRAM, { host: countingHost(), tape });
      assert.equal(first.engine, kept.engine);
      const host = countingHost();
      const { start, engine, past } = kept;
      const again = await run(PROGRAM, { host, tape: { ...tape, ...(start && { start }), engine, past } });
      assert.deepEqual([shown(again), again.engine, again.usage.switches], [shown(first), kept.engine, 0]);
      assert.deepEqual(host.made, []);
    }
  });
});

describe("what asks for V8", () => {
  it("a program that computes changes its engine once and returns its value", async () => {
    await warmUp();
    const { ending, engine, usage } = await run(`${COMPUTE} return sum`);
    assert.deepEqual([ending, engine, usage.switches], [{ kind: "returned", value: 196_418 }, "isolate", 1]);
  });
  it("a program that does not compute stays in QuickJS", async () => {
    const { ending, engine, usage } = await run("return (await files.read({ a: 1 })).args.a");
    assert.deepEqual([ending, engine, usage.switches], [{ kind: "returned", value: 1 }, "quickjs", 0]);
  });
  it("a program with a route starts in V8", async () => {
    const job = { namespaces: [], limits: DEFAULT_LIMITS, host: ECHO, signal: new AbortController().signal };
    const program = { ...programOf("return typeof Intl"), route: "isolate" } as const;
    const { ending, engine, usage } = await sandbox.run({ ...job, program, principal: "agent" as never });
    assert.deepEqual([ending, engine, usage.switches], [{ kind: "returned", value: "object" }, "isolate", 0]);
  });
  it("a guarded function gives V8's value", async () => {
    const { ending, engine } = await run('return ["b", "a", "C"].sort((x, y) => x.localeCompare(y))');
    assert.deepEqual([ending, engine], [{ kind: "returned", value: ["a", "b", "C"] }, "isolate"]);
  });
  it("a program that holds much data changes its engine before its memory grows", async () => {
    const { ending, engine } = await run("return new Uint8Array(20_000_000).length");
    assert.deepEqual([ending, engine], [{ kind: "returned", value: 20_000_000 }, "isolate"]);
  });
  it("a program that does not parse, or fails in the engine, has V8's words and position", async () => {
    const v8 = await openTestSandbox({}, "isolate");
    try {
      for (const program of [
        "const a = ;",
        "const a = null;\nreturn a.b.c;",
        "return missing",
        "throw new Error('own')",
      ])
        assert.deepEqual(shown(await run(program)), shown(await v8.run(program)), program);
    } finally {
      await v8.sandbox.close();
    }
  });
  it("a program that got more than the history holds changes its engine before the answer enters", async () => {
    const host: GuestHost = { call: () => Promise.resolve({ ok: true, json: JSON.stringify("x".repeat(2_000_000)) }) };
    const { ending, engine } = await run("return (await files.read()).length", { host });
    assert.deepEqual([ending, engine], [{ kind: "returned", value: 2_000_000 }, "isolate"]);
  });
  it("a program that differs on the engines stays in QuickJS, with every effect once", async () => {
    await warmUp();
    const host = countingHost();
    // Long arrays: the engines differ in how often they compare identical values, which no guard sees.
    const difference = "let text = 0; new Array(100).fill(1).sort(() => (text += 1, 0));";
    const program = `${difference} await files.read({ n: 1, text }); ${COMPUTE} await files.write({ n: 2 }); return sum`;
    const { ending, engine, usage } = await run(program, { host });
    assert.deepEqual([ending, engine, usage.switches], [{ kind: "returned", value: 196_418 }, "quickjs", 0]);
    assert.deepEqual(
      host.made.map((call) => call.split(" ")[1]),
      ["files.read", "files.write"],
    );
  });
});

describe("limits across a change of engine", () => {
  const codeOf = ({ ending }: SandboxResult): string => (ending.kind === "failed" ? ending.error.code : ending.kind);
  const ENDLESS = "for (;;) {}";

  it("an endless loop ends at its time limit, after the change and before it", async () => {
    await warmUp();
    for (const at of [undefined, 2]) {
      const wallMs = 2_000;
      const result = await runAt(at, `console.log("line"); ${ENDLESS}`, { limits: { wallMs } });
      assert.deepEqual([codeOf(result), result.logs.length], ["LIMIT_TIME", 1], `step ${at}`);
      assert.ok(result.usage.wallMs >= wallMs, `${result.usage.wallMs} ms`);
    }
  });
  it("an endless loop ends at its processor time after the change", { skip: !existsSync("/proc/self") }, async () => {
    await warmUp();
    const result = await runAt(0, ENDLESS, { limits: { cpuMs: 60 } });
    assert.equal(codeOf(result), "LIMIT_TIME");
    assert.ok(result.ending.kind === "failed" && result.ending.error.message.includes("cpuMs"));
  });
  it("a program that fills its memory ends at its limit in V8", async () => {
    const hog = "const all = []; for (;;) all.push(new Uint8Array(1_000_000).fill(1));";
    const result = await run(hog, { limits: { memoryBytes: 64 * 1024 * 1024 } });
    assert.deepEqual([codeOf(result), result.usage.switches], ["LIMIT_MEMORY", 1]);
  });
  it("lines of both engines count against one limit", async () => {
    const write = "for (let n = 0; n < 4; n += 1) { console.log('x'.repeat(100)); await files.read({ n }); } return 1";
    for (const [outputBytes, code] of [
      [400, "LIMIT_SIZE"],
      [402, "returned"],
    ] as const) {
      const result = await runAt(4, write, { limits: { outputBytes: outputBytes - 1, resultBytes: 10 } });
      assert.equal(codeOf(result), code, `${outputBytes}`);
      assert.equal(result.usage.switches, 1);
    }
  });
  it("a cancelled program ends during the change and after it", async () => {
    for (const at of [1, 2]) {
      const cancel = new AbortController();
      const { host, reached } = gate();
      const ended = runAt(at, `await files.read(); ${ENDLESS}`, { host, signal: cancel.signal });
      await reached;
      cancel.abort();
      assert.equal(codeOf(await ended), "cancelled");
    }
    assert.equal(codeOf(await run("return 1")), "returned");
  });
});

describe("children of auto", () => {
  it("one child serves programs that follow one another", async () => {
    const job = { namespaces: [], limits: DEFAULT_LIMITS, host: ECHO, signal: new AbortController().signal };
    /** The numbers of children after each program, or `undefined` if a child took so long that it may seem stuck. */
    const follow = async (): Promise<readonly number[] | undefined> => {
      await using alone = (await openTestSandbox({}, "auto")).sandbox;
      const counts = new Set<number>();
      for (let count = 0; count < 30; count += 1) {
        const startedAt = performance.now();
        await alone.run({ ...job, program: programOf(`return ${count}`), principal: "agent" as never });
        if (count > 0 && performance.now() - startedAt > SEEMS_STUCK_MS) return undefined;
        const { busy, idle } = alone.load();
        counts.add(busy + idle);
      }
      return [...counts];
    };
    let counts = await follow();
    for (let tries = 1; counts === undefined && tries < 50; tries += 1) counts = await follow();
    assert.deepEqual(counts, [1]);
  });
  it("two programs that overlap get two children", async () => {
    const { host, reached, open } = gate();
    const first = run("return files.read()", { host });
    await reached;
    assert.equal((await run("return 1")).ending.kind, "returned");
    open();
    assert.equal((await first).ending.kind, "returned");
  });
  it("a killed child of V8 costs a program that waits for it nothing, and the next one gets another", async () => {
    await warmUp();
    const before = [...pids];
    for (const pid of before) process.kill(-pid, "SIGKILL");
    while (before.some((pid) => pids.has(pid))) await sleep(5);
    const { ending, engine } = await run('return "a".localeCompare("B")');
    assert.deepEqual([ending, engine], [{ kind: "returned", value: -1 }, "isolate"]);
  });
});

describe("children of auto that are killed during a change of engine", { skip: !existsSync("/proc/self") }, () => {
  /** V8 loops before its first call, because a match has its keys in another order there. QuickJS waits meanwhile. */
  const PROGRAM_STAYS = `const keys = Object.keys("a".match(/a/));
    for (let n = keys.indexOf("index") < keys.indexOf("groups") ? 1 : 0; n > 0; ) n = (n % 7) + 1;
    await files.write({ n: 1 });
    const at = new Date("Jan 1, 2026 UTC").getTime();
    return [(await files.write({ n: 2 })).n, at];`;

  /** Starts it in a sandbox of its own, and resolves once V8 computes. */
  async function begin(host: GuestHost) {
    const { sandbox: own, run: runOwn, pids: all } = await openTestSandbox({}, "auto");
    const ended = runOwn(PROGRAM_STAYS, { host });
    for (;;) {
      const v8 = [...all].find((pid) => getPriority(pid) === LOWEST_PRIORITY);
      if (v8 !== undefined) return { own, run: runOwn, ended, v8, quickjs: [...all].filter((pid) => pid !== v8) };
      await sleep(5);
    }
  }

  it("a program whose child of V8 is killed continues in QuickJS, with each call once", async () => {
    const host = countingHost();
    const { own, ended, v8 } = await begin(host);
    await using _closing = own;
    process.kill(-v8, "SIGKILL");
    const { ending, engine, usage } = await ended;
    assert.deepEqual(ending, { kind: "returned", value: [2, Date.UTC(2026, 0)] });
    assert.deepEqual([engine, usage.switches, host.made.length], ["quickjs", 0, 2]);
  });
  it("a program whose child of QuickJS is killed has crashed, loses both children, and harms no other program", async () => {
    const host = countingHost();
    const { own, run: runOwn, ended, v8, quickjs } = await begin(host);
    await using _closing = own;
    for (const pid of quickjs) process.kill(-pid, "SIGKILL");
    const { ending } = await ended;
    assert.equal(ending.kind === "failed" && ending.error.code, "SANDBOX_CRASHED");
    assert.equal(host.made.length, 1);
    assert.deepEqual((await runOwn("return 1")).ending, { kind: "returned", value: 1 });
    while (existsSync(`/proc/${v8}`)) await sleep(5);
  });
});

describe("idle children of auto", () => {
  it("a child of V8 ends after half a minute without a program, and one of QuickJS stays", async (context) => {
    await run("return 1"); // the child that other tests share has no timer of its start any more
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const { sandbox: own, run: runOwn, pids: all } = await openTestSandbox({}, "auto");
    await using _closing = own;
    /** Timers stand still, so it waits for events only. */
    const until = async (isTrue: () => boolean): Promise<void> => {
      while (!isTrue()) await new Promise(setImmediate);
    };
    assert.equal((await runOwn('return "a".localeCompare("B")')).engine, "isolate");
    const both = [...all];
    assert.equal(both.length, 2);
    context.mock.timers.tick(29_999);
    for (let turns = 0; turns < 1_000; turns += 1) await new Promise(setImmediate);
    assert.deepEqual([...all], both);
    // The child may become ready late, and its half minute begins then.
    await until(() => {
      context.mock.timers.tick(30_000);
      return all.size === 1;
    });
    assert.deepEqual([...all], both.slice(0, 1));
    assert.equal((await runOwn("return 1")).engine, "quickjs");
  });
});
