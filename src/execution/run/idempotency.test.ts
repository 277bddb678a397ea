/** Requests with a key, on a real store: one execution however often they arrive, and what a dead process leaves. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { AGENT, known } from "../../../test/fixtures/bridge/test-bridge.ts";
import { openLedger } from "../../ledger/open-ledger.ts";
import { DEFAULT_LIMITS, parseExecutionId } from "../../domain/index.ts";
import type { ExecutionResult } from "../../domain/index.ts";
import { openUnlockedStore } from "../../store/fixtures/sample-seal.ts";
import type { StoredExecution } from "../../store/index.ts";
import { recoverAll, recoverOne } from "../recover/recover-executions.ts";
import type { RecoverDeps } from "../recover/recover-executions.ts";
import { NO_APPROVALS, NOTHING_KEPT, NO_JOURNALS } from "../fixtures/durable.ts";
import { createExecutionLog } from "../execution-log.ts";
import type { ExecutionOpening } from "../execution-log.ts";
import type { ExecuteInput, ExecutionRequest } from "../requests.ts";
import { createRunningTable } from "../running-table.ts";
import type { Admission } from "./admit-request.ts";
import { createIdempotency } from "./idempotency.ts";
import { viewExecution } from "../history/view-execution.ts";
import { emptyResult } from "../settle.ts";

const CONTEXT = {
  engine: "isolate",
  isolation: "process",
  report: () => "in_1",
  hide: (text: string) => text,
} as const;

/** One store, and processes on it. */
async function openProcesses() {
  const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
  const ledger = await openLedger({ store, now: () => 0 });
  const dead = new Set<string>();
  let ids = 0;
  const createId = () => known(parseExecutionId(`ex_${(ids += 1).toString().padStart(24, "0")}`));

  /** Sends a request; `act` is what its program comes to. */
  const start = (owner: string) => {
    const log = createExecutionLog({
      store,
      ledger,
      now: () => 1,
      createId,
      createSeed: () => [1, 2, 3, 4],
      owner,
      hide: (text) => text,
      journals: NO_JOURNALS,
    });
    const running = createRunningTable((text) => text);
    const none = () => assert.fail("no journal exists");
    const deps: RecoverDeps = {
      ...CONTEXT,
      ...NOTHING_KEPT,
      log,
      store,
      ledger,
      owner,
      hasEnded: (name: string) => dead.has(name),
      approvals: NO_APPROVALS,
      isLasting: true,
      resumeExecution: none,
      awaitUpstreams: none,
    };
    const viewDeps = {
      ...deps,
      running,
      now: () => 2,
      longestMs: 1_000,
      recoverOne: (stored: StoredExecution) => recoverOne(stored, deps),
    };
    const openOnce = createIdempotency({
      log,
      findHolder: (principal, key) => store.executions.findHolder(principal, key),
      view: (principal, { execution }, signal) => viewExecution({ principal, execution, waitMs: 1, signal }, viewDeps),
    });
    const open = (act: Act, { wanted = {}, idempotencyKey: key = "k", refusal, ...change }: Change = {}) => {
      const request = { ...REQUEST, ...change };
      const entry = running.enter({ principal: AGENT.id });
      const begin = ({ execution }: ExecutionOpening) => {
        const done = entry.start(execution.id, async () => {
          const result = { ...emptyResult(execution, "completed", CONTEXT), ...(await act()) };
          await log.close(execution, result);
          return result;
        });
        return { id: execution.id, done };
      };
      const admit = async (): Promise<Admission> =>
        refusal
          ? { ok: false, result: refusal }
          : { ok: true, id: createId(), admit: () => assert.fail("it is admitted"), abandon: async () => undefined };
      return openOnce({ request, key, wanted, admit, start: begin });
    };
    const send = async (act: Act, change?: Change) => (await open(act, change)).done;
    return { open, send, recover: () => recoverAll(deps) };
  };
  const end = (owner: string): void => void dead.add(owner);
  return { start, end, store, ledger };
}

type Act = () => Promise<Partial<ExecutionResult>>;
type Change = Partial<ExecutionRequest> &
  Pick<ExecuteInput, "idempotencyKey"> & {
    readonly wanted?: ExecuteInput["limits"];
    readonly refusal?: ExecutionResult;
  };

