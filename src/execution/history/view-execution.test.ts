/** Views of an execution: while it runs, after it ended, after a restart, and by another principal. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { digestOf } from "../../text/index.ts";
import { AGENT, EXECUTION, known } from "../../../test/fixtures/bridge/test-bridge.ts";
import { openLedger } from "../../ledger/open-ledger.ts";
import { APPROVAL } from "../../surfaces/mcp/fixtures/approval.ts";
import { GloveboxError, parseApprovalId, parseExecutionId, parsePrincipalId } from "../../domain/index.ts";
import type { Approval, ApprovalRequests, ExecutionResult } from "../../domain/index.ts";
import { openUnlockedStore } from "../../store/fixtures/sample-seal.ts";
import type { StoredExecution } from "../../store/index.ts";
import { NO_APPROVALS, NOTHING_KEPT, NO_JOURNALS } from "../fixtures/durable.ts";
import { closeLost } from "../recover/recover-executions.ts";
import { createExecutionLog } from "../execution-log.ts";
import { createRunningTable } from "../running-table.ts";
import { viewExecution } from "./view-execution.ts";

const OTHER = known(parsePrincipalId("other"));
const LINE = { level: "log", text: "so far", atMs: 1 } as const;
const RECORD = { seq: 1, tool: "a.b", effect: "read", decision: "allow", outcome: "ok", ms: 1 } as const;
const STATS = { queueMs: 0, wallMs: 0, cpuMs: 0, peakMemoryBytes: 0, calls: 0, outputBytes: 0 };
const EMPTY = {
  execution: EXECUTION,
  logs: [],
  calls: [],
  findings: [],
  stats: STATS,
  engine: "isolate",
  isolation: "process",
} as const;
const RESULT: ExecutionResult = { ...EMPTY, state: "completed", value: 1 };
const OPENING = {
  id: EXECUTION,
  principal: AGENT.id,
  source: digestOf("1"),
  sourceText: "1",
  startedAt: 100,
};

async function open(now = 200, approvals: Pick<ApprovalRequests, "find"> = NO_APPROVALS) {
  const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
  const ledger = await openLedger({ store, now: () => 0 });
  const running = createRunningTable((text) => text);
  const context = {
    engine: "isolate",
    isolation: "process",
    report: () => "in_1",
    hide: (text: string) => text,
  } as const;
  const log = createExecutionLog({
    store,
    ledger,
    now: () => 1,
    createId: () => EXECUTION,
    createSeed: () => [1, 2, 3, 4],
    owner: "here",
    hide: (text) => text,
    journals: NO_JOURNALS,
  });
  const hasEnded = (owner: string): boolean => owner === "dead";
  const base = {
    ...context,
    log,
    store,
    ledger,
    hasEnded,
    running,
    now: () => now,
    longestMs: 1_000,
    approvals: NO_APPROVALS,
    ...NOTHING_KEPT,
  };
  const rooms = { ...base, approvals, recoverOne: (stored: StoredExecution) => closeLost(stored, base) };
  const ask = (principal = AGENT.id, execution: unknown = EXECUTION, waitMs = 1) =>
    viewExecution({ principal, execution, waitMs, signal: new AbortController().signal }, rooms);
  return { store, running, ask };
}

const isNotFound = (error: unknown): boolean => error instanceof GloveboxError && error.code === "REQUEST_NOT_FOUND";

/** One that has logged and called, and runs until `resolve`. */
async function start() {
  const test = await open();
  const { promise, resolve } = Promise.withResolvers<ExecutionResult>();
  const client = new AbortController();
  const entry = test.running.enter({ principal: AGENT.id, signal: client.signal });
  const done = entry.start(EXECUTION, () => promise);
  entry.onEvent({ kind: "log", line: LINE });
  entry.onEvent({ kind: "answered", record: RECORD });
  return { ...test, done, resolve, client, signal: entry.signal };
}

