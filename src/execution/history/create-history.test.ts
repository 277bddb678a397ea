/** What an operator reads of executions, and how one ends on an operator's word, on a real store and ledger. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { digestOf } from "../../text/index.ts";
import { openLedger } from "../../ledger/open-ledger.ts";
import { AGENT, known } from "../../../test/fixtures/bridge/test-bridge.ts";
import { GloveboxError, defined, describeError, parseExecutionId } from "../../domain/index.ts";
import type { ExecutionId, ExecutionResult } from "../../domain/index.ts";
import { openUnlockedStore } from "../../store/fixtures/sample-seal.ts";
import type { Store } from "../../store/index.ts";
import { createExecutionLog } from "../execution-log.ts";
import { NO_JOURNALS } from "../fixtures/durable.ts";
import { emptyResult, toCancelReason } from "../settle.ts";
import { createControl } from "./create-history.ts";

const CONTEXT = { engine: "isolate", isolation: "process" } as const;
const idOf = (n: number): ExecutionId => known(parseExecutionId(`ex_${n.toString().padStart(24, "0")}`));
const BY_ADA = describeError(toCancelReason("ada"));

/** `beforeClaim` is called before an execution without a process is claimed. */
async function open(beforeClaim?: (executions: Store["executions"], id: ExecutionId) => Promise<void>) {
  const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
  const ledger = await openLedger({ store, now: () => 0 });
  const withdrawn: string[] = [];
  const settled: string[] = [];
  let clock = 1_000;
  const now = (): number => (clock += 1);
  const hide = (text: string): string => text;
  let ids = 0;
  const record = createExecutionLog({
    store,
    ledger,
    now,
    createId: () => idOf((ids += 1)),
    createSeed: () => [1, 2, 3, 4],
    owner: "alive",
    hide,
    journals: NO_JOURNALS,
  });
  const claim: Store["executions"]["claim"] = async (id, ownership) => {
    await beforeClaim?.(store.executions, id);
    return store.executions.claim(id, ownership);
  };
  const control = createControl({
    ...CONTEXT,
    store: { ...store, executions: { ...store.executions, claim } },
    ledger,
    now,
    owner: "ada's terminal",
    hasEnded: (owner) => owner === "dead",
    unlock: async () => undefined,
    withdraw: async (id) => void withdrawn.push(id),
    releaseQuota: async (id) => void settled.push(id),
  });
  /** The next execution, of the process named. */
  const start = async (owner: string): Promise<ExecutionId> => {
    const opening = { id: idOf((ids += 1)), principal: AGENT.id, source: digestOf("1"), startedAt: ids, owner };
    await store.executions.open({ ...opening, sourceText: "return 1" });
    await ledger.write({ actor: AGENT.id, action: "execution.opened", subject: opening.id, detail: {} });
    return opening.id;
  };
  const finish = async (id: ExecutionId, over: Partial<ExecutionResult>): Promise<void> =>
    record.close(known(await store.executions.find(id)), { ...emptyResult({ id }, "completed", CONTEXT), ...over });
  const intend = (execution: ExecutionId, seq: number, effect: string, decision = "allow") => {
    const detail = { execution, seq, effect, decision };
    return ledger.write({ actor: AGENT.id, action: "call.intended", subject: "files.write", detail });
  };
  const actions = async (subject: string): Promise<readonly string[]> =>
    (await store.ledger.search({ subject, limit: 100 })).map(({ action, actor }) => `${action} ${actor}`).toReversed();
  return { store, ledger, control, start, finish, intend, actions, withdrawn, settled };
}

