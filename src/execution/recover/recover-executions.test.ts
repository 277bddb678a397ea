/** What a start does with executions that a dead process left open, on a real store and ledger. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as soon } from "node:timers/promises";

import { digestOf } from "../../text/index.ts";
import { openLedger } from "../../ledger/open-ledger.ts";
import { AGENT, known } from "../../../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_LIMITS, GloveboxError, parseExecutionId } from "../../domain/index.ts";
import type { Execution, ExecutionId, ExecutionResult } from "../../domain/index.ts";
import { openUnlockedStore } from "../../store/fixtures/sample-seal.ts";
import { recoverAll, recoverOne } from "./recover-executions.ts";
import type { RecoverDeps } from "./recover-executions.ts";
import { closeOrphans } from "./close-orphans.ts";
import { closeExecution } from "../execution-log.ts";
import { NOTHING_KEPT, NO_APPROVALS, NO_JOURNALS } from "../fixtures/durable.ts";
import { emptyResult } from "../settle.ts";
import { parseStoredResult } from "../journal-schema.ts";

const CONTEXT = { engine: "isolate", isolation: "process", hide: (text: string) => text } as const;
const REQUEST = { principal: AGENT, source: "1", limits: DEFAULT_LIMITS } as const;
const WHOLE = { request: REQUEST, deliveries: [], isWhole: true };
const CALL = { seq: 1, tool: "a.b", effect: "write", decision: "allow", outcome: "ok", ms: 1 } as const;
const idOf = (n: number): ExecutionId => known(parseExecutionId(`ex_${n.toString().padStart(24, "0")}`));
const hasEnded = (owner: string): boolean => owner === "dead";
const unreached = (): never => assert.fail("no execution is opened");

/** Executions have a complete journal when `isKept`. Resuming only records the request. */
async function open(isKept: boolean) {
  const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
  const ledger = await openLedger({ store, now: () => 7 });
  const resumed: unknown[] = [];
  const withdrawn: string[] = [];
  const settled: string[] = [];
  let searches = 0;
  const search: typeof store.ledger.search = (query) => {
    searches += 1;
    return store.ledger.search(query);
  };
  const deps: RecoverDeps = {
    ...CONTEXT,
    ...NOTHING_KEPT,
    journals: { ...NO_JOURNALS, read: async () => (isKept ? WHOLE : undefined) },
    store: { ...store, ledger: { search } },
    ledger,
    releaseQuota: async (id) => void settled.push(id),
    approvals: { ...NO_APPROVALS, withdraw: async (id) => void withdrawn.push(id) },
    owner: "here",
    isLasting: true,
    hasEnded,
    report: (thrown) => assert.fail(String(thrown)),
    log: {
      open: unreached,
      openOnce: unreached,
      refuse: unreached,
      close: (execution, result) => closeExecution(execution, result, { store, ledger, now: () => 8 }),
    },
    async resumeExecution({ id }, why, trail) {
      resumed.push([id, why, trail?.calls.length]);
      return undefined;
    },
    awaitUpstreams: () => assert.fail("no server is away"),
  };
  /** One that runs in a process that will be dead, with a call that was answered. */
  const begin = async (n: number): Promise<Execution> => {
    const execution = { id: idOf(n), principal: AGENT.id, source: digestOf("1"), startedAt: n, owner: "dead" };
    await store.executions.open({ ...execution, sourceText: "1" });
    await ledger.write({ actor: AGENT.id, action: "execution.opened", subject: execution.id, detail: {} });
    const detail = { execution: execution.id, seq: 1 };
    const intent = { ...detail, effect: "write", decision: "allow", idempotent: true };
    await ledger.write({ actor: AGENT.id, action: "call.intended", subject: "a.b", detail: intent });
    await ledger.write({
      actor: AGENT.id,
      action: "call.ended",
      subject: "a.b",
      detail: { ...detail, outcome: "ok", ms: 1 },
    });
    return execution;
  };
  const closings = async (id: ExecutionId) =>
    (await store.ledger.search({ execution: id, action: "execution.closed", limit: 9 })).map(
      ({ detail }) => JSON.parse(detail) as Readonly<Record<string, unknown>>,
    );
  const start = async (): Promise<void> => {
    await closeOrphans({ store, ledger, hasEnded });
    await recoverAll(deps);
  };
  return { store, ledger, deps, begin, start, closings, resumed, withdrawn, settled, count: () => searches };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** The process dies when the ledger has the end, and, unless `isCut`, the store too. */
async function end({ store, ledger, closings }: Opened, execution: Execution, result: Ended, isCut: boolean) {
  const close = async (id: ExecutionId): Promise<void> => {
    while ((await closings(id)).length === 0) await soon();
    throw new GloveboxError("STORE_UNAVAILABLE", "The disk is full");
  };
  const cut = { executions: { close } };
  const whole: ExecutionResult = { ...emptyResult(execution, "completed", CONTEXT), calls: [CALL], ...result };
  const closed = closeExecution(execution, whole, { store: isCut ? cut : store, ledger, now: () => 6 });
  await (isCut ? assert.rejects(closed, { code: "STORE_UNAVAILABLE" }) : closed);
  return whole;
}

type Ended = Partial<ExecutionResult>;
const STATS = { queueMs: 3, wallMs: 12, cpuMs: 4, peakMemoryBytes: 5, calls: 1, outputBytes: 6 };
const THREW = { code: "PROGRAM_THREW", message: "boom", retry: false } as const;
const CANCELLED = { code: "REQUEST_CANCELLED", message: "enough", retry: false } as const;
const ENDS: readonly (readonly [string, Ended, string])[] = [
  ["completed", { value: 7, stats: STATS }, "STORE_UNAVAILABLE"],
  ["failed", { state: "failed", error: THREW, stats: STATS }, "PROGRAM_THREW"],
  ["was cancelled", { state: "cancelled", error: CANCELLED, stats: STATS }, "REQUEST_CANCELLED"],
];

describe("an execution that the ledger has closed", () => {
  for (const [how, ended, code] of ENDS)
    for (const isKept of [true, false])
      it(`that ${how} is closed in the store at the next start, ${isKept ? "with" : "without"} a journal`, async () => {
        const opened = await open(isKept);
        const { store, begin, start, closings, resumed, withdrawn } = opened;
        const execution = await begin(1);
        const result = await end(opened, execution, ended, true);
        const before = await closings(execution.id);
        assert.equal((await store.executions.find(execution.id))?.ending, null);
        await start();
        await start();
        assert.deepEqual([before.length, await closings(execution.id), resumed], [1, before, []]);
        const { ending } = known(await store.executions.find(execution.id));
        const { state, error, calls, stats, value } = parseStoredResult(execution.id, known(ending?.result));
        assert.deepEqual([ending?.state, ending?.errorCode, ending?.endedAt], [result.state, result.error?.code, 7]);
        assert.deepEqual([state, error?.code, error?.retry, value], [result.state, code, false, undefined]);
        assert.match(error?.message ?? "", /Glovebox ended before its result was stored$/);
        assert.deepEqual([calls, stats.wallMs, stats.cpuMs, stats.calls], [[CALL], 12, 4, 1]);
        assert.deepEqual(withdrawn, [execution.id]);
      });

  it("keeps its stored result when the store has closed it, too", async () => {
    const opened = await open(true);
    const execution = await opened.begin(1);
    const result = await end(opened, execution, { value: 7 }, false);
    await opened.start();
    const { ending } = known(await opened.store.executions.find(execution.id));
    assert.deepEqual(parseStoredResult(execution.id, known(ending?.result)), result);
    assert.deepEqual([(await opened.closings(execution.id)).length, opened.resumed], [1, []]);
  });

  it("an execution that the ledger has closed is closed once when two processes recover it at the same time", async () => {
    const opened = await open(true);
    const execution = await opened.begin(1);
    await end(opened, execution, { value: 7 }, true);
    const [one, other] = await Promise.all([1, 2].map((n) => recoverOne(execution, { ...opened.deps, owner: `${n}` })));
    assert.deepEqual(
      [one ?? other, one && other].map((each) => each?.state),
      ["completed", undefined],
    );
    assert.equal((await opened.closings(execution.id)).length, 1);
  });
});

describe("recoverAll", () => {
  it("closes executions without a journal after one search of the ledger", async () => {
    const { store, begin, start, closings, resumed, settled, count } = await open(false);
    const left = [await begin(1), await begin(2), await begin(3)];
    await start();
    assert.deepEqual([count(), resumed], [1, []]);
    const ids = left.map(({ id }) => id);
    assert.deepEqual(settled, ids);
    for (const { id } of left) {
      const { state, errorCode, result } = (await store.executions.find(id))?.ending ?? assert.fail();
      assert.deepEqual([state, errorCode, parseStoredResult(id, result).calls], ["failed", "SANDBOX_CRASHED", [CALL]]);
      assert.deepEqual(
        (await closings(id)).map((closing) => closing["code"]),
        ["SANDBOX_CRASHED"],
      );
    }
  });

  it("records a missing opening before it closes an execution", async () => {
    const { store, start } = await open(false);
    const lost = { id: idOf(1), principal: AGENT.id, source: digestOf("1"), startedAt: 1, owner: "dead" };
    await store.executions.open({ ...lost, sourceText: "1" });
    await start();
    await start();
    const found = await store.ledger.search({ execution: lost.id, limit: 9 });
    assert.deepEqual(
      found.map(({ action }) => action),
      ["execution.closed", "execution.opened"],
    );
  });

  it("resumes executions with a complete journal, with the trails of one search", async () => {
    const { begin, start, closings, resumed, settled, count } = await open(true);
    const left = [await begin(1), await begin(2)];
    await start();
    assert.deepEqual([count(), settled], [1, []]);
    assert.deepEqual(
      resumed,
      left.map(({ id }) => [id, "restarted", 1]),
    );
    for (const { id } of left) assert.deepEqual(await closings(id), []);
  });

  it("closes an overdue execution and keeps the quota of a process that may still run", async () => {
    const { store, begin, deps, settled } = await open(false);
    const { id } = await begin(1);
    await store.executions.claim(id, { was: "open", from: "dead", by: "elsewhere" });
    const ended = await recoverOne((await store.executions.find(id)) ?? assert.fail(), deps);
    assert.deepEqual([ended?.state, settled], ["failed", []]);
  });

  it("recoverAll does not search the ledger when no process died", async () => {
    const { store, start, count } = await open(false);
    const alive = { id: idOf(1), principal: AGENT.id, source: digestOf("1"), startedAt: 1, owner: "alive" };
    await store.executions.open({ ...alive, sourceText: "1" });
    await start();
    assert.deepEqual([count(), (await store.executions.find(alive.id))?.ending], [0, null]);
  });
});
