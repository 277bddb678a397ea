/** The place on trial: who gets it, who leaves it, and what a program that left it repeats. With real children. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { gate } from "../fixtures/gate.ts";
import { codeOf } from "../fixtures/play-child.ts";
import { openTestSandbox } from "../fixtures/test-sandbox.ts";
import type { TestSandbox } from "../fixtures/test-sandbox.ts";
import { createTrials } from "./trials.ts";

const CALL = "console.log('line'); const answer = await files.read(); return [answer, Math.random()];";

async function within(changes: Parameters<typeof openTestSandbox>[0], work: (opened: TestSandbox) => Promise<void>) {
  const opened = await openTestSandbox(changes);
  try {
    await work(opened);
  } finally {
    await opened.sandbox.close();
  }
}

/** One program of each session, which waits for its gate after it was called once. */
function flood({ run }: TestSandbox, sessions: readonly string[]) {
  const calls: string[] = [];
  const { host, open } = gate();
  const runs = sessions.map((session) => {
    const call = (...[address, args, seq]: Parameters<typeof host.call>) => {
      calls.push(session);
      return host.call(address, args, seq);
    };
    return run(CALL, { host: { call }, session });
  });
  return { calls, runs, open };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(5);
}

describe("a place on trial", () => {
  it("the first program of a session runs while programs of twelve other sessions have and want all places", () =>
    within({ concurrency: 2, queue: 20 }, async (opened) => {
      const names = Array.from({ length: 12 }, (_, index) => `flood ${index}`);
      const { runs, open } = flood(opened, names);
      const ended: string[] = [];
      for (const one of runs) void one.then(() => ended.push("flood"));
      let most = 0;
      const looks = setInterval(() => (most = Math.max(most, opened.sandbox.load().busy)), 5);
      const first = await opened.end("return 1", { session: "another" });
      clearInterval(looks);
      assert.deepEqual([first, ended, most], [{ kind: "returned", value: 1 }, [], 3]);
      open();
      assert.deepEqual(new Set((await Promise.all(runs)).map(({ ending }) => codeOf(ending))), new Set(["returned"]));
    }));
  it("one more child is ready before another session asks while all places are held for long, and none while one is free", () =>
    within({ concurrency: 2 }, async (opened) => {
      const first = flood(opened, ["a"]);
      await until(() => first.calls.length === 1);
      await sleep(400);
      const free = opened.pids.size;
      const second = flood(opened, ["b"]);
      await until(() => opened.pids.size === 3 && opened.sandbox.load().idle === 1);
      assert.equal(codeOf(await opened.end("return 1", { session: "another" })), "returned");
      assert.deepEqual([free <= 2, opened.pids.size], [true, 3]);
      first.open();
      second.open();
      await Promise.all([...first.runs, ...second.runs]);
    }));
  it("a program that left the place on trial repeats what it did, and makes no call twice", () =>
    within({ concurrency: 1 }, async (opened) => {
      const { calls, runs, open } = flood(opened, ["a", "b"]);
      await until(() => calls.length === 2);
      assert.equal(codeOf(await opened.end("return 1", { session: "c" })), "returned");
      open();
      const results = await Promise.all(runs);
      assert.deepEqual(calls, ["a", "b"]);
      for (const { ending, logs } of results) {
        assert.deepEqual([codeOf(ending), logs.map(({ text }) => text)], ["returned", ["line"]]);
      }
    }));
  it("a program that computes leaves the place on trial for another session", () =>
    within({ concurrency: 1 }, async ({ end, sandbox }) => {
      const cancel = new AbortController();
      const compute = (session: string) => end("for (;;);", { session, signal: cancel.signal });
      const computing = [compute("a"), compute("b")];
      await until(() => sandbox.load().busy === 2);
      // It leaves although no other session waits: it could not be repeated later.
      await until(() => sandbox.load().busy === 1);
      assert.equal(codeOf(await end("return 1", { session: "c" })), "returned");
      cancel.abort();
      assert.deepEqual((await Promise.all(computing)).map(codeOf), ["cancelled", "cancelled"]);
    }));
  it("a session with a place gets no place on trial, and one without does", () =>
    within({ concurrency: 1 }, async (opened) => {
      const { calls, runs, open } = flood(opened, ["a"]);
      await until(() => calls.length === 1);
      const order: string[] = [];
      const again = opened.end("return 1", { session: "a" }).then(() => order.push("again"));
      await opened.end("return 1", { session: "b" }).then(() => order.push("other"));
      assert.deepEqual(order, ["other"]);
      open();
      await Promise.all([...runs, again]);
    }));
});

describe("trials", () => {
  it("all are long after 250 ms, not before and not at it, and only if there are as many as the pool has places", () => {
    let time = 0;
    const trials = createTrials(() => time);
    const holders = ["a", "b"].map((session) => ({ owner: { principal: "p", session }, leave: () => false }));
    for (const holder of holders) trials.enter(holder);
    const areLong = [249, 250, 251].map((now) => {
      time = now;
      return trials.areAllLong(2);
    });
    assert.deepEqual([areLong, trials.areAllLong(3)], [[false, false, true], false]);
  });
  it("only the program on trial is asked to leave, and only once it is long", () => {
    let time = 0;
    const trials = createTrials(() => time);
    const left: string[] = [];
    const enter = (session: string, isOnTrial: boolean) => {
      const leave = (): boolean => left.push(session) > 0;
      const holder = { owner: { principal: "p", session }, leave };
      trials.enter(holder, isOnTrial);
      return holder;
    };
    enter("a", false);
    const tried = enter("b", true);
    for (time of [0, 250]) trials.end();
    assert.deepEqual(left, []);
    time = 251;
    trials.end();
    assert.deepEqual([left, trials.leave(tried)], [["b"], 251]);
    trials.end();
    assert.deepEqual(left, ["b"]);
  });
});
