/** The pool with real children: the queue, cancelling, crashes, and what remains after closing. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { ConfinedEngine } from "../engine.ts";
import type { ChildCommand } from "../engine.ts";
import { gate, principal } from "../fixtures/gate.ts";
import { openTestSandbox } from "../fixtures/test-sandbox.ts";
import type { TestSandbox } from "../fixtures/test-sandbox.ts";
import type { ProgramEnding, GuestHost } from "../sandbox.ts";

type Options = Parameters<typeof openTestSandbox>[0];

function codeOf(ending: ProgramEnding): string {
  return ending.kind === "failed" ? ending.error.code : ending.kind;
}

async function within(options: Options, use: (test: TestSandbox) => Promise<void>): Promise<void> {
  const test = await openTestSandbox(options);
  try {
    await use(test);
  } finally {
    await test.sandbox.close();
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Waits until it is true. A program that ends although its gate is closed fails the test: waiting would never end. */
async function whileClosed(endings: readonly Promise<ProgramEnding>[], isTrue: () => boolean): Promise<void> {
  const ended: string[] = [];
  for (const ending of endings) void ending.then((one) => ended.push(codeOf(one)));
  while (!isTrue()) {
    assert.deepEqual(ended, []);
    await sleep(10);
  }
}

/** Longer than the time in which an idle child is not asked whether it answers. */
const RESTED_MS = 150;

const HASTY_CHILD = fileURLToPath(import.meta.resolve("../fixtures/hasty-child.ts"));

/** An engine that runs another file. */
function engineOf(file: string, ...args: readonly string[]): ConfinedEngine {
  const command = (): ChildCommand => ({ file, args });
  return { name: "isolate", isolation: "process", layers: [], readiness: undefined, contained: undefined, command };
}

const CLIENT = { principal: principal("agent") };

