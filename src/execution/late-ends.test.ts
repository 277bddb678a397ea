/** Ends that the store refuses are written once it accepts them, exactly once, and only by the owner of the execution. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { setImmediate as soon } from "node:timers/promises";

import { AGENT, EXECUTION } from "../../test/fixtures/bridge/test-bridge.ts";
import { GloveboxError } from "../domain/index.ts";
import type { ExecutionResult } from "../domain/index.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import { openUnlockedStore } from "../store/fixtures/sample-seal.ts";
import { digestOf } from "../text/index.ts";
import { closeExecution } from "./execution-log.ts";
import { createLateEnds } from "./late-ends.ts";
import { emptyResult } from "./settle.ts";

const OPENING = { id: EXECUTION, principal: AGENT.id, source: digestOf("1"), startedAt: 1, owner: "here" };
const COMPLETED = { ...emptyResult(OPENING, "completed", { engine: "isolate", isolation: "process" }), value: 7 };
const unreached = (): never => assert.fail("nothing is opened");

/** `refuse` decides which writes of an end the store refuses. */
async function open(refuse: { store?: boolean; ledger?: boolean }, waitMs?: number) {
  const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
  const ledger = await openLedger({ store, now: () => 0 });
  await store.executions.open({ ...OPENING, sourceText: "1" });
  await ledger.write({ actor: AGENT.id, action: "execution.opened", subject: EXECUTION, detail: {} });
  const full = (): never => {
    throw new GloveboxError("STORE_UNAVAILABLE", "The disk is full");
  };
  const executions: typeof store.executions = {
    ...store.executions,
    close: async (...given) => (refuse.store === true ? full() : store.executions.close(...given)),
  };
  const writes = {
    write: async (...given: Parameters<typeof ledger.write>) =>
      refuse.ledger === true ? full() : ledger.write(...given),
  };
  const leaving = new AbortController();
  const suspended: string[] = [];
  const reports: unknown[] = [];
  const late = createLateEnds({
    log: {
      open: unreached,
      openOnce: unreached,
      refuse: unreached,
      close: (execution, result) =>
        closeExecution(execution, result, { store: { executions }, ledger: writes, now: () => 2 }),
    },
    store: { executions, ledger: store.ledger },
    ledger: writes,
    now: () => 2,
    leaving: leaving.signal,
    pauseMs: 1,
    ...(waitMs !== undefined && { waitMs }),
    report: (thrown) => reports.push(thrown),
    onSuspended: (id) => suspended.push(id),
  });
  const ends = async () => ({
    state: (await store.executions.find(EXECUTION))?.ending?.state,
    records: (await store.ledger.search({ execution: EXECUTION, action: "execution", limit: 9 })).map(
      ({ action }) => action,
    ),
  });
  return { store, late, leaving, ends, suspended, reports };
}

const CLOSED = { state: "completed", records: ["execution.closed", "execution.opened"] };

for (const refused of [{ store: true, ledger: true }, { store: true }, { ledger: true }])
  it(`close waits while ${Object.keys(refused).join(" and ")} refuse the end, and writes it once`, async () => {
    const refuse = { ...refused };
    const { late, ends, reports } = await open(refuse);
    let isClosed = false;
    const closed = late.log.close(OPENING, COMPLETED).then(() => (isClosed = true));
    while (reports.length === 0) await soon();
    assert.equal(isClosed, false);
    Object.assign(refuse, { store: false, ledger: false });
    await closed;
    assert.deepEqual(await ends(), CLOSED);
    assert.equal(reports.length, 1);
  });

it("close of an end that is accepted reports nothing", async () => {
  const { late, ends, reports } = await open({});
  await late.log.close(OPENING, COMPLETED);
  assert.deepEqual([await ends(), reports], [CLOSED, []]);
});

it("close rejects after its wait, and the end is still written", async () => {
  const refuse = { store: true, ledger: true };
  const { late, ends } = await open(refuse, 1);
  await assert.rejects(late.log.close(OPENING, COMPLETED), { code: "STORE_UNAVAILABLE" });
  Object.assign(refuse, { store: false, ledger: false });
  while ((await ends()).records.length < 2) await soon();
  assert.deepEqual(await ends(), CLOSED);
  await late[Symbol.asyncDispose]();
});

it("a gateway that closes tries once more and then gives up", async () => {
  const refuse = { store: true, ledger: true };
  const { late, leaving, ends, reports } = await open(refuse);
  const closed = late.log.close(OPENING, COMPLETED);
  while (reports.length === 0) await soon();
  leaving.abort();
  await assert.rejects(closed, { code: "STORE_UNAVAILABLE" });
  await late[Symbol.asyncDispose]();
  assert.deepEqual(await ends(), { state: undefined, records: ["execution.opened"] });
});

it("a suspension that is written late is announced, because its decision may have come before", async () => {
  const refuse = { store: true, ledger: true };
  const { late, ends, suspended, reports } = await open(refuse);
  const paused: ExecutionResult = { ...emptyResult(OPENING, "paused", COMPLETED), approvals: [] };
  const closed = late.log.close(OPENING, paused);
  while (reports.length === 0) await soon();
  Object.assign(refuse, { store: false, ledger: false });
  await closed;
  assert.deepEqual(
    [await ends(), suspended],
    [{ state: "paused", records: ["execution.paused", "execution.opened"] }, [EXECUTION]],
  );
});

it("an execution that another process has claimed is left to it", async () => {
  const refuse = { store: true, ledger: true };
  const { store, late, ends, reports } = await open(refuse);
  const closed = late.log.close(OPENING, COMPLETED);
  while (reports.length === 0) await soon();
  assert.equal(await store.executions.claim(EXECUTION, { was: "open", from: "here", by: "there" }), true);
  Object.assign(refuse, { store: false, ledger: false });
  await closed;
  assert.deepEqual(await ends(), { state: undefined, records: ["execution.opened"] });
});

it("any other failure of close rejects at once", async () => {
  const { late, reports } = await open({});
  await late.log.close(OPENING, COMPLETED);
  await assert.rejects(late.log.close(OPENING, COMPLETED), { code: "REQUEST_CONFLICT" });
  assert.deepEqual(reports, []);
});
