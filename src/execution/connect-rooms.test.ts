/** Executions on connected rooms: a program runs, what others left is recovered, and closing stops everything. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { AGENT, EXECUTION, TOOLS, known, openTestBridge, snapshotOf } from "../../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_RULES } from "../analysis/index.ts";
import { DEFAULT_LIMITS, parseExecutionId, parseResultId } from "../domain/index.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import { timebox } from "../sandbox/index.ts";
import type { SandboxJob, SandboxResult } from "../sandbox/index.ts";
import { openStore } from "../store/index.ts";
import { digestOf } from "../text/index.ts";

import { connectRooms } from "./connect-rooms.ts";
import { NO_APPROVALS, NO_JOURNALS } from "./fixtures/durable.ts";
import { openExecutions } from "./open-executions.ts";
import { createResults } from "./results/create-results.ts";

const LEFT = known(parseExecutionId(`ex_${"9".repeat(24)}`));
const USAGE = { queueMs: 0, wallMs: 1, cpuMs: 1, peakMemoryBytes: 1, outputBytes: 1 };

async function connect(runJob: (job: SandboxJob) => Promise<SandboxResult>) {
  const store = await openStore({ path: ":memory:", now: () => 0 });
  const ledger = await openLedger({ store, now: () => 0 });
  const { bridge } = await openTestBridge();
  const visited: string[] = [];
  const createId = () => known(parseResultId(`rs_${"1".repeat(24)}`));
  const deps = connectRooms({
    store,
    ledger,
    journals: NO_JOURNALS,
    approvals: NO_APPROVALS,
    results: createResults({ store: store.results, now: () => 0, createId, keepMs: 9, totalBytes: 1_000 }),
    bridge: () => bridge,
    graceMs: 1,
    hasEnded: (owner) => owner === "dead",
    hide: (text) => text,
    isLasting: true,
    limits: DEFAULT_LIMITS,
    report: (thrown) => assert.fail(String(thrown)),
    createId: () => EXECUTION,
    createSeed: () => [1, 2, 3, 4],
    now: () => 0,
    owner: "here",
    analysis: { rules: DEFAULT_RULES, blockOnError: true, enabled: true, types: "warn" },
    timebox,
    catalog: { takeSnapshot: async () => snapshotOf(TOOLS) },
    policy: {
      view: (snapshot) => {
        visited.push("view");
        return snapshot;
      },
    },
    quotas: {
      take: async ({ kind, wallMs }) => {
        visited.push(`take ${kind}`);
        return { wallMs, release: async (usedMs) => void visited.push(`release ${usedMs}`) };
      },
      releaseLost: async (execution) => void visited.push(`release lost ${execution}`),
    },
    flows: { takeIn: async () => undefined, sourcesOf: () => [] },
    network: { has: () => false },
    secrets: {
      grantsOf: () => new Map(),
      tokensOf: () => undefined,
      noticeIn: async (_execution, { value }) => void visited.push(`notice ${JSON.stringify(value)}`),
    },
    telemetry: {
      traces: { begin: () => void visited.push("trace") },
      feed: { ended: (_execution, { state }) => void visited.push(`ended ${state}`) },
    },
    sandbox: { engine: "isolate", isolation: "process", run: runJob },
    check: async (program, { level }) => {
      visited.push(`check ${level}`);
      return { ok: true, program };
    },
  });
  return { deps, store, visited };
}

const BACKGROUND = { everyMs: 60_000, noteHeld: async () => undefined, onDecided: () => () => undefined };
const returnOne = async (): Promise<SandboxResult> => ({
  ending: { kind: "returned", value: 1 },
  logs: [],
  usage: USAGE,
});

test("connectRooms leads an execution through every room and reports its end", async () => {
  const { deps, store, visited } = await connect(returnOne);
  await using executions = openExecutions(deps, BACKGROUND);
  const { state, value, engine } = await executions.execute({ principal: AGENT, source: "return 1" });
  assert.deepEqual([state, value, engine], ["completed", 1, "isolate"]);
  assert.deepEqual(visited, [
    "trace",
    "take execution",
    "view",
    "check warn",
    "release 1",
    "notice 1",
    "ended completed",
  ]);
  assert.equal((await store.executions.find(EXECUTION))?.ending?.state, "completed");
});

test("connectRooms turns the type check off for a request that does not want it", async () => {
  const { deps, visited } = await connect(returnOne);
  await using executions = openExecutions(deps, BACKGROUND);
  await executions.execute({ principal: AGENT, source: "return 1", types: false });
  assert.ok(visited.includes("check off"));
});

test("openExecutions closes what a dead process left, and its disposal waits for that", async () => {
  const { deps, store, visited } = await connect(returnOne);
  const left = { id: LEFT, principal: AGENT.id, source: digestOf("1"), startedAt: 0, owner: "dead" };
  await store.executions.open({ ...left, sourceText: "1" });
  await openExecutions(deps, BACKGROUND)[Symbol.asyncDispose]();
  assert.equal((await store.executions.find(LEFT))?.ending?.errorCode, "SANDBOX_CRASHED");
  assert.ok(visited.includes(`release lost ${LEFT}`));
});

test("openExecutions cancels what runs when it is disposed, and refuses new requests", async () => {
  const { deps } = await connect(({ signal }) => {
    const ended = Promise.withResolvers<SandboxResult>();
    signal.addEventListener("abort", () => ended.resolve({ ending: { kind: "cancelled" }, logs: [], usage: USAGE }));
    return ended.promise;
  });
  const executions = openExecutions(deps, BACKGROUND);
  const opened = await executions.open({ principal: AGENT, source: "return 1" });
  assert.equal((await opened.answer({ patienceMs: 1 })).state, "running");
  await executions[Symbol.asyncDispose]();
  assert.equal((await opened.done).state, "cancelled");
  await assert.rejects(executions.open({ principal: AGENT, source: "1" }), { code: "REQUEST_CANCELLED" });
});

test("openExecutions plans a program without running or recording it", async () => {
  const { deps, store } = await connect(() => assert.fail("it runs"));
  await using executions = openExecutions(deps, BACKGROUND);
  const planned = await executions.plan({ principal: AGENT, source: "return await files.read({})" });
  assert.deepEqual(planned.ok && planned.plan.calls.map(({ tool }) => tool), ["files.read"]);
  assert.equal(await store.executions.find(EXECUTION), undefined);
});
