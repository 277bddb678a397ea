/** Places of programs that wait: given to others, and taken again in turn. With real children. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { codeOf } from "../fixtures/play-child.ts";
import { gate } from "../fixtures/gate.ts";
import type { Gate } from "../fixtures/gate.ts";
import { openTestSandbox } from "../fixtures/test-sandbox.ts";
import type { TestSandbox } from "../fixtures/test-sandbox.ts";
import type { ProgramEnding } from "../sandbox.ts";

/** Longer than any test takes: such a program ends by being cancelled. */
const FOREVER = "await new Promise((resolve) => setTimeout(resolve, 500_000));";
const CALL = "return files.read()";

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
  it("no more than twice as many children exist as places, and the next program that waits keeps its place", () =>
    within({ concurrency: 1, queue: 0 }, async ({ end, pids }) => {
      const cancel = new AbortController();
      const first = end(FOREVER, { signal: cancel.signal });
      let second: ProgramEnding | undefined;
      while (second === undefined || codeOf(second) === "LIMIT_BUSY") {
        await sleep(20);
        const ending = end(FOREVER, { signal: cancel.signal });
        second = await Promise.race([ending, sleep(600, { kind: "cancelled" } as const)]);
      }
      assert.equal(codeOf(await end("return 1")), "LIMIT_BUSY");
      assert.ok(pids.size <= 2, String(pids.size));
      cancel.abort();
      assert.equal(codeOf(await first), "cancelled");
    }));
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