describe("the queue of the pool", () => {
  it("fills every place and the queue, and refuses the next execution with LIMIT_BUSY", () =>
    within({ concurrency: 2, queue: 1 }, async ({ end }) => {
      const { host, open } = gate();
      const endings = Array.from({ length: 5 }, () => end("return files.read()", { host }));
      const busy = await Promise.all(endings.slice(3));
      open();
      const served = await Promise.all(endings.slice(0, 3));
      assert.deepEqual(served.map(codeOf), ["returned", "returned", "returned"]);
      assert.deepEqual(busy.map(codeOf), ["LIMIT_BUSY", "LIMIT_BUSY"]);
      assert.ok(busy[0]?.kind === "failed" && busy[0].error.details.hint?.includes("sandbox.queue"));
    }));
  it("checkQueue accepts what the queue would accept, counting executions that are coming, and refuses one more", () =>
    within({ concurrency: 2, queue: 1 }, async ({ end, sandbox }) => {
      for (const coming of [0, 1, 2]) sandbox.checkQueue(coming, CLIENT);
      assert.throws(() => sandbox.checkQueue(3, CLIENT), { code: "LIMIT_BUSY" });
      const { host, reached, open } = gate();
      const first = end("return files.read()", { host });
      await reached;
      for (const coming of [0, 1]) sandbox.checkQueue(coming, CLIENT);
      assert.throws(() => sandbox.checkQueue(2, CLIENT), { code: "LIMIT_BUSY" });
      open();
      await first;
    }));
  it("checkQueue accepts another client while one client fills the queue", () =>
    within({ concurrency: 1, queue: 2 }, async ({ end, sandbox }) => {
      const { host, reached, open } = gate();
      const endings = Array.from({ length: 3 }, () => end("return files.read()", { host }));
      await reached;
      assert.throws(() => sandbox.checkQueue(0, CLIENT), { code: "LIMIT_BUSY" });
      sandbox.checkQueue(0, { principal: principal("another") });
      open();
      await Promise.all(endings);
    }));
  it("fills every place even with a queue of length 0", () =>
    within({ concurrency: 2, queue: 0 }, async ({ end }) => {
      const { host, open } = gate();
      const endings = [end("return files.read()", { host }), end("return files.read()", { host })];
      assert.equal(codeOf(await end("return 1")), "LIMIT_BUSY");
      open();
      assert.deepEqual((await Promise.all(endings)).map(codeOf), ["returned", "returned"]);
      assert.equal(codeOf(await end("return 1")), "returned");
    }));
  it("serves waiting principals in turn", () =>
    within({ concurrency: 1 }, async ({ end }) => {
      const order: string[] = [];
      const { host, reached, open } = gate();
      const first = end("return files.read()", { host });
      await reached;
      const waiting = ["a1", "a2", "a3", "b1"].map(async (name) => {
        await end("return 1", { principal: principal(name.slice(0, 1)) });
        order.push(name);
      });
      open();
      await Promise.all([first, ...waiting]);
      assert.deepEqual(order, ["a1", "b1", "a2", "a3"]);
    }));
  it("serves waiting sessions of one principal in turn", () =>
    within({ concurrency: 1 }, async ({ end }) => {
      const order: string[] = [];
      const { host, reached, open } = gate();
      const first = end("return files.read()", { host });
      await reached;
      const waiting = ["a1", "a2", "a3", "b1"].map(async (name) => {
        await end("return 1", { session: name.slice(0, 1) });
        order.push(name);
      });
      open();
      await Promise.all([first, ...waiting]);
      assert.deepEqual(order, ["a1", "b1", "a2", "a3"]);
    }));
  it("refuses the last waiting execution of a session that filled the queue when another session comes", () =>
    within({ concurrency: 1, queue: 2 }, async ({ end }) => {
      const { host, reached, open } = gate();
      const first = end("return files.read()", { host, session: "crowd" });
      await reached;
      const crowd = [1, 2, 3].map((n) => end(`return ${n}`, { session: "crowd" }));
      const other = end("return 4", { session: "other" });
      open();
      const codes = (await Promise.all([first, ...crowd, other])).map(codeOf);
      assert.deepEqual(codes, ["returned", "returned", "LIMIT_BUSY", "LIMIT_BUSY", "returned"]);
    }));
  it("leaves one place to other sessions, however many executions one session has", () =>
    within({ concurrency: 3 }, async ({ end }) => {
      const gates = Array.from({ length: 5 }, gate);
      const inside = new Set<number>();
      for (const [number, { reached }] of gates.entries()) void reached.then(() => inside.add(number));
      await end("return 1", { session: "other" });
      const endings = gates.map(({ host }) => end("return files.read()", { host, session: "crowd" }));
      await whileClosed(endings, () => inside.size >= 2);
      assert.equal(codeOf(await end("return 2", { session: "other" })), "returned");
      await sleep(300);
      assert.equal(inside.size, 2);
      for (const { open } of gates) open();
      assert.deepEqual(new Set((await Promise.all(endings)).map(codeOf)), new Set(["returned"]));
    }));
  it("leaves one place to other principals, however many executions one principal has", () =>
    within({ concurrency: 3 }, async ({ end }) => {
      const [crowd, other] = [principal("crowd"), principal("other")];
      const gates = Array.from({ length: 5 }, gate);
      const inside = new Set<number>();
      for (const [number, { reached }] of gates.entries()) void reached.then(() => inside.add(number));
      await end("return 1", { principal: other });
      const endings = gates.map(({ host }) => end("return files.read()", { host, principal: crowd }));
      await whileClosed(endings, () => inside.size >= 2);
      assert.equal(codeOf(await end("return 2", { principal: other })), "returned");
      await sleep(300);
      assert.equal(inside.size, 2);
      for (const { open } of gates) open();
      assert.deepEqual(new Set((await Promise.all(endings)).map(codeOf)), new Set(["returned"]));
    }));
  it("gives every place to a principal that is alone", () =>
    within({ concurrency: 2 }, async ({ end }) => {
      const gates = [gate(), gate()];
      const endings = gates.map(({ host }) => end("return files.read()", { host }));
      await Promise.all(gates.map(({ reached }) => reached));
      for (const { open } of gates) open();
      assert.deepEqual((await Promise.all(endings)).map(codeOf), ["returned", "returned"]);
    }));
  it("reports how long a program waited in the queue", () =>
    within({ concurrency: 1 }, async ({ end, run }) => {
      const { host, reached, open } = gate();
      const first = end("return files.read()", { host });
      await reached;
      const startedAt = performance.now();
      const second = run("return 1");
      await sleep(50);
      open();
      const { usage } = await second;
      const elapsedMs = performance.now() - startedAt;
      assert.ok(usage.queueMs >= 45 && usage.queueMs + usage.wallMs <= elapsedMs, JSON.stringify({ usage, elapsedMs }));
      await first;
    }));
});