describe("the history", () => {
  it("lists executions newest first, by page and by state", async () => {
    const { control, start, finish } = await open();
    const [one, two, three] = [await start("alive"), await start("alive"), await start("alive")];
    await finish(two, { state: "failed", error: { code: "LIMIT_TIME", message: "too long", retry: false } });
    await finish(three, {});
    const list = async (page: Parameters<typeof control.list>[0]) =>
      (await control.list(page)).map(({ id, state, errorCode }) => [id, state, errorCode]);
    const lines = [
      [three, "completed", null],
      [two, "failed", "LIMIT_TIME"],
      [one, "running", null],
    ];
    assert.deepEqual(await list({ limit: 9 }), lines);
    assert.deepEqual(await list({ limit: 2 }), lines.slice(0, 2));
    assert.deepEqual(await list({ limit: 9, before: two }), lines.slice(2));
    for (const line of lines) assert.deepEqual(await list({ limit: 9, state: line[1] as "failed" }), [line]);
    assert.deepEqual(await list({ limit: 9, state: "paused" }), []);
  });

  it("shows everything but the result without the key, and passes on any other failure of the store", async () => {
    const { store, control, start, finish, intend } = await open();
    const ended = await start("alive");
    await intend(ended, 1, "write");
    await finish(ended, { state: "failed", value: 7, error: { code: "LIMIT_TIME", message: "m", retry: false } });
    const lock = (code: "CONFIG_INVALID" | "STORE_UNAVAILABLE"): void => {
      const open = (): never => {
        throw new GloveboxError(code, "no key", { hint: "Restore the key file" });
      };
      store.unlock({ close: open, open, openBytes: open });
    };
    lock("CONFIG_INVALID");
    const { sealed, source, state, errorCode, result } = await control.show(ended);
    assert.deepEqual([source, state, errorCode], ["return 1", "failed", "LIMIT_TIME"]);
    assert.deepEqual([result.state, result.value, result.error], ["failed", undefined, undefined]);
    assert.deepEqual(
      result.calls.map(({ tool }) => tool),
      ["files.write"],
    );
    assert.deepEqual([sealed?.code, sealed?.hint], ["CONFIG_INVALID", "Restore the key file"]);
    lock("STORE_UNAVAILABLE");
    await assert.rejects(control.show(ended), { code: "STORE_UNAVAILABLE" });
  });

  it("shows an ended execution with its result and a running one with its calls so far", async () => {
    const { control, start, finish, intend } = await open();
    const [ended, running] = [await start("alive"), await start("alive")];
    await finish(ended, { value: 7 });
    await intend(running, 1, "write");
    const shown = await control.show(ended);
    const { endedAt, ...rest } = shown;
    assert.equal(typeof endedAt, "number");
    assert.deepEqual(rest, {
      id: ended,
      principal: AGENT.id,
      startedAt: 1,
      state: "completed",
      errorCode: null,
      source: "return 1",
      result: { ...emptyResult({ id: ended }, "completed", CONTEXT), value: 7 },
      approvals: [],
      times: [],
    });
    const { state, result, times } = await control.show(running);
    assert.deepEqual(times, [{ seq: 1, startedAt: 0 }]);
    assert.deepEqual(
      [state, result.state, result.calls.map(({ outcome }) => outcome)],
      ["running", "running", ["pending"]],
    );
  });

  it("rejects an unknown execution and an invalid id", async () => {
    const { control } = await open();
    for (const name of [idOf(7), "", "ex_1", "x".repeat(100_000)]) {
      await assert.rejects(control.show(name), { code: "REQUEST_NOT_FOUND" });
      await assert.rejects(control.cancel(name, "ada"), { code: "REQUEST_NOT_FOUND" });
    }
  });
});

