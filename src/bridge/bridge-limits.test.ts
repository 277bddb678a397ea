/** The limits of calls: their number, how many run at once, their time, the end of the program, and the ledger. */

import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError } from "../domain/index.ts";
import type { Json, JsonObject, Tool } from "../domain/index.ts";
import { openTestBridge, traceOf } from "../../test/fixtures/bridge/test-bridge.ts";

/** An upstream that never answers, but keeps the signals it was given. */
function silent(): {
  readonly invoke: (tool: Tool, args: JsonObject, signal: AbortSignal) => Promise<Json>;
  readonly signals: AbortSignal[];
} {
  const signals: AbortSignal[] = [];
  const invoke = (_tool: Tool, _args: JsonObject, signal: AbortSignal): Promise<Json> => {
    signals.push(signal);
    return new Promise(() => undefined);
  };
  return { invoke, signals };
}

const OVERRUN = new GloveboxError("LIMIT_CALLS", "The program made more than 3 tool calls (calls)", {
  hint: "If a loop makes them, leave it with `break`; otherwise use a tool that answers many at once, or split the work",
});

describe("the limit of calls", () => {
  it("lets exactly `calls` attempts pass and rejects the next ones", async () => {
    const { bridge, steps } = await openTestBridge({ limits: { calls: 3 } });
    for (let call = 0; call < 3; call += 1) assert.equal((await bridge.call("files.read", "{}")).ok, true);
    await assert.rejects(bridge.call("files.read", "{}"), OVERRUN);
    await assert.rejects(bridge.call("files.read", "{}"), OVERRUN);
    assert.equal(steps.filter((step) => step === "invoke").length, 3);
    assert.equal(bridge.records().length, 3);
  });
  it("counts refused attempts too, so that names cannot be probed for free", async () => {
    const { bridge } = await openTestBridge({ limits: { calls: 3 } });
    const refused = [
      await bridge.call("x.y", "{}"),
      await bridge.call("files.read", "1"),
      await bridge.call("files.remove", "{}"),
    ];
    assert.deepEqual(
      refused.map((reply) => (reply.ok ? "ok" : reply.error.code)),
      ["TOOL_NOT_FOUND", "TOOL_ARGUMENTS_INVALID", "POLICY_APPROVAL_PENDING"],
    );
    await assert.rejects(bridge.call("files.read", "{}"), OVERRUN);
  });
  it("the limit of calls is exact for simultaneous calls", async () => {
    const { bridge, steps } = await openTestBridge({ limits: { calls: 50 } });
    const settled = await Promise.allSettled(Array.from({ length: 80 }, () => bridge.call("files.read", "{}")));
    assert.equal(settled.filter(({ status }) => status === "fulfilled").length, 50);
    assert.equal(steps.filter((step) => step === "invoke").length, 50);
  });
});

describe("the limit of concurrent calls", () => {
  it("never has more than 16 of 1,000 calls under way, and all finish in order", async () => {
    let underWay = 0;
    let most = 0;
    const order: number[] = [];
    const invoke = async (_tool: Tool, args: JsonObject): Promise<Json> => {
      underWay += 1;
      most = Math.max(most, underWay);
      order.push(Number(args["n"]));
      await sleep(0);
      underWay -= 1;
      return args;
    };
    const { bridge } = await openTestBridge({ limits: { calls: 1_000, concurrentCalls: 16 }, invoke });
    const numbers = Array.from({ length: 1_000 }, (_, n) => n);
    const replies = await Promise.all(numbers.map((n) => bridge.call("files.read", `{"n":${n}}`)));
    assert.deepEqual(
      replies.map((reply) => (reply.ok ? reply.json : reply.error.code)),
      numbers.map((n) => `{"n":${n}}`),
    );
    assert.deepEqual({ most, underWay, order }, { most: 16, underWay: 0, order: numbers });
  });
  it("gives the slot of a failed or refused call to the next one", async () => {
    const failure = new Error("x");
    const invoke = (_tool: Tool, args: JsonObject): Promise<Json> =>
      args["fail"] === true ? Promise.reject(failure) : Promise.resolve(1);
    const { bridge } = await openTestBridge({ limits: { concurrentCalls: 1 }, invoke });
    const calls = [
      bridge.call("files.read", '{"fail":true}'),
      bridge.call("x.y", "{}"),
      bridge.call("files.read", "{}"),
    ];
    const replies = await Promise.all(calls);
    assert.deepEqual(
      replies.map(({ ok }) => ok),
      [false, false, true],
    );
  });
});