describe("cancelling an execution", () => {
  it("cancelling ends a running program, keeps its logs and frees its place", () =>
    within({ concurrency: 1 }, async ({ run, end }) => {
      const { host, reached } = gate();
      const abort = new AbortController();
      const running = run("console.log('kept'); await files.read()", { host, signal: abort.signal });
      await reached;
      abort.abort();
      const { ending, logs } = await running;
      assert.deepEqual([ending, logs.map(({ text }) => text)], [{ kind: "cancelled" }, ["kept"]]);
      assert.equal(codeOf(await end("return 1")), "returned");
    }));
  it("cancelling ends a program in an endless loop", () =>
    within({ concurrency: 1 }, async ({ end }) => {
      const abort = new AbortController();
      const spinning = end("for (;;);", { signal: abort.signal });
      await sleep(300);
      abort.abort();
      assert.deepEqual(await spinning, { kind: "cancelled" });
    }));
  it("removes a waiting program from the queue, and the program never runs", () =>
    within({ concurrency: 1 }, async ({ end }) => {
      const { host, reached, open } = gate();
      const first = end("return files.read()", { host });
      await reached;
      const abort = new AbortController();
      const calls: unknown[] = [];
      const counting: GuestHost = { call: (address, _args, seq) => (calls.push(address), host.call(address, "", seq)) };
      const second = end("return files.read()", { host: counting, signal: abort.signal });
      abort.abort();
      assert.deepEqual(await second, { kind: "cancelled" });
      open();
      assert.equal(codeOf(await first), "returned");
      assert.equal(codeOf(await end("return 1")), "returned");
      assert.deepEqual(calls, []);
    }));
  it("does not start a program whose signal is already aborted", () =>
    within({ concurrency: 1 }, async ({ end }) => {
      assert.deepEqual(await end("return 1", { signal: AbortSignal.abort() }), { kind: "cancelled" });
    }));
});

describe("a pool whose child dies", () => {
  it("fails only the execution of the killed child and fills its place again", () =>
    within({ concurrency: 2 }, async ({ end, pids }) => {
      for (let round = 0; round < 3; round += 1) {
        const victim = gate();
        const other = gate();
        const killed = end("return files.read()", victim);
        await victim.reached;
        const spared = end("return files.read()", other);
        await other.reached;
        // Each child that lives now has one of the two programs; one that lived before may have been replaced.
        const [pid = assert.fail()] = pids;
        process.kill(pid, "SIGKILL");
        await Promise.race([killed, spared]);
        for (const { open } of [victim, other]) open();
        assert.deepEqual((await Promise.all([killed, spared])).map(codeOf).toSorted(), ["SANDBOX_CRASHED", "returned"]);
      }
      assert.equal(codeOf(await end("return 1")), "returned");
    }));
  it("reports SIGKILL and nothing about the host in the error", () =>
    within({ concurrency: 1 }, async ({ end, pids }) => {
      const { host, reached } = gate();
      const killed = end("return files.read()", { host });
      await reached;
      for (const pid of pids) process.kill(pid, "SIGKILL");
      const ending = await killed;
      assert.ok(ending.kind === "failed");
      assert.match(ending.error.message, /^The sandbox process ended \(SIGKILL\)/);
    }));
  it("replaces an idle child that was killed", () =>
    within({ concurrency: 1 }, async ({ end, pids }) => {
      await end("return 1");
      const before = [...pids];
      for (const pid of before) process.kill(pid, "SIGKILL");
      while (before.some((pid) => pids.has(pid))) await sleep(5);
      assert.equal(codeOf(await end("return 1")), "returned");
    }));
  it("replaces an idle child that was stopped with SIGSTOP", () =>
    within({ concurrency: 2 }, async ({ end, pids }) => {
      await end("return 1");
      await sleep(RESTED_MS);
      const before = [...pids];
      for (const pid of before) process.kill(pid, "SIGSTOP");
      do assert.deepEqual(await end("return 1"), { kind: "returned", value: 1 });
      while (before.some((pid) => pids.has(pid)));
    }));
  it("uses an idle child again if it answers", () =>
    within({ concurrency: 1 }, async ({ end, pids }) => {
      await end("return 1");
      await sleep(RESTED_MS);
      const before = [...pids];
      assert.deepEqual(await end("return 1"), { kind: "returned", value: 1 });
      assert.ok(before.every((pid) => pids.has(pid))); // a busy machine may have started one more
    }));
  it("uses a child again after a program that returned a large value", () =>
    within({ concurrency: 1 }, async ({ end, value, pids }) => {
      await end("return 1");
      const before = [...pids];
      for (let round = 0; round < 3; round += 1) {
        assert.equal(await value("return 'x'.repeat(500_000)"), "x".repeat(500_000));
      }
      assert.ok(before.every((pid) => pids.has(pid))); // a busy machine may have started one more
    }));
  it("never reuses a child that overran a limit, even if it reports READY", () =>
    within({ concurrency: 1, engine: engineOf(process.execPath, HASTY_CHILD) }, async ({ end }) => {
      const endings = [end("fine"), end("overrun"), end("fine"), end("overrun"), end("fine")];
      const codes = (await Promise.all(endings)).map(codeOf);
      assert.deepEqual(codes, ["returned", "LIMIT_SIZE", "returned", "LIMIT_SIZE", "returned"]);
    }));
  it("fails with SANDBOX_UNAVAILABLE after three failed starts", () =>
    within({ engine: engineOf("/bin/false") }, async ({ end }) => {
      assert.equal(codeOf(await end("return 1")), "SANDBOX_UNAVAILABLE");
    }));
  it("reports whether it is ready, and that starts failed until one succeeds", async () => {
    const failing = { ...engineOf("/bin/false") };
    let isRepaired = false;
    const works = engineOf(process.execPath, HASTY_CHILD);
    const engine = {
      ...failing,
      command: (...args: Parameters<ConfinedEngine["command"]>) => (isRepaired ? works : failing).command(...args),
    };
    await within({ engine }, async ({ sandbox, end }) => {
      assert.equal(sandbox.state().kind, "starting");
      await end("return 1");
      const failed = sandbox.state();
      assert.equal(failed.kind === "failed" && failed.error.code, "SANDBOX_UNAVAILABLE");
      isRepaired = true;
      while (sandbox.state().kind !== "ready") await sleep(10);
    });
  });
  it("fails with SANDBOX_UNAVAILABLE if the engine's file does not exist", () =>
    within({ engine: engineOf("/nowhere/node") }, async ({ end }) => {
      assert.equal(codeOf(await end("return 1")), "SANDBOX_UNAVAILABLE");
    }));
});

