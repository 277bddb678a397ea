/** The budget of host time: what counts, where it ends an execution, and what is recorded then. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";

import { GloveboxError } from "../domain/index.ts";
import { createTool, openTestBridge, traceOf } from "../../test/fixtures/bridge/test-bridge.ts";
import type { ToolAddress } from "../domain/index.ts";
import type { Builtin } from "./builtin.ts";
import { createHostTime } from "./host-time.ts";

const OWNER = { principal: "agent", session: "" };

/** A clock that only work moves. */
function createWork() {
  let nowMs = 0;
  return {
    clock: () => nowMs,
    work: (ms: number): void => {
      nowMs += ms;
    },
  };
}

/** Opens a bridge with the builtin `glovebox.work` and `hostMs: 10`. */
async function openWith(answer: Builtin["answer"], clock: () => number) {
  const tool = createTool("glovebox.work");
  return openTestBridge({ builtins: new Map([[tool.address, { tool, answer }]]), limits: { hostMs: 10 }, clock });
}

const OVERRUN = {
  code: "LIMIT_TIME",
  message: "The program's calls used 11 ms of the gateway's time; their limit is 10 ms (hostMs)",
};

describe("the limit of host time", () => {
  const callWith = async (ms: number) => {
    const { clock, work } = createWork();
    const answer = (): Promise<number> => {
      work(ms);
      return Promise.resolve(1);
    };
    const test = await openWith(answer, clock);
    return { ...test, reply: test.bridge.call("glovebox.work", "{}") };
  };

  it("lets calls pass that take less than hostMs or exactly as much", async () => {
    for (const ms of [9, 10]) assert.deepEqual(await (await callWith(ms)).reply, { ok: true, json: "1" });
  });
  it("ends the execution above hostMs, and records the call", async () => {
    const { bridge, reply, ended, ledger } = await callWith(11);
    await assert.rejects(reply, OVERRUN);
    assert.deepEqual(traceOf(bridge), [
      { seq: 1, tool: "glovebox.work", effect: "read", decision: "allow", outcome: "ok" },
    ]);
    ended.abort();
    await bridge.recorded();
    assert.deepEqual(
      (await ledger()).map(({ action }) => action),
      ["call.intended", "call.ended"],
    );
  });
  it("adds up the time of all calls", async () => {
    const { clock, work } = createWork();
    const { bridge } = await openWith(async () => {
      work(4);
      return null;
    }, clock);
    const call = () => bridge.call("glovebox.work", "{}");
    assert.deepEqual([(await call()).ok, (await call()).ok], [true, true]);
    await assert.rejects(call(), { code: "LIMIT_TIME" });
  });
  it("lets the event loop turn between calls at once that take long", async () => {
    let turns = 0;
    const seen: number[] = [];
    const { bridge } = await openWith(
      async () => {
        seen.push(turns);
        for (const until = performance.now() + 10; performance.now() < until;);
        return null;
      },
      () => 0,
    );
    const turn = setInterval(() => (turns += 1), 0);
    await Promise.all(Array.from({ length: 5 }, () => bridge.call("glovebox.work", "{}")));
    clearInterval(turn);
    assert.equal(new Set(seen).size, 5, `the calls saw the turns ${seen.join()}`);
  });
  it("lets the event loop turn between calls at once whose names take long to find", async () => {
    let turns = 0;
    const seen: number[] = [];
    const withheld = new Map<ToolAddress, never>();
    // Called once for each unknown name, when the answer is composed.
    withheld.get = () => {
      seen.push(turns);
      for (const until = performance.now() + 10; performance.now() < until;);
      return undefined;
    };
    const { bridge } = await openTestBridge({ withheld, clock: () => 0 });
    const turn = setInterval(() => (turns += 1), 0);
    await Promise.all(Array.from({ length: 5 }, () => bridge.call("files.unknown", "{}")));
    clearInterval(turn);
    assert.equal(new Set(seen).size, 5, `the calls saw the turns ${seen.join()}`);
  });
  it("counts what an upstream's answer costs the host, and not the wait for it", async () => {
    const { clock, work } = createWork();
    const invoke = async (): Promise<null> => {
      await nextTurn();
      work(1_000); // the time of others: this execution only waits
      await nextTurn();
      return null;
    };
    const { bridge } = await openTestBridge({ invoke, limits: { hostMs: 10 }, clock });
    assert.equal((await bridge.call("files.read", "{}")).ok, true);
  });
});

describe("work of a builtin after a wait", () => {
  const callWith = async (slices: readonly number[]) => {
    const { clock, work } = createWork();
    const done: number[] = [];
    const { bridge } = await openWith(async (_args, { spend }) => {
      for (const ms of slices) {
        await nextTurn();
        spend(() => work(ms));
        done.push(ms);
      }
      return 1;
    }, clock);
    const reply = await bridge.call("glovebox.work", "{}").catch((thrown: unknown) => thrown);
    return { reply, done };
  };

  it("counts if it is spent", async () => {
    assert.deepEqual(await callWith([4, 6]), { reply: { ok: true, json: "1" }, done: [4, 6] });
    const { reply, done } = await callWith([4, 7]);
    assert.ok(reply instanceof GloveboxError);
    assert.equal(reply.message, OVERRUN.message);
    assert.deepEqual(done, [4, 7]);
  });
  it("is refused once the budget is spent", async () => {
    const { reply, done } = await callWith([4, 7, 1, 1]);
    assert.ok(reply instanceof GloveboxError);
    assert.equal(reply.message, OVERRUN.message);
    assert.deepEqual(done, [4, 7]);
  });
});

it("counts nested work once", () => {
  const { clock, work } = createWork();
  const hostTime = createHostTime({ hostMs: 10 }, OWNER, clock);
  hostTime.enter();
  hostTime.spend(() => work(10));
  hostTime.leave();
  assert.equal(hostTime.overrun(), undefined);
});

it("measures this thread by default", () => {
  const hostTime = createHostTime({ hostMs: 1 }, OWNER);
  while (!hostTime.overrun()) {
    hostTime.enter();
    hostTime.leave();
  }
  assert.throws(() => hostTime.spend(() => 1), { code: "LIMIT_TIME" });
});
