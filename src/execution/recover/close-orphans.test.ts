/** Executions whose last record was lost with their process get it at the next start, and only those. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { digestOf } from "../../text/index.ts";
import { openLedger } from "../../ledger/open-ledger.ts";
import type { Ledger } from "../../ledger/index.ts";
import { parseExecutionId, parsePrincipalId } from "../../domain/index.ts";
import type { Execution, ExecutionResult } from "../../domain/index.ts";
import { openUnlockedStore } from "../../store/fixtures/sample-seal.ts";

import { closeOrphans } from "./close-orphans.ts";
import { emptyResult } from "../settle.ts";

const CONTEXT = { engine: "isolate", isolation: "process", report: () => "in_1" } as const;

function create(n: number, owner: string): Execution {
  const [id, principal] = [parseExecutionId(`ex_${String(n).padStart(24, "0")}`), parsePrincipalId("local")];
  assert.ok(id && principal);
  return { id, principal, source: digestOf("1"), startedAt: n, owner };
}

const CASES = [
  { name: "ended in the store", owner: "dead", hasRow: true, hasEnding: true, isClosed: true },
  { name: "never reached the store", owner: "dead", hasRow: false, hasEnding: false, isClosed: true },
  { name: "did not end in the store either", owner: "dead", hasRow: true, hasEnding: false, isClosed: false },
  { name: "has a process that runs", owner: "alive", hasRow: true, hasEnding: true, isClosed: false },
] as const;

for (const { name, owner, hasRow, hasEnding, isClosed } of CASES) {
  test(`closeOrphans ${isClosed ? "closes" : "leaves"} an execution that ${name}`, async () => {
    await using store = await openUnlockedStore({ path: ":memory:", now: () => 7 });
    await using ledger = await openLedger({ store, now: () => 7 });
    const execution = create(1, owner);
    const result: ExecutionResult = emptyResult(execution, "completed", CONTEXT);
    const text = JSON.stringify(result);
    await ledger.write({ actor: "local", action: "execution.opened", subject: execution.id, detail: {} });
    if (hasRow) await store.executions.open({ ...execution, sourceText: "1" });
    if (hasEnding) await store.executions.close(execution.id, { endedAt: 1, state: "completed", result: text });
    const options = { store, ledger, hasEnded: (process: string) => process === "dead" };
    assert.deepEqual([await closeOrphans(options), await closeOrphans(options)], [isClosed ? 1 : 0, 0]);
    const [closed] = await store.ledger.search({ limit: 1, action: "execution.closed" });
    const lost = { state: "failed", code: "SANDBOX_CRASHED", late: true };
    const ended = { state: "completed", calls: 0, result: digestOf(text), wallMs: 0, cpuMs: 0, output: 0, late: true };
    const expected = hasEnding ? ended : lost;
    assert.deepEqual(closed && JSON.parse(closed.detail), isClosed ? expected : undefined);
  });
}

test("closeOrphans of two gateways that start at the same time writes one record", async () => {
  await using store = await openUnlockedStore({ path: ":memory:", now: () => 7 });
  await using one = await openLedger({ store, now: () => 7 });
  const executions = [1, 2, 3].map((n) => create(n, "dead"));
  for (const execution of executions) {
    const result = JSON.stringify(emptyResult(execution, "completed", CONTEXT));
    await one.write({ actor: "local", action: "execution.opened", subject: execution.id, detail: {} });
    if (execution.startedAt === 3) continue; // it never reached the store
    await store.executions.open({ ...execution, sourceText: "1" });
    await store.executions.close(execution.id, { endedAt: 1, state: "completed", result });
  }
  await using other = await openLedger({ store, now: () => 7 });
  const close = (ledger: Ledger): Promise<number> => closeOrphans({ store, ledger, hasEnded: () => true });
  const counts = await Promise.all([close(one), close(other), close(one)]);
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    executions.length,
  );
  const closed = await store.ledger.search({ limit: 10, action: "execution.closed" });
  assert.deepEqual(
    closed.map(({ subject }) => subject).toSorted(),
    executions.map(({ id }) => id),
  );
});