const REQUEST: ExecutionRequest = {
  principal: AGENT,
  source: "1",
  limits: DEFAULT_LIMITS,
  signal: new AbortController().signal,
};

/** Counts how often it was carried out. */
function counted(result: Partial<ExecutionResult> = { value: 1 }) {
  let times = 0;
  const act: Act = async () => ({ ...result, ...((times += 1) > 1 && { value: "twice" }) });
  return { act, times: () => times };
}

const BUSY = { code: "LIMIT_BUSY", message: "busy", retry: true } as const;
const CALL = { seq: 1, tool: "a.b", effect: "write", decision: "allow", outcome: "ok", ms: 1 } as const;

describe("a request with a key", () => {
  it("runs once for concurrent and later requests, also from another process", async () => {
    const { start } = await openProcesses();
    const { act, times } = counted();
    const here = start("here");
    const results = await Promise.all([here.send(act), here.send(act), start("there").send(act)]);
    results.push(await here.send(act), await start("later").send(act));
    assert.deepEqual(new Set(results.map(({ execution, value }) => `${execution} ${JSON.stringify(value)}`)).size, 1);
    assert.equal(times(), 1);
  });
  it("runs again with another key, and conflicts when only the key is the same", async () => {
    const { start } = await openProcesses();
    const { act, times } = counted();
    const { send } = start("here");
    await send(act);
    await send(act, { idempotencyKey: "other" });
    assert.equal(times(), 2);
    const conflict = { code: "REQUEST_CONFLICT" };
    await assert.rejects(send(act, { source: "2" }), conflict);
    await assert.rejects(send(act, { input: 1 }), conflict);
    await assert.rejects(send(act, { networkPolicy: { mode: "blocked" } }), conflict);
    await assert.rejects(send(act, { dryRun: true }), conflict);
    await assert.rejects(start("there").send(act, { wanted: { calls: 1 } }), conflict);
    const first = send(act, { idempotencyKey: "third" });
    await assert.rejects(send(act, { idempotencyKey: "third", source: "2" }), conflict);
    await first;
    assert.equal(times(), 3);
  });
  it("runs again after a retryable failure before its first call", async () => {
    const { start } = await openProcesses();
    const { send } = start("here");
    await send(counted({ state: "failed", error: BUSY }).act);
    assert.equal((await send(counted().act)).value, 1);
    assert.equal((await send(counted({ value: 2 }).act)).value, 1);
  });
  it("runs again for a waiting request when the first was cancelled before its first call", async () => {
    const { start } = await openProcesses();
    const { send } = start("here");
    const gone = Promise.withResolvers<Partial<ExecutionResult>>();
    const first = send(() => gone.promise);
    const second = send(counted().act);
    gone.resolve({ state: "cancelled" });
    assert.deepEqual([(await first).state, (await second).value], ["cancelled", 1]);
    assert.equal((await send(counted({ value: 2 }).act)).value, 1);
  });
  it("continues for other requests when one that waits is cancelled", async () => {
    const { start } = await openProcesses();
    const { send } = start("here");
    const gone = new AbortController();
    const ended = Promise.withResolvers<Partial<ExecutionResult>>();
    const first = send(() => ended.promise);
    const second = send(counted().act, { signal: gone.signal });
    gone.abort();
    await assert.rejects(second, { code: "REQUEST_CANCELLED" });
    ended.resolve({ value: 1 });
    assert.equal((await first).value, 1);
  });
  it("a request with a key is the same request when only the limits of the operator changed", async () => {
    const { start } = await openProcesses();
    await start("here").send(counted().act);
    const { act, times } = counted();
    await start("later").send(act, { limits: { ...DEFAULT_LIMITS, wallMs: 5 } });
    assert.equal(times(), 0);
  });
  it("a request with a key does not run again after a call, or after a failure that would repeat", async () => {
    const { start } = await openProcesses();
    const { send } = start("here");
    await send(counted({ state: "failed", error: BUSY, calls: [CALL] }).act);
    assert.deepEqual((await send(counted().act)).error, BUSY);
    const wrong = { ...BUSY, code: "PROGRAM_SYNTAX", retry: false } as const;
    await send(counted({ state: "failed", error: wrong }).act, { idempotencyKey: "b" });
    assert.deepEqual((await send(counted().act, { idempotencyKey: "b" })).error, wrong);
  });
  it("a request with a key has an id as soon as it is open, the same one for a second request", async () => {
    const { start } = await openProcesses();
    const ended = Promise.withResolvers<Partial<ExecutionResult>>();
    const { open } = start("here");
    const act: Act = () => ended.promise;
    const opened = await Promise.all([open(act), open(act), start("there").open(act)]);
    assert.equal(new Set(opened.map(({ id }) => id)).size, 1);
    ended.resolve({ value: 1 });
    const results = await Promise.all(opened.map(({ done }) => done));
    assert.deepEqual(
      results.map(({ value }) => value),
      [1, 1, 1],
    );
  });
  it("names the execution that replaced another one which had done nothing", async () => {
    const { start, end } = await openProcesses();
    const first = await start("first").open(() => new Promise(() => undefined));
    const second = await start("second").open(counted().act);
    assert.equal(second.id, first.id);
    end("first");
    const { execution, value } = await second.done;
    assert.deepEqual([value, execution === second.id, second.id === first.id], [1, true, false]);
  });
  it("a request that is refused does not take its key, and one whose key is held is not refused", async () => {
    const { start, store } = await openProcesses();
    const { send } = start("here");
    const id = known(parseExecutionId(`ex_${"f".repeat(24)}`));
    const refusal: ExecutionResult = { ...emptyResult({ id }, "failed", CONTEXT), error: BUSY };
    assert.deepEqual(await send(counted().act, { refusal }), refusal);
    assert.deepEqual(await store.executions.list({ limit: 9 }), []);
    assert.equal((await send(counted().act)).value, 1);
    assert.equal((await send(counted().act, { refusal })).value, 1);
  });
  it("a request with a key has a key of 1 to 256 characters", async () => {
    const { start } = await openProcesses();
    const { send } = start("here");
    for (const key of ["k".repeat(255), "k".repeat(256)]) await send(counted().act, { idempotencyKey: key });
    for (const key of ["", "k".repeat(257)])
      await assert.rejects(send(counted().act, { idempotencyKey: key }), { code: "REQUEST_INVALID" });
  });
});

