/** Changes while an execution is suspended: tools, rules, approvals, its journal, and other gateways. */

import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { ExecutionResult } from "../../src/domain/index.ts";
import { OPERATOR, openDurableGateways, run, waitForState } from "../fixtures/durable-gateway.ts";
import type { DurableGateways, DurableGatewayOptions } from "../fixtures/durable-gateway.ts";

const CODE = `const first = await shop.put({ n: 1 }); const seen = await shop.look({ n: 2 });
  try { return [first.n, seen.n, (await shop.pay({ n: 3 })).n]; }
  catch (error) { return [error instanceof ToolError, error.code]; }`;
const DONE = [7, 14, 21];
const CALLS = ["put 1", "look 2", "pay 3"];

interface SuspendedExecution {
  readonly durable: DurableGateways;
  readonly paused: ExecutionResult;
}

/** Suspends an execution in a gateway that has ended since. */
async function suspend(
  options: DurableGatewayOptions = {},
  code = CODE,
): Promise<SuspendedExecution & AsyncDisposable> {
  const durable = await openDurableGateways(options);
  const gateway = await durable.open();
  const paused = await run(gateway, code);
  assert.equal(paused.state, "paused", JSON.stringify(paused.error));
  await gateway.close();
  return { durable, paused, [Symbol.asyncDispose]: () => durable[Symbol.asyncDispose]() };
}

async function approve({ durable, paused }: SuspendedExecution): Promise<void> {
  const approvals = await durable.openApprovals();
  for (const id of paused.approvals ?? []) await approvals.decide(id, { verdict: "approve" }, OPERATOR);
}

/** Approves it and resumes it in another gateway. */
async function approveAndResume(one: SuspendedExecution, rules: readonly object[] = []) {
  await approve(one);
  const gateway = await one.durable.open(rules);
  return waitForState(gateway, one.paused.execution, "completed", "failed");
}

/** Until the returned function is called, gateways that open cannot find the shop. */
function hideShop({ durable }: SuspendedExecution): () => void {
  const document = join(durable.folder, "shop.json");
  renameSync(document, `${document}.later`);
  return () => renameSync(`${document}.later`, document);
}

function change({ durable }: SuspendedExecution, ...statements: readonly string[]): void {
  const database = new DatabaseSync(durable.settings.store.path);
  for (const statement of statements) database.exec(statement);
  database.close();
}

/** Resolves once a gateway has resumed it. */
async function waitForResume({ durable }: SuspendedExecution): Promise<void> {
  const database = new DatabaseSync(durable.settings.store.path, { readOnly: true });
  const found = database.prepare("SELECT 1 FROM ledger WHERE action = 'execution.resumed'");
  while (!found.get()) await wait(10);
  await wait(300);
  database.close();
}

/** The ledger actions of the execution itself, without those of its calls. */
function listActions({ durable }: SuspendedExecution): readonly string[] {
  const database = new DatabaseSync(durable.settings.store.path, { readOnly: true });
  const rows = database.prepare("SELECT action FROM ledger WHERE action LIKE 'execution.%' ORDER BY seq").all();
  database.close();
  return rows.map(({ action }) => String(action).slice("execution.".length));
}

const PIECE = "(SELECT max(piece) FROM journals)";

