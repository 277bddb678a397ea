/** Executions on connected rooms: a program runs, what others left is recovered, and closing stops everything. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { AGENT, EXECUTION, TOOLS, known, openTestBridge, snapshotOf } from "../../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_RULES } from "../analysis/index.ts";
import { DEFAULT_LIMITS, GloveboxError, defined, parseExecutionId, parseResultId } from "../domain/index.ts";
import type { ErrorCode } from "../domain/index.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import { timebox } from "../sandbox/index.ts";
import type { SandboxJob, SandboxResult } from "../sandbox/index.ts";
import { openUnlockedStore } from "../store/fixtures/sample-seal.ts";
import { digestOf } from "../text/index.ts";

import { connectRooms } from "./connect-rooms.ts";
import { NO_APPROVALS, NO_JOURNALS } from "./fixtures/durable.ts";
import { openExecutions } from "./open-executions.ts";
import { createResults } from "./results/create-results.ts";

const LEFT = known(parseExecutionId(`ex_${"9".repeat(24)}`));
const USAGE = { queueMs: 0, wallMs: 1, cpuMs: 1, peakMemoryBytes: 1, outputBytes: 1, switches: 0 };

interface Refusals {
  readonly checkQueue?: (coming: number) => void;
  readonly checkSpace?: () => Promise<void>;
  readonly checkQuota?: () => void;
}

async function connect(runJob: (job: SandboxJob) => Promise<SandboxResult>, refusals: Refusals = {}) {
  const { checkQueue = () => undefined, checkSpace = async () => undefined, checkQuota } = refusals;
  const store = { ...(await openUnlockedStore({ path: ":memory:", now: () => 0 })), checkSpace };
  const ledger = await openLedger({ store, now: () => 0 });
  const { bridge } = await openTestBridge();
  const visited: string[] = [];
  let ids = 0;
  const createId = () => known(parseResultId(`rs_${"1".repeat(24)}`));
  const deps = connectRooms({
    store,
    ledger,
    journals: NO_JOURNALS,
    approvals: NO_APPROVALS,
    results: createResults({ store: store.results, now: () => 0, createId, keepMs: 9, totalBytes: 1_000 }),
    bridge: () => bridge,
    graceMs: 1,
    identity: { resolve: async () => undefined },
    hasEnded: (owner) => owner === "dead",
    hide: (text) => text,
    isLasting: true,
    limits: DEFAULT_LIMITS,
    report: (thrown) => assert.fail(String(thrown)),
    createId: () => ((ids += 1) === 1 ? EXECUTION : known(parseExecutionId(`ex_${ids.toString().padStart(24, "0")}`))),
    createSeed: () => [1, 2, 3, 4],
    now: () => 0,
    owner: "here",
    analysis: { rules: DEFAULT_RULES, blockOnError: true, enabled: true, types: "warn", typeCheck: "before" },
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
        checkQuota?.();
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
    sandbox: { engine: "isolate", isolation: "process", run: runJob, checkQueue },
    retention: { stored: () => undefined, ended: () => void visited.push("retention") },
    check: async (program, { level, principal }) => {
      visited.push(`check ${level} for ${principal.id}`);
      return { ok: true, program };
    },
  });
  return { deps, store, visited };
}

const BACKGROUND = {
  everyMs: 60_000,
  quotas: { noteHeld: async () => undefined },
  approvals: { onDecided: () => () => undefined },
};
const returnOne = async (): Promise<SandboxResult> => ({
  ending: { kind: "returned", value: 1 },
  logs: [],
  usage: USAGE,
  engine: "isolate",
});

test("connectRooms leads an execution through every room and reports its end", async () => {
  const { deps, store, visited } = await connect(returnOne);
  await using executions = openExecutions(deps, BACKGROUND);
  const { state, value, engine } = await executions.execute({ principal: AGENT, source: "return 1" });
  assert.deepEqual([state, value, engine], ["completed", 1, "isolate"]);
  assert.deepEqual(visited, [
    "take execution",
    "trace",
    "view",
    "check warn for agent",
    "release 1",
    "notice 1",
    "retention",
    "ended completed",
  ]);
  assert.equal((await store.executions.find(EXECUTION))?.ending?.state, "completed");
});

test("connectRooms turns the type check off for a request that does not want it", async () => {
  const { deps, visited } = await connect(returnOne);
  await using executions = openExecutions(deps, BACKGROUND);
  await executions.execute({ principal: AGENT, source: "return 1", types: false });
  assert.ok(visited.includes("check off for agent"));
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
    signal.addEventListener("abort", () =>
      ended.resolve({ ending: { kind: "cancelled" }, logs: [], usage: USAGE, engine: "isolate" }),
    );
    return ended.promise;
  });
  const executions = openExecutions(deps, BACKGROUND);
  const opened = await executions.open({ principal: AGENT, source: "return 1" });
  assert.equal((await opened.answer({ patienceMs: 1 })).state, "running");
  await executions[Symbol.asyncDispose]();
  assert.equal((await opened.done).state, "cancelled");
  await assert.rejects(executions.open({ principal: AGENT, source: "1" }), { code: "REQUEST_CANCELLED" });
});

const refuseWith = (code: ErrorCode) => (): never => {
  throw new GloveboxError(code, "no", { hint: "later" });
};
const REFUSALS: readonly (readonly [string, Refusals, ErrorCode])[] = [
  ["a quota", { checkQuota: refuseWith("LIMIT_QUOTA") }, "LIMIT_QUOTA"],
  ["the queue", { checkQueue: refuseWith("LIMIT_BUSY") }, "LIMIT_BUSY"],
  ["too little space", { checkSpace: async () => refuseWith("STORE_UNAVAILABLE")() }, "STORE_UNAVAILABLE"],
];
for (const [what, refusals, code] of REFUSALS)
  test(`a request that is refused by ${what} stores one small record and nothing else`, async () => {
    const { deps, store, visited } = await connect(() => assert.fail("it runs"), refusals);
    await using executions = openExecutions(deps, BACKGROUND);
    const request = { principal: AGENT, source: "return 1", input: "x".repeat(100_000) };
    for (const idempotencyKey of [undefined, "k"]) {
      const { state, error } = await executions.execute({ ...request, ...defined({ idempotencyKey }) });
      const expected = { code, message: "no", retry: true, hint: "later" };
      assert.deepEqual([state, error], ["failed", expected]);
    }
    assert.deepEqual(await store.executions.list({ limit: 9 }), []);
    assert.equal(await store.executions.findHolder(AGENT.id, "k"), undefined);
    const records = await store.ledger.search({ limit: 9 });
    assert.deepEqual(
      records.map(({ action, actor, detail }) => [action, actor, JSON.parse(detail)]),
      [1, 2].map(() => ["execution.refused", AGENT.id, { source: digestOf("return 1"), code }]),
    );
    assert.ok(records.every(({ detail }) => detail.length < 200));
    assert.ok(visited.includes("ended failed"), "metrics count it");
  });

test("tool calls without a program are refused by a quota before anything is stored, and not by the queue", async () => {
  const calls = [{ address: "files.read", args: {} }];
  const refused = await connect(returnOne, { checkQuota: refuseWith("LIMIT_QUOTA") });
  await using executions = openExecutions(refused.deps, BACKGROUND);
  const { result, replies } = await executions.callTools({ principal: AGENT, calls });
  assert.deepEqual([result.error?.code, replies], ["LIMIT_QUOTA", []]);
  assert.deepEqual(await refused.store.executions.list({ limit: 9 }), []);
  const busy = await connect(returnOne, { checkQueue: refuseWith("LIMIT_BUSY") });
  await using others = openExecutions(busy.deps, BACKGROUND);
  await others.callTools({ principal: AGENT, calls });
  assert.equal((await busy.store.executions.list({ limit: 9 })).length, 1);
});

test("requests of one moment count for the queue before their programs reach it", async () => {
  const PLACES = 3;
  const checkQueue = (coming: number): void => {
    if (coming >= PLACES) throw new GloveboxError("LIMIT_BUSY", "no");
  };
  const { deps, store } = await connect(returnOne, { checkQueue });
  await using executions = openExecutions(deps, BACKGROUND);
  const send = () => executions.execute({ principal: AGENT, source: "return 1" });
  const results = await Promise.all(Array.from({ length: PLACES + 2 }, send));
  assert.deepEqual(
    results.map(({ error, value }) => error?.code ?? value),
    [1, 1, 1, "LIMIT_BUSY", "LIMIT_BUSY"],
  );
  assert.equal((await store.executions.list({ limit: 9 })).length, PLACES);
  assert.equal((await send()).value, 1, "the others have left the queue");
});

test("openExecutions plans a program without running or recording it", async () => {
  const { deps, store } = await connect(() => assert.fail("it runs"));
  await using executions = openExecutions(deps, BACKGROUND);
  const planned = await executions.plan({ principal: AGENT, source: "return await files.read({})" });
  assert.deepEqual(planned.ok && planned.plan.calls.map(({ tool }) => tool), ["files.read"]);
  assert.equal(await store.executions.find(EXECUTION), undefined);
});
