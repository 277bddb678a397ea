/** Kills at chosen moments: between a decision and its call, during a call, and when the disk fails. */

import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { ExecutionEvent, ExecutionId, ExecutionView } from "../../src/domain/index.ts";
import { openStore } from "../../src/store/index.ts";
import {
  AGENT,
  OPERATOR,
  begin,
  openDurableGateways,
  waitForPending,
  run,
  waitForState,
} from "../fixtures/durable-gateway.ts";
import type { DurableGateways } from "../fixtures/durable-gateway.ts";

const LONG = { config: { approvals: { graceMs: 60_000 } } };

const soon = (): Promise<void> => wait(10);

/** Waits until this many deliveries are in the journal. */
async function kept(durable: DurableGateways, execution: ExecutionId, count: number): Promise<void> {
  const journals = await durable.openJournals();
  for (let given = 0; given < count;) {
    given = (await journals.read(execution))?.deliveries.length ?? 0;
    await soon();
  }
}

/**
 * Recovers the execution on a copy of the current folder. Returns its end and the requests that reach the shop there.
 */
async function afterDeath(durable: DurableGateways, execution: ExecutionId, decide = false) {
  await using copy = durable.fork();
  if (decide) {
    const approvals = await copy.openApprovals();
    for (const { id } of await waitForPending(approvals, 1))
      await approvals.decide(id, { verdict: "approve" }, OPERATOR);
  }
  const view: ExecutionView = await waitForState(await copy.open(), execution, "completed", "failed");
  return { view, made: [...copy.shop.received] };
}