describe("cancelling", () => {
  it("requests the cancellation and waits until the running process has ended it", async () => {
    const { store, control, start, finish, actions } = await open();
    const id = await start("alive");
    const cancelled = control.cancel(id, "ada");
    while ((await store.cancellations.list()).length === 0) await wait(5);
    const [{ execution, askedBy } = assert.fail()] = await store.cancellations.list();
    assert.deepEqual([execution, askedBy], [id, "ada"]);
    await finish(id, { state: "cancelled", error: BY_ADA });
    assert.equal((await cancelled).state, "cancelled");
    const told = ["execution.opened", "execution.cancelled ada", "execution.closed"];
    assert.deepEqual(await actions(id), [`${told[0]} ${AGENT.id}`, told[1], `${told[2]} ${AGENT.id}`]);
  });

  it("closes an execution of a dead process with the outcomes of its calls", async () => {
    const { control, start, intend, actions, withdrawn, settled } = await open();
    const id = await start("dead");
    await intend(id, 1, "write");
    const { state, result } = await control.cancel(id, "ada");
    assert.deepEqual(
      [state, result.error, result.calls.map(({ outcome }) => outcome)],
      ["cancelled", BY_ADA, ["unknown"]],
    );
    assert.deepEqual((await actions(id)).slice(1), ["execution.cancelled ada", `execution.closed ${AGENT.id}`]);
    assert.deepEqual([withdrawn, settled], [[id], [id]]);
  });

  it("keeps the end that the ledger has when the process could not store it", async () => {
    const { store, ledger, control, start, actions, withdrawn } = await open();
    const id = await start("dead");
    const detail = { state: "completed", calls: 0, wallMs: 3, cpuMs: 2 };
    await ledger.write({ actor: AGENT.id, action: "execution.closed", subject: id, detail });
    const { state, errorCode, result } = await control.cancel(id, "ada");
    assert.deepEqual([state, errorCode, result.error?.code], ["completed", null, "STORE_UNAVAILABLE"]);
    const told = [`execution.opened ${AGENT.id}`, `execution.closed ${AGENT.id}`, "execution.cancelled ada"];
    assert.deepEqual([await actions(id), withdrawn], [told, [id]]);
    assert.equal((await store.executions.find(id))?.ending?.state, "completed");
  });

  it("closes a suspended execution, keeps its result and withdraws its approvals", async () => {
    const { store, control, start, intend, withdrawn, settled } = await open();
    const id = await start("alive");
    await intend(id, 1, "write", "ask");
    const line = { level: "log", text: "so far", atMs: 1 } as const;
    const paused = { ...emptyResult({ id }, "paused", CONTEXT), logs: [line], approvals: [] };
    await store.executions.close(id, { endedAt: 5, state: "paused", result: JSON.stringify(paused) });
    const { result } = await control.cancel(id, "ada");
    const { calls, ...rest } = result;
    const { calls: _, ...expected } = emptyResult({ id }, "cancelled", CONTEXT);
    assert.deepEqual(rest, { ...expected, logs: [line], error: BY_ADA });
    assert.deepEqual(
      calls.map(({ outcome }) => outcome),
      ["error"],
    );
    const [ended] = await store.ledger.search({ action: "call.ended", limit: 9 });
    assert.deepEqual(JSON.parse(ended?.detail ?? ""), {
      execution: id,
      seq: 1,
      outcome: "error",
      code: "REQUEST_CANCELLED",
    });
    assert.deepEqual([withdrawn, settled], [[id], []]);
  });

  it("leaves an execution to the process that resumes it at the same moment, which then ends it", async () => {
    const { store, control, start, finish, actions } = await open(async (executions, id) => {
      await executions.claim(id, { was: "paused", from: "dead", by: "alive" });
    });
    const id = await start("dead");
    const paused = JSON.stringify(emptyResult({ id }, "paused", CONTEXT));
    await store.executions.close(id, { endedAt: 5, state: "paused", result: paused });
    const cancelled = control.cancel(id, "ada");
    while ((await store.executions.find(id))?.owner !== "alive") await wait(5);
    await finish(id, { state: "cancelled", error: BY_ADA });
    assert.equal((await cancelled).state, "cancelled");
    const closings = (await actions(id)).filter((action) => action.startsWith("execution.closed"));
    assert.equal(closings.length, 1);
  });

  it("refuses to cancel an execution that has ended, and changes nothing", async () => {
    const { control, start, finish, actions } = await open();
    const id = await start("alive");
    await finish(id, {});
    await assert.rejects(control.cancel(id, "ada"), { code: "REQUEST_CONFLICT" });
    assert.deepEqual(await actions(id), [`execution.opened ${AGENT.id}`, `execution.closed ${AGENT.id}`]);
  });
});

describe("a page of the history", () => {
  it("has a next one until the list ends", async () => {
    const { control, start } = await open();
    for (let n = 0; n < 3; n += 1) await start("alive");
    const first = await control.page({ limit: 2 });
    assert.equal(first.executions.length, 2);
    const second = await control.page({ limit: 2, ...defined({ before: first.next }) });
    assert.deepEqual([second.executions.length, second.next], [1, undefined]);
  });

  it("searches a part of the list at a time, and misses nothing", async () => {
    const { control, store } = await open();
    const place = (n: number) => ({ id: idOf(n), principal: AGENT.id, source: digestOf("1"), startedAt: n });
    const rows = Array.from({ length: 10_003 }, (_, at) => at + 1);
    const found = (n: number) => [1, 5_002, 10_003].includes(n);
    await Promise.all(
      rows.map((n) => store.executions.open({ ...place(n), sourceText: found(n) ? "needle" : "return 1" })),
    );
    const pages: (readonly string[])[] = [];
    let before: ExecutionId | undefined;
    do {
      const page = await control.page({ limit: 50, search: "needle", ...defined({ before }) });
      pages.push(page.executions.map(({ id }) => id));
      before = page.next;
    } while (before !== undefined);
    assert.deepEqual(pages, [[idOf(10_003)], [idOf(5_002)], [idOf(1)]]);
  });
});