describe("an execution whose process died", () => {
  const NEVER: Act = () => new Promise(() => undefined);
  const intend = (seq: number, effect: string, decision = "allow") => ({
    actor: "agent",
    action: "call.intended",
    subject: `a.${effect}`,
    detail: { execution: `ex_${"1".padStart(24, "0")}`, seq, effect, decision },
  });
  const rehearse = (seq: number) => {
    const intended = intend(seq, "write");
    return { ...intended, detail: { ...intended.detail, dryRun: true } };
  };
  const answer = (seq: number) => ({
    ...intend(seq, "x"),
    action: "call.ended",
    detail: { execution: `ex_${"1".padStart(24, "0")}`, seq, outcome: "ok", ms: 2 },
  });

  it("an execution whose process died is closed by the next process with its unknown calls, and never runs again", async () => {
    const { start, end, ledger, store } = await openProcesses();
    void start("first").send(NEVER);
    await store.ledger.search({ limit: 1 });
    for (const record of [
      intend(1, "write"),
      answer(1),
      intend(2, "read"),
      intend(3, "write"),
      intend(4, "destroy", "ask"),
      rehearse(5),
    ])
      await ledger.write(record);
    const { send, recover } = start("second");
    await recover();
    assert.equal((await store.executions.listUnfinished()).length, 1, "it may live as long as its process does");
    end("first");
    await recover();
    assert.deepEqual(await store.executions.listUnfinished(), []);
    const { act, times } = counted();
    const { state, error, calls } = await send(act);
    assert.deepEqual(
      [state, error?.code, error?.retry, times(), calls.map(({ seq, outcome }) => [seq, outcome])],
      [
        "failed",
        "SANDBOX_CRASHED",
        false,
        0,
        [
          [1, "ok"],
          [2, "error"],
          [3, "unknown"],
          [4, "pending"],
          [5, "error"],
        ],
      ],
    );
    assert.match(error?.message ?? "", /; a\.write \(call 3\): whether they took effect is unknown$/);
  });
  it("runs again under its key when it had not called anything", async () => {
    const { start, end } = await openProcesses();
    void start("first").send(NEVER);
    end("first");
    const { act, times } = counted();
    assert.deepEqual([(await start("second").send(act)).value, times()], [1, 1]);
  });
});