describe("closing the pool", () => {
  it("ends running and waiting executions and leaves no child", async () => {
    const { sandbox, pids, end } = await openTestSandbox({ concurrency: 2 });
    const { host, reached } = gate();
    const endings = Array.from({ length: 4 }, () => end("return files.read()", { host }));
    await reached;
    const seen = [...pids];
    assert.ok(seen.length > 0 && seen.every(isAlive));
    await sandbox.close();
    assert.deepEqual([pids.size, seen.filter(isAlive)], [0, []]);
    assert.ok((await Promise.all(endings)).every((ending) => ending.kind !== "returned"));
    assert.equal(codeOf(await end("return 1")), "cancelled");
  });
  it("closes a pool twice and right after its start", async () => {
    const { sandbox, pids } = await openTestSandbox();
    await Promise.all([sandbox.close(), sandbox.close()]);
    await sandbox.close();
    assert.equal(pids.size, 0);
  });
});

describe("the priority of a child", () => {
  const niceOf = (pid: number): number => {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
  };
  const usual = niceOf(process.pid);
  const skip = !existsSync("/proc/self");
  const COMPUTE = "let n = 0; for (let i = 0; i < 1e7; i++) n += i % 7;";

  it(
    "lowers the priority of a child while a program computes for long, and restores it for the next program",
    { skip },
    () =>
      within({ concurrency: 1 }, async ({ pids, end }) => {
        await end("return 1");
        const [pid = 0] = pids;
        const nices = new Set<number>();
        // The program computes until the change was seen, however busy the machine is.
        const host: GuestHost = {
          call: async () => {
            nices.add(niceOf(pid));
            return { ok: true, json: String(nices.has(19)) };
          },
        };
        assert.equal(codeOf(await end(`while (!(await files.read())) { ${COMPUTE} }`, { host })), "returned");
        assert.equal(codeOf(await end("return 1")), "returned");
        const [next = 0] = pids;
        assert.equal(niceOf(next), usual);
      }),
  );
  it("does not lower the priority of a child while its program waits", { skip }, () =>
    within({ concurrency: 1 }, async ({ pids, end }) => {
      await end("return 1");
      const [pid = 0] = pids;
      const nices = new Set<number>();
      const timer = setInterval(() => nices.add(niceOf(pid)), 2);
      assert.equal(codeOf(await end("await new Promise((resolve) => setTimeout(resolve, 200))")), "returned");
      clearInterval(timer);
      assert.deepEqual([...nices], [usual]);
    }),
  );
});