describe("an execution that was suspended", { concurrency: 2 }, () => {
  test("a suspended execution completes when nothing has changed", async () => {
    await using one = await suspend();
    const view = await approveAndResume(one);
    assert.deepEqual([view.state, view.value, one.durable.shop.received], ["completed", DONE, CALLS]);
  });

  for (const [what, version] of [
    ["waits for", "second"],
    ["used", "second"],
  ] as const)
    test(`a suspended execution fails when a tool that it ${what} has another definition`, async () => {
      const code = what === "used" ? CODE : "return (await shop.pay({ n: 3 })).n;";
      await using one = await suspend({}, code);
      one.durable.writeShopDocument(version);
      const view = await approveAndResume(one);
      assert.deepEqual([view.state, view.error?.code], ["failed", "REPLAY_DIVERGED"]);
      const used = what === "used" ? /shop\.look, which call 2 used/ : /shop\.pay, which call 1 used/;
      assert.match(view.error?.message ?? "", used);
      assert.deepEqual(one.durable.shop.received, what === "used" ? CALLS.slice(0, 2) : []);
      assert.deepEqual(
        view.calls.map(({ tool, outcome }) => `${tool} ${outcome}`),
        what === "used" ? ["shop.put ok", "shop.look ok", "shop.pay pending"] : ["shop.pay pending"],
      );
    });

  test("a suspended execution waits for a server that is not ready yet after a restart", async () => {
    await using one = await suspend();
    const bringShop = hideShop(one);
    await approve(one);
    const gateway = await one.durable.open();
    await waitForResume(one);
    bringShop();
    const view = await waitForState(gateway, one.paused.execution, "completed", "failed");
    assert.deepEqual([view.error, view.value, one.durable.shop.received], [undefined, DONE, CALLS]);
  });

  test("a suspended execution writes no records while its server is away, and resumes once when it is back", async () => {
    await using one = await suspend();
    const bringShop = hideShop(one);
    await approve(one);
    const first = await one.durable.open();
    await waitForResume(one);
    await first.close();
    const second = await one.durable.open();
    const away = await waitForState(second, one.paused.execution, "paused");
    await wait(300);
    assert.deepEqual(
      [away.error?.code, listActions(one)],
      ["UPSTREAM_UNREACHABLE", ["opened", "paused", "resumed", "paused"]],
    );
    bringShop();
    const view = await waitForState(second, one.paused.execution, "completed", "failed");
    assert.deepEqual([view.error, view.value, one.durable.shop.received], [undefined, DONE, CALLS]);
    assert.deepEqual(listActions(one), ["opened", "paused", "resumed", "paused", "resumed", "closed"]);
  });

  test("a suspended execution obeys a new rule that denies, despite an earlier approval", async () => {
    await using one = await suspend();
    const view = await approveAndResume(one, [{ decision: "deny", tools: ["shop.pay"] }]);
    assert.deepEqual([view.value, one.durable.shop.received], [[true, "POLICY_DENIED"], CALLS.slice(0, 2)]);
  });

  test("a suspended execution receives a rejection when its approval expires", async () => {
    await using one = await suspend({ config: { approvals: { graceMs: 30, expiryMs: 400 } } });
    const gateway = await one.durable.open();
    const view = await waitForState(gateway, one.paused.execution, "completed", "failed");
    assert.deepEqual([view.value, one.durable.shop.received], [[true, "POLICY_APPROVAL_REJECTED"], CALLS.slice(0, 2)]);
  });

  test("a suspended execution receives a rejection when its approval or the decision is revoked", async () => {
    for (const isDecided of [false, true]) {
      await using one = await suspend();
      if (isDecided) await approve(one);
      const approvals = await one.durable.openApprovals();
      for (const id of one.paused.approvals ?? []) await approvals.revoke(id, OPERATOR);
      const gateway = await one.durable.open();
      const view = await waitForState(gateway, one.paused.execution, "completed", "failed");
      assert.deepEqual(
        [view.value, one.durable.shop.received],
        [[true, "POLICY_APPROVAL_REJECTED"], CALLS.slice(0, 2)],
      );
    }
  });

  test("a suspended execution resumes from a journal that is not kept after the end", async () => {
    await using one = await suspend({ config: { approvals: { graceMs: 30 }, journal: { keepMs: 0, totalBytes: 1 } } });
    assert.deepEqual((await approveAndResume(one)).value, DONE);
  });

  for (const [what, ...statements] of [
    ["gone", "DELETE FROM journals"],
    ["without its first part", "DELETE FROM journals WHERE piece = 0"],
    ["without a part", "DELETE FROM journals WHERE piece = 1"],
    ["without its last part", `DELETE FROM journals WHERE piece = ${PIECE}`],
    ["without all but its first part", "DELETE FROM journals WHERE piece > 0"],
    ["changed in one byte", `UPDATE journals SET sealed = randomblob(length(sealed)) WHERE piece = ${PIECE}`],
    [
      "in another order",
      "UPDATE journals SET piece = -1 WHERE piece = 1",
      "UPDATE journals SET piece = 1 WHERE piece = 2",
      "UPDATE journals SET piece = 2 WHERE piece = -1",
    ],
  ] as const)
    test(`a suspended execution fails with REPLAY_DIVERGED when its journal is ${what}`, async () => {
      await using one = await suspend();
      change(one, ...statements);
      const view = await approveAndResume(one);
      assert.deepEqual([view.state, view.error?.code], ["failed", "REPLAY_DIVERGED"], JSON.stringify(view));
      assert.deepEqual(one.durable.shop.received, CALLS.slice(0, 2));
    });

  test("an execution whose journal is too large is not suspended, and ends at its own time limit", async () => {
    const limits = { wallMs: 1_500 };
    const config = { approvals: { graceMs: 30 }, journal: { executionBytes: 1 }, sandbox: { limits } };
    await using durable = await openDurableGateways({ config });
    const result = await run(await durable.open(), CODE);
    assert.deepEqual([result.state, result.error?.code], ["failed", "LIMIT_TIME"]);
    const states = (await (await durable.openApprovals()).list({ execution: result.execution })).map(
      ({ state }) => state,
    );
    assert.deepEqual([states, durable.shop.received], [["revoked"], CALLS.slice(0, 2)]);
  });

  test("suspended executions resume one after the other when there is one worker", async () => {
    await using durable = await openDurableGateways({
      config: { approvals: { graceMs: 0 }, sandbox: { concurrency: 1, queue: 0 } },
    });
    const gateway = await durable.open();
    const all: ExecutionResult[] = [];
    for (let count = 0; count < 4; count += 1) all.push(await run(gateway, CODE));
    await Promise.all(all.map((paused) => approve({ durable, paused })));
    const views = await Promise.all(
      all.map(({ execution }) => waitForState(gateway, execution, "completed", "failed", "cancelled")),
    );
    assert.deepEqual(
      views.map(({ value, error }) => error ?? value),
      all.map(() => DONE),
    );
  });

  test("a suspended execution stays suspended when the gateway ends before it gets a worker", async () => {
    await using durable = await openDurableGateways({
      config: { approvals: { graceMs: 0 }, sandbox: { concurrency: 1 } },
    });
    const first = await durable.open();
    const paused = await run(first, CODE);
    const answer = durable.shop.hold("look 9");
    const other = run(first, "return await shop.look({ n: 9 });");
    await durable.shop.waitForRequest("look 9");
    await approve({ durable, paused });
    await waitForResume({ durable, paused });
    await first.close();
    answer();
    assert.equal((await other).state, "cancelled");
    const second = await durable.open();
    const view = await waitForState(second, paused.execution, "completed", "failed", "cancelled");
    assert.deepEqual(
      [view.error, view.value, durable.shop.received],
      [undefined, DONE, [...CALLS.slice(0, 2), "look 9", "pay 3"]],
    );
  });

  test("a suspended execution resumes in only one of two gateways", async () => {
    await using durable = await openDurableGateways();
    const gateways = [await durable.open(), await durable.open()] as const;
    const paused = await run(gateways[0], CODE);
    await approve({ durable, paused });
    const views = await Promise.all(gateways.map((one) => waitForState(one, paused.execution, "completed", "failed")));
    assert.deepEqual([views.map(({ value }) => value), durable.shop.received], [[DONE, DONE], CALLS]);
    const database = new DatabaseSync(durable.settings.store.path, { readOnly: true });
    const resumed = database.prepare("SELECT count(*) AS n FROM ledger WHERE action = 'execution.resumed'").get();
    database.close();
    assert.deepEqual({ ...resumed }, { n: 1 });
  });
});