describe("the time limit of one call", () => {
  it("replies UPSTREAM_TIMEOUT and aborts the upstream's signal with it", async () => {
    const { invoke, signals } = silent();
    const { bridge } = await openTestBridge({ limits: { callMs: 20 }, invoke });
    const error = {
      code: "UPSTREAM_TIMEOUT",
      message: "files.read did not answer within 20 ms (callMs)",
      retry: true,
      hint: "Ask for less, or try again later",
    } as const;
    assert.deepEqual(await bridge.call("files.read", "{}"), { ok: false, error });
    assert.deepEqual(
      signals.map(({ aborted, reason }) => [aborted, reason instanceof GloveboxError && reason.code]),
      [[true, "UPSTREAM_TIMEOUT"]],
    );
    assert.equal(bridge.records()[0]?.outcome, "error");
  });
  it("the time limit of one call does not affect a call that is answered in time", async () => {
    const signals: AbortSignal[] = [];
    const invoke = async (_tool: Tool, _args: JsonObject, signal: AbortSignal): Promise<Json> => {
      signals.push(signal);
      await sleep(5);
      return 1;
    };
    const { bridge } = await openTestBridge({ limits: { callMs: 5_000 }, invoke });
    assert.deepEqual(await bridge.call("files.read", "{}"), { ok: true, json: "1" });
    assert.equal(signals[0]?.aborted, false);
  });
});

describe("the end of the program", () => {
  it("cancels the call under way and leaves its outcome unknown", async () => {
    const { invoke, signals } = silent();
    const { bridge, ended, ledger } = await openTestBridge({ invoke });
    const reply = bridge.call("files.write", "{}");
    while (signals.length === 0) await sleep(1);
    ended.abort();
    const message = "The program ended before files.write answered";
    const hint = "It is not known whether it took effect: look before you call it again";
    assert.deepEqual(await reply, { ok: false, error: { code: "REQUEST_CANCELLED", message, retry: false, hint } });
    assert.equal(signals[0]?.aborted, true);
    await bridge.recorded();
    const trace = { seq: 1, tool: "files.write", effect: "write", decision: "allow", outcome: "unknown" };
    assert.deepEqual(traceOf(bridge), [trace]);
    assert.deepEqual(
      (await ledger()).map(({ action }) => action),
      ["call.intended", "call.ended"],
    );
  });
  it("resolves `recorded` once every cancelled call has recorded its outcome", async () => {
    const { invoke, signals } = silent();
    const { bridge, ended, ledger } = await openTestBridge({ invoke, limits: { concurrentCalls: 2 } });
    for (let call = 0; call < 5; call += 1) void bridge.call("files.write", "{}");
    while (signals.length < 2) await sleep(1);
    ended.abort();
    await bridge.recorded();
    const ends = (await ledger()).filter(({ action }) => action === "call.ended");
    assert.equal(ends.length, 5);
  });
  it("keeps calls that wait for a slot from being sent", async () => {
    const { invoke, signals } = silent();
    const { bridge, ended } = await openTestBridge({ invoke, limits: { concurrentCalls: 1 } });
    const replies = [
      bridge.call("files.write", "{}"),
      bridge.call("files.write", "{}"),
      bridge.call("files.read", "{}"),
    ];
    while (signals.length === 0) await sleep(1);
    ended.abort();
    const codes = (await Promise.all(replies)).map((reply) => (reply.ok ? "ok" : reply.error.code));
    assert.deepEqual(codes, ["REQUEST_CANCELLED", "REQUEST_CANCELLED", "REQUEST_CANCELLED"]);
    assert.equal(signals.length, 1);
  });
});

describe("a ledger that cannot be written", () => {
  it("stops a write before it is sent and rejects the call", async () => {
    const { bridge, store, steps } = await openTestBridge();
    await store.close();
    await assert.rejects(bridge.call("files.write", "{}"), { code: "STORE_UNAVAILABLE" });
    assert.equal(steps.includes("invoke"), false);
    await assert.rejects(bridge.recorded(), { code: "STORE_UNAVAILABLE" });
  });
  it("rejects a refused call as well", async () => {
    const { bridge, store } = await openTestBridge();
    await store.close();
    await assert.rejects(bridge.call("files.remove", "{}"), { code: "STORE_UNAVAILABLE" });
  });
  it("rejects `recorded` when the record of an outcome is lost", async () => {
    const { bridge, store, write } = await openTestBridge();
    const lost = new GloveboxError("STORE_UNAVAILABLE", "The disk is full");
    await bridge.call("files.read", "{}");
    mock.method(store.ledger, "append", () => Promise.reject(lost), { times: 1 });
    await bridge.recorded();
    const ending = { actor: "agent", action: "execution.closed", subject: "ex", detail: {} };
    await assert.rejects(write(ending), { code: "STORE_UNAVAILABLE" });
    await assert.rejects(bridge.recorded(), { code: "STORE_UNAVAILABLE" });
    await write(ending); // the store works again, and nothing stands behind what was lost
  });
  it("frees the slots of the calls that it stopped", async () => {
    const { bridge, store } = await openTestBridge({ limits: { concurrentCalls: 1 } });
    await store.close();
    const calls = [bridge.call("files.write", "{}"), bridge.call("files.write", "{}")];
    assert.deepEqual(
      (await Promise.allSettled(calls)).map(({ status }) => status),
      ["rejected", "rejected"],
    );
  });
});
