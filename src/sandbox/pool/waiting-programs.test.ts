/** Places of programs that wait: given to others, and taken again in turn. With real children. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { codeOf } from "../fixtures/play-child.ts";
import { gate } from "../fixtures/gate.ts";
import type { Gate } from "../fixtures/gate.ts";
import { openTestSandbox } from "../fixtures/test-sandbox.ts";
import type { TestSandbox } from "../fixtures/test-sandbox.ts";
import type { GuestHost, ProgramEnding } from "../sandbox.ts";

/** Longer than any test takes: such a program ends by being cancelled. */
const FOREVER = "await new Promise((resolve) => setTimeout(resolve, 500_000));";
const CALL = "return files.read()";
const RUNS = { kind: "cancelled" } as const;
/** Its value shows its calls, its timers, its clock and its random numbers. */
const SLEEPER = `
  console.log("start");
  const [before, random] = [Date.now(), Math.random()];
  const first = await files.read({ n: 1 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  console.log("called");
  setTimeout(() => undefined, 500_000);
  const second = await files.write({ before, random });
  console.log("woken");
  return [first, second, await files.read({ before, random })];
`;

async function within(changes: Parameters<typeof openTestSandbox>[0], work: (opened: TestSandbox) => Promise<void>) {
  const opened = await openTestSandbox(changes);
  try {
    await work(opened);
  } finally {
    await opened.sandbox.close();
  }
}

/** Starts a program whose one call waits for a person until the gate is open. */
function ask({ end }: TestSandbox, code = CALL, session = "") {
  const answer = gate();
  const suspension = new AbortController();
  const waits = { forPeople: () => 1, suspend: () => (suspension.abort(), true) };
  const ending = end(code, { host: answer.host, suspend: suspension.signal, waits, session });
  return { ...answer, ending };
}

/** Starts a program that has the only place until its gate is open. */
async function occupy({ end }: TestSandbox): Promise<Gate & { readonly ending: Promise<ProgramEnding> }> {
  const answer = gate();
  const ending = end(CALL, { host: answer.host, session: "busy" });
  await answer.reached;
  return { ...answer, ending };
}

