/** What cancels a request and its execution, and what a client gets when its patience ends first. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { AGENT, EXECUTION, known } from "../../test/fixtures/bridge/test-bridge.ts";
import { parseExecutionId } from "../domain/index.ts";
import type { ExecutionEvent, ExecutionResult } from "../domain/index.ts";
import { createRunningTable } from "./running-table.ts";
import { emptyResult } from "./settle.ts";

const OPENED: ExecutionEvent = { kind: "opened", execution: EXECUTION };
const LINE: ExecutionEvent = { kind: "log", line: { level: "log", text: "one", atMs: 1 } };
const FOREVER_MS = 600_000;
const RESULT = emptyResult({ id: EXECUTION }, "completed", { engine: "isolate", isolation: "process" });

/** An execution that a test ends, and the answer to a client with this patience. */
function start(patienceMs: number, client = new AbortController()) {
  const table = createRunningTable((text) => text);
  const work = Promise.withResolvers<ExecutionResult>();
  const events: ExecutionEvent[] = [];
  const reported: unknown[] = [];
  const onEvent = (event: ExecutionEvent): void => void events.push(event);
  const entry = table.enter({ principal: AGENT.id, signal: client.signal, onEvent });
  const done = entry.start(EXECUTION, () => work.promise);
  done.then(entry.leave, entry.leave);
  const answer = entry.answerWithin({ done }, { patienceMs }, (thrown) => void reported.push(thrown));
  return { table, entry, answer, work, events, reported, client };
}

describe("an execution within the client's patience", () => {
  it("returns its result to the client", async () => {
    const { answer, work, events } = start(FOREVER_MS);
    work.resolve(RESULT);
    assert.deepEqual(await answer, RESULT);
    assert.deepEqual(events, [OPENED]);
  });
  it("rejects when it fails, without a report", async () => {
    const { answer, work, reported } = start(FOREVER_MS);
    work.reject(new Error("gone"));
    await assert.rejects(answer, { message: "gone" });
    assert.deepEqual(reported, []);
  });
  it("an execution within the client's patience is cancelled by the client's signal, also if it fired before", async () => {
    const { entry, client, work } = start(FOREVER_MS);
    assert.equal(entry.signal.aborted, false);
    client.abort("enough");
    assert.deepEqual([entry.signal.aborted, entry.signal.reason], [true, "enough"]);
    const late = new AbortController();
    late.abort("early");
    const second = start(FOREVER_MS, late);
    assert.equal(second.entry.signal.reason, "early");
    for (const ended of [work, second.work]) ended.resolve(RESULT);
  });
});

describe("an execution beyond the client's patience", () => {
  it("continues whatever the client does, and sends it no more events", async () => {
    const { entry, answer, work, events, client } = start(0);
    assert.equal(await answer, undefined);
    client.abort();
    entry.onEvent(LINE);
    assert.deepEqual([entry.signal.aborted, events], [false, [OPENED]]);
    work.resolve(RESULT);
  });
  it("counts the patience from the request, not from the opening of the execution", async () => {
    const table = createRunningTable((text) => text);
    const entry = table.enter({ principal: AGENT.id });
    await sleep(30);
    const pending = { id: EXECUTION, done: new Promise<ExecutionResult>(() => undefined) };
    assert.equal(await entry.answerWithin(pending, { patienceMs: 20 }, () => undefined), undefined);
    const ended = { id: EXECUTION, done: Promise.resolve(RESULT) };
    assert.deepEqual(await entry.answerWithin(ended, { patienceMs: 20 }, () => undefined), RESULT);
  });
  it("ends the patience early when `until` fires", async () => {
    const { entry, work } = start(FOREVER_MS);
    const until = new AbortController();
    const pending = { id: EXECUTION, done: new Promise<ExecutionResult>(() => undefined) };
    const answer = entry.answerWithin(pending, { patienceMs: FOREVER_MS, until: until.signal }, () => undefined);
    until.abort();
    assert.equal(await answer, undefined);
    work.resolve(RESULT);
  });
  it("reports a failure that no client waits for", async () => {
    const { answer, work, reported } = start(0);
    await answer;
    const failure = new Error("not recorded");
    work.reject(failure);
    await new Promise((soon) => setImmediate(soon));
    assert.deepEqual(reported, [failure]);
  });
});

describe("the running table", () => {
  it("lists an execution from its start to its end", async () => {
    const { table, work, answer } = start(FOREVER_MS);
    assert.deepEqual([table.isIdle(), table.find(EXECUTION)?.principal], [false, AGENT.id]);
    work.resolve(RESULT);
    await answer;
    assert.deepEqual([table.isIdle(), table.find(EXECUTION)], [true, undefined]);
  });
  it("cancels every request at shutdown, waits for them, and refuses new ones", async () => {
    const { table, entry, work } = start(FOREVER_MS);
    const closed = table.close(FOREVER_MS);
    assert.equal(entry.signal.reason.message, "Glovebox is shutting down");
    assert.throws(() => table.enter({ principal: AGENT.id }), { code: "REQUEST_CANCELLED" });
    work.resolve(RESULT);
    await closed;
    const stuck = start(FOREVER_MS);
    const alive = setInterval(() => undefined, 1_000);
    await stuck.table.close(1);
    clearInterval(alive);
    assert.equal(stuck.table.isIdle(), false);
    stuck.work.resolve(RESULT);
  });
  it("cancels an execution by its id in the name of the operator", () => {
    const { table, entry, work } = start(FOREVER_MS);
    table.cancel(known(parseExecutionId(`ex_${"9".repeat(24)}`)), "ada");
    assert.equal(entry.signal.aborted, false);
    table.cancel(EXECUTION, "ada");
    assert.equal(entry.signal.reason.message, "The execution was cancelled by ada");
    work.resolve(RESULT);
  });
});

describe("an event of a running execution", () => {
  it("an event of a running execution is redacted once, for the client and for views of the execution", async () => {
    const passed: string[] = [];
    const hide = (text: string): string => {
      passed.push(text);
      return text.replaceAll("s3cret", "[secret]");
    };
    const table = createRunningTable(hide);
    const work = Promise.withResolvers<ExecutionResult>();
    const events: ExecutionEvent[] = [];
    const entry = table.enter({ principal: AGENT.id, onEvent: (event) => void events.push(event) });
    const done = entry.start(EXECUTION, () => work.promise);
    const call = { seq: 1, tool: "a.s3cret", effect: "read", decision: "deny", outcome: "error", ms: 1 } as const;
    entry.onEvent({ kind: "log", line: { level: "log", text: "a s3cret", atMs: 1 } });
    entry.onEvent({ kind: "answered", record: call });
    const { logs = [], calls = [] } = table.find(EXECUTION) ?? {};
    assert.deepEqual([logs[0]?.text, calls[0]?.tool], ["a [secret]", "a.[secret]"]);
    assert.equal(JSON.stringify(events).includes("s3cret"), false);
    assert.deepEqual(passed, ["a s3cret", "a.s3cret"]);
    work.resolve(RESULT);
    await done;
    entry.leave();
  });
});