describe("a gateway that was killed", { concurrency: 2 }, () => {
  test("a gateway killed between a decision and its call makes that call after recovery", async () => {
    await using durable = await openDurableGateways(LONG);
    const { execution } = await begin(durable, "return (await shop.pay({ n: 1 })).n;");
    await waitForPending(await durable.openApprovals(), 1);
    const { view, made } = await afterDeath(durable, execution, true);
    assert.deepEqual([view.value, made], [7, ["pay 1"]]);
  });

  test("a gateway killed during an approved call reports the call and does not repeat it", async () => {
    await using durable = await openDurableGateways(LONG);
    const answer = durable.shop.hold("pay 2");
    const { execution } = await begin(durable, "await shop.put({ n: 1 }); return (await shop.pay({ n: 2 })).n;");
    const approvals = await durable.openApprovals();
    for (const { id } of await waitForPending(approvals, 1))
      await approvals.decide(id, { verdict: "approve" }, OPERATOR);
    await durable.shop.waitForRequest("pay 2");
    const { view, made } = await afterDeath(durable, execution);
    assert.deepEqual([view.state, view.error?.code, made], ["failed", "SANDBOX_CRASHED", []]);
    assert.match(view.error?.message ?? "", /shop\.pay \(call 2\): whether they took effect is unknown/);
    assert.deepEqual(
      view.calls.map(({ tool, outcome }) => `${tool} ${outcome}`),
      ["shop.put ok", "shop.pay unknown"],
    );
    answer();
  });

  for (const [operation, isRepeated] of [
    ["look", true],
    ["keep", true],
    ["put", false],
  ] as const)
    test(`a gateway killed during ${operation} ${isRepeated ? "repeats the call" : "reports the call"} after recovery`, async () => {
      await using durable = await openDurableGateways(LONG);
      const answer = durable.shop.hold(`${operation} 2`);
      const code = `const all = await Promise.all([shop.put({ n: 1 }), shop.${operation}({ n: 2 })]);
        return all.map(({ n }) => n);`;
      const { execution } = await begin(durable, code);
      await durable.shop.waitForRequest(`${operation} 2`);
      await kept(durable, execution, 1);
      const { view, made } = await afterDeath(durable, execution);
      const expected = isRepeated ? ["completed", [7, 14], [`${operation} 2`]] : ["failed", undefined, []];
      assert.deepEqual([view.state, view.value, made], expected, JSON.stringify([view.error, view.calls]));
      answer();
    });

  for (const [what, code, made] of [
    [
      "received a response",
      'const { n } = await shop.look({ n: 1 }); console.log("x"); return [n, Math.random()];',
      ["look 1"],
    ],
    ["only read its clock", 'const seen = [Math.random(), Date.now()]; console.log("x"); return seen;', []],
  ] as const)
    test(`a program that has ${what} before a kill sees the same after recovery, without new requests`, async () => {
      await using durable = await openDurableGateways(LONG);
      const gateway = await durable.open();
      let copy: DurableGateways | undefined;
      const onEvent = (event: ExecutionEvent): void => void (event.kind === "log" && (copy = durable.fork()));
      const { execution, value } = await gateway.execute({ principal: AGENT, source: code, onEvent });
      await using dead = copy ?? assert.fail("The program logged nothing");
      const view = await waitForState(await dead.open(), execution, "completed", "failed");
      assert.deepEqual([view.value, durable.shop.received, dead.shop.received], [value, made, []]);
    });

  test("viewing one execution during recovery resumes it once while others are closed", async () => {
    await using durable = await openDurableGateways(LONG);
    const requests = ["put 1", "put 2", "put 3", "look 4"];
    const answers = requests.map((request) => durable.shop.hold(request));
    const begun: ExecutionId[] = [];
    for (const [at, request] of requests.entries()) {
      const [operation] = request.split(" ");
      begun.push((await begin(durable, `return (await shop.${operation}({ n: ${at + 1} })).n;`)).execution);
      await durable.shop.waitForRequest(request);
    }
    await using copy = durable.fork();
    const gateway = await copy.open();
    const [, , , look = assert.fail()] = begun;
    await gateway.view({ principal: AGENT, execution: look, waitMs: 0 });
    for (const put of begun.slice(0, 3)) await waitForState(gateway, put, "failed");
    assert.equal((await waitForState(gateway, look, "completed", "failed")).value, 28);
    assert.deepEqual(copy.shop.received, ["look 4"]);
    for (const answer of answers) answer();
  });

  for (const isCut of [true, false])
    test(`an execution whose end was written ${isCut ? "only to the ledger" : "to the ledger and the store"} is not run again after recovery`, async () => {
      await using durable = await openDurableGateways(LONG);
      const { gateway, result, execution } = await begin(durable, "return (await shop.look({ n: 1 })).n;");
      const { value, calls } = await result;
      await gateway.close();
      await using copy = durable.fork(isCut ? [execution] : []);
      const view = await waitForState(await copy.open(), execution, "completed", "failed");
      const lost = "The execution completed, but Glovebox ended before its result was stored";
      assert.deepEqual([view.state, view.calls, copy.shop.received], ["completed", calls, []]);
      assert.deepEqual([view.value, view.error?.message], isCut ? [undefined, lost] : [value, undefined]);
      assert.deepEqual(await copy.listLedgerActions(execution), ["opened", "closed"]);
    });

  for (const [operation, isResumed] of [
    ["look", true],
    ["put", false],
  ] as const)
    test(`recovery releases the quotas and the worker of an execution that ${isResumed ? "is resumed" : "has failed"}`, async () => {
      const wallMs = 300_000;
      const quotas = { executionMsPerHour: wallMs, concurrentExecutions: 1 };
      await using durable = await openDurableGateways({
        config: { ...LONG.config, quotas, sandbox: { limits: { wallMs } } },
      });
      const answer = durable.shop.hold(`${operation} 1`);
      const { gateway, execution } = await begin(durable, `return (await shop.${operation}({ n: 1 })).n;`);
      await durable.shop.waitForRequest(`${operation} 1`);
      const refused = await run(gateway, "return 1");
      assert.equal(refused.error?.code, "LIMIT_QUOTA");
      await using copy = durable.fork();
      const next = await copy.open();
      const view = await waitForState(next, execution, "completed", "failed");
      assert.deepEqual([view.value, view.error?.code], isResumed ? [7, undefined] : [undefined, "SANDBOX_CRASHED"]);
      assert.equal((await run(next, "return 2")).value, 2);
      answer();
    });

  test("a gateway renews the quota lease of a running execution repeatedly", async () => {
    await using durable = await openDurableGateways(LONG);
    const answer = durable.shop.hold("look 1");
    const { execution } = await begin(durable, "return (await shop.look({ n: 1 })).n;");
    await durable.shop.waitForRequest("look 1");
    await using store = await openStore({ path: durable.settings.store.path, now: Date.now });
    for (const before of [0, 1]) {
      while (((await store.quotas.heldFor(execution)) ?? assert.fail("The execution holds no lease")) <= before * 1_000)
        await soon();
    }
    answer();
    while ((await store.quotas.heldFor(execution)) !== undefined) await soon();
  });

  test("a gateway whose disk fails makes no call that it could not record, and resumes after recovery", async () => {
    await using durable = await openDurableGateways(LONG);
    const answer = durable.shop.hold("look 2");
    const code = "await shop.put({ n: 1 }); await shop.look({ n: 2 }); return (await shop.put({ n: 3 })).n;";
    const { execution, result } = await begin(durable, code);
    await durable.shop.waitForRequest("look 2");
    await kept(durable, execution, 1);
    const { path } = durable.settings.store;
    renameSync(path, `${path}.away`);
    answer();
    const ended = await result.catch((thrown: unknown) => thrown as { readonly code: string });
    const error = "error" in ended ? ended.error : ended;
    assert.deepEqual(
      [error && "code" in error && error.code, durable.shop.received],
      ["STORE_UNAVAILABLE", ["put 1", "look 2"]],
    );
    renameSync(`${path}.away`, path);
    const { view, made } = await afterDeath(durable, execution);
    assert.deepEqual([view.value, made], [21, ["look 2", "put 3"]]);
  });
});