describe("viewExecution of a running execution", () => {
  it("returns logs and calls so far after the wait", async () => {
    const { ask } = await start();
    assert.deepEqual(await ask(), { ...EMPTY, state: "running", logs: [LINE], calls: [RECORD] });
  });
  it("waits for the result, which is the same object", async () => {
    const { ask, done, resolve } = await start();
    const asked = ask(AGENT.id, EXECUTION, 60_000);
    resolve(RESULT);
    assert.deepEqual([await asked, await done], [RESULT, RESULT]);
  });
  it("sees an execution that the client or an operator cancelled", async () => {
    const byId = await start();
    assert.deepEqual([byId.signal.aborted, byId.running.isIdle()], [false, false]);
    byId.running.cancel(known(parseExecutionId(`ex_${"9".repeat(24)}`)), "ada");
    assert.equal(byId.signal.aborted, false);
    byId.running.cancel(EXECUTION, "ada");
    assert.equal(byId.signal.reason.message, "The execution was cancelled by ada");
    byId.resolve(RESULT);
    await byId.done;
    assert.equal(byId.running.isIdle(), true);
    const byClient = await start();
    byClient.client.abort("enough");
    assert.equal(byClient.signal.reason, "enough");
  });
  it("rejects another principal", async () => {
    const { ask } = await start();
    await assert.rejects(ask(OTHER), isNotFound);
  });
  it("viewExecution of a running execution does not find an execution that could not be recorded", async () => {
    const { running, ask } = await open();
    const failed = new GloveboxError("STORE_UNAVAILABLE", "gone");
    const done = running.enter({ principal: AGENT.id }).start(EXECUTION, () => Promise.reject(failed));
    await assert.rejects(done, { code: "STORE_UNAVAILABLE" });
    await assert.rejects(ask(), isNotFound);
  });
});

describe("viewExecution of a stored execution", () => {
  it("returns the stored result to its own principal only", async () => {
    const { store, ask } = await open();
    await store.executions.open(OPENING);
    await store.executions.close(EXECUTION, { endedAt: 2, state: "completed", result: JSON.stringify(RESULT) });
    assert.deepEqual(await ask(), RESULT);
    await assert.rejects(ask(OTHER), isNotFound);
  });
  it("waits for the process that resumes a suspended execution after a decision, and not before one", async () => {
    const approval = known(parseApprovalId(`ap_${"0".repeat(24)}`));
    const paused: ExecutionResult = { ...EMPTY, state: "paused", approvals: [approval] };
    let state: Approval["state"] = "pending";
    const { store, ask } = await open(200, { find: async () => ({ ...APPROVAL, state }) });
    await store.executions.open(OPENING);
    await store.executions.close(EXECUTION, { endedAt: 2, state: "paused", result: JSON.stringify(paused) });
    assert.deepEqual(await ask(AGENT.id, EXECUTION, 60_000), paused);
    state = "approved";
    const asked = ask(AGENT.id, EXECUTION, 60_000);
    assert.equal(await store.executions.claim(EXECUTION, { was: "paused", from: undefined, by: "alive" }), true);
    await store.executions.close(EXECUTION, { endedAt: 3, state: "completed", result: JSON.stringify(RESULT) });
    assert.deepEqual(await asked, RESULT);
  });
  it("closes an execution of a dead process as failed, once", async () => {
    const { store, ask } = await open();
    await store.executions.open({ ...OPENING, owner: "dead" });
    const { error, ...rest } = await ask();
    assert.deepEqual([rest, error?.code], [{ ...EMPTY, state: "failed" }, "SANDBOX_CRASHED"]);
    assert.equal((await store.executions.find(EXECUTION))?.ending?.state, "failed");
    assert.deepEqual(await ask(), { ...rest, error });
    await assert.rejects(ask(OTHER), isNotFound);
  });
  it("shows an execution of another process as running, until the longest time is over", async () => {
    for (const [now, state] of [
      [1_100, "running"],
      [1_101, "failed"],
    ] as const) {
      const { store, ask } = await open(now);
      await store.executions.open({ ...OPENING, owner: "alive" });
      assert.equal((await ask()).state, state);
    }
  });
  it("rejects an unknown execution and an invalid id", async () => {
    const { ask } = await open();
    await assert.rejects(ask(), isNotFound);
    for (const name of ["", "ex_1", 7, undefined]) await assert.rejects(ask(AGENT.id, name), isNotFound);
  });
});