describe("a program that waits in memory", () => {
  it("a program that waits for a timer gives its place to another program", () =>
    within({ concurrency: 1 }, async ({ end }) => {
      const cancel = new AbortController();
      const waiting = end(FOREVER, { signal: cancel.signal });
      assert.deepEqual(await end("return 1"), { kind: "returned", value: 1 });
      cancel.abort();
      assert.deepEqual(await waiting, { kind: "cancelled" });
      assert.deepEqual(await end("return 2"), { kind: "returned", value: 2 });
    }));
  it("a program that waits for a person gives its place to another program, and continues after the answer", () =>
    within({ concurrency: 1 }, async (opened) => {
      const asking = ask(opened);
      await asking.reached;
      assert.deepEqual(await opened.end("return 1"), { kind: "returned", value: 1 });
      asking.open();
      assert.deepEqual(await asking.ending, { kind: "returned", value: "answered" });
    }));
  it("a program that waits for a tool keeps its place", () =>
    within({ concurrency: 1, queue: 0 }, async (opened) => {
      const working = await occupy(opened);
      await sleep(500);
      assert.equal(codeOf(await opened.end("return 1")), "LIMIT_BUSY");
      working.open();
      assert.equal(codeOf(await working.ending), "returned");
    }));
  it("a program that computes keeps its place, although it has an open timer", () =>
    within({ concurrency: 1, queue: 0 }, async ({ end }) => {
      const cancel = new AbortController();
      const computing = end("setTimeout(() => undefined, 500_000); for (;;);", { signal: cancel.signal });
      await sleep(500);
      assert.equal(codeOf(await end("return 1")), "LIMIT_BUSY");
      cancel.abort();
      assert.equal(codeOf(await computing), "cancelled");
    }));
  it("a program continues only when a place is free, before new ones of its session", () =>
    within({ concurrency: 1 }, async (opened) => {
      const asking = ask(opened, CALL, "mine");
      await asking.reached;
      const working = await occupy(opened);
      const order: string[] = [];
      const note = (name: string) => (): void => void order.push(name);
      const done = opened.end("return 1", { session: "mine" }).then(note("new"));
      asking.open();
      const woken = asking.ending.then(note("woken"));
      await sleep(100);
      assert.deepEqual(order, []);
      working.open();
      await working.ending.then(note("working"));
      await Promise.all([done, woken]);
      assert.deepEqual(order, ["working", "woken", "new"]);
    }));
  it("a resumed program comes before new ones of its session, also when the queue is full", () =>
    within({ concurrency: 1, queue: 1 }, async (opened) => {
      const working = await occupy(opened);
      const order: string[] = [];
      const waiting = ["new", "resumed"].map(async (name) => {
        assert.equal(
          codeOf(await opened.end("return 1", { session: "mine", isResumed: name === "resumed" })),
          "returned",
        );
        order.push(name);
      });
      working.open();
      await Promise.all([working.ending, ...waiting]);
      assert.deepEqual(order, ["resumed", "new"]);
    }));
  it("the oldest program that waits for a person is suspended when more wait than there are places", () =>
    within({ concurrency: 1 }, async (opened) => {
      const oldest = ask(opened);
      await oldest.reached;
      const newest = ask(opened);
      await newest.reached;
      assert.deepEqual(await oldest.ending, { kind: "paused" });
      assert.deepEqual(await opened.end("return 1"), { kind: "returned", value: 1 });
      newest.open();
      assert.deepEqual(await newest.ending, { kind: "returned", value: "answered" });
    }));
  it("any number of programs that wait for timers let another program run, and one child of them stays", () =>
    within({ concurrency: 1 }, async ({ end, pids }) => {
      const cancel = new AbortController();
      let started = 0;
      const host: GuestHost = { call: async () => ({ ok: true, json: String((started += 1)) }) };
      const sleeper = `await files.read(); ${FOREVER}`;
      const waiting = Array.from({ length: 4 }, () => end(sleeper, { host, signal: cancel.signal }));
      while (started < waiting.length) await sleep(10);
      assert.deepEqual(await end("return 1", { session: "other" }), { kind: "returned", value: 1 });
      while (pids.size > 2) await sleep(10);
      cancel.abort();
      assert.deepEqual(new Set((await Promise.all(waiting)).map(codeOf)), new Set(["cancelled"]));
      assert.deepEqual(await end("return 2"), { kind: "returned", value: 2 });
    }));
  it("a program whose child was given up continues in another child as if nothing had happened", () =>
    within({ concurrency: 1 }, async ({ run, end, pids }) => {
      const { host, reached, open } = gate();
      const calls: (readonly [unknown, unknown])[] = [];
      const answering: GuestHost = {
        call: (address, args, seq) => {
          calls.push([address, JSON.parse(String(args))]);
          if (address === "files.write") return host.call(address, args, seq);
          return Promise.resolve({ ok: true, json: String(calls.length) });
        },
      };
      const waits = { forPeople: () => (calls.length === 2 ? 1 : 0), suspend: () => false };
      const first = run(SLEEPER, { host: answering, waits });
      await reached;
      const [before = assert.fail()] = pids;
      // The child of the first program is given up for the second one that waits.
      const cancel = new AbortController();
      const others = [1, 2].map(() => end(FOREVER, { signal: cancel.signal }));
      while (pids.has(before)) await sleep(10);
      open();
      const { ending, logs, usage } = await first;
      assert.deepEqual(ending, { kind: "returned", value: [1, "answered", 3] });
      assert.deepEqual(
        logs.map(({ text }) => text),
        ["start", "called", "woken"],
      );
      const [, [, seen] = []] = calls;
      assert.deepEqual(calls, [
        ["files.read", { n: 1 }],
        ["files.write", seen],
        ["files.read", seen],
      ]);
      assert.ok(usage.queueMs > 0);
      cancel.abort();
      await Promise.all(others);
    }));
  it("a program that can neither be suspended nor be repeated keeps its place while the most programs wait", () =>
    within({ concurrency: 1, queue: 0 }, async ({ end }) => {
      const cancel = new AbortController();
      const { signal } = cancel;
      const first = end(FOREVER, { signal });
      const started = gate();
      // It starts once the first one has given its place back.
      while (
        codeOf(
          await Promise.race([
            end(`await files.read(); ${FOREVER}`, { host: started.host, signal }),
            started.reached.then(() => RUNS),
          ]),
        ) === "LIMIT_BUSY"
      )
        await sleep(20);
      started.open();
      await sleep(500);
      assert.equal(codeOf(await end("return 1")), "LIMIT_BUSY");
      cancel.abort();
      assert.equal(codeOf(await first), "cancelled");
    }));
  it("a program that waits in memory ends with SANDBOX_CRASHED when its child dies, and its place stays free", () =>
    within({ concurrency: 1 }, async ({ end, pids }) => {
      const waiting = end(FOREVER);
      assert.equal(codeOf(await end("return 1")), "returned");
      const [oldest = 0] = pids;
      process.kill(oldest, "SIGKILL");
      assert.equal(codeOf(await waiting), "SANDBOX_CRASHED");
      assert.equal(codeOf(await end("return 2")), "returned");
    }));
  it("closing the pool ends programs that wait, with a child and without", async () => {
    const { sandbox, end, pids } = await openTestSandbox({ concurrency: 1 });
    const waiting = [1, 2, 3].map(() => end(FOREVER));
    assert.equal(codeOf(await end("return 1", { session: "other" })), "returned");
    await sandbox.close();
    assert.equal(pids.size, 0);
    assert.ok((await Promise.all(waiting)).every(({ kind }) => kind !== "returned"));
  });
  it("a program that waits can be cancelled while it waits for its place", () =>
    within({ concurrency: 1 }, async (opened) => {
      const answer = gate();
      const cancel = new AbortController();
      const waits = { forPeople: () => 1, suspend: () => false };
      const asking = opened.end(CALL, { host: answer.host, waits, signal: cancel.signal });
      await answer.reached;
      const working = await occupy(opened);
      answer.open();
      await sleep(20);
      cancel.abort();
      assert.deepEqual(await asking, { kind: "cancelled" });
      working.open();
      assert.equal(codeOf(await working.ending), "returned");
      assert.deepEqual(await opened.end("return 1"), { kind: "returned", value: 1 });
    }));
});
