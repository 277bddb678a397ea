/** Kills while a skill runs, between its calls: what it did is known, and nothing is repeated. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { ExecutionId } from "../../src/domain/index.ts";
import { openOperatorRecords } from "../../src/open-records.ts";
import { OPERATOR, begin, openDurableGateways, waitForPending, waitForState } from "../fixtures/durable-gateway.ts";
import type { DurableGateways } from "../fixtures/durable-gateway.ts";
import { toTexts } from "../fixtures/skill-gateway.ts";

const LONG = { config: { approvals: { graceMs: 60_000 } } };

async function openWithSkill(tools: readonly string[], run: string): Promise<DurableGateways> {
  const durable = await openDurableGateways(LONG);
  const files = Object.entries(toTexts("one", { tools, run }));
  await (await durable.open()).skills.submit(new Map(files.map(([path, text]) => [path, Buffer.from(text)])), OPERATOR);
  await using records = await openOperatorRecords(durable.settings);
  await records.skills.approve({ name: "one" }, OPERATOR);
  return durable;
}

/** Waits until the skill was given this many replies. */
async function received(durable: DurableGateways, execution: ExecutionId, count: number): Promise<void> {
  const journals = await durable.openJournals();
  const countNow = async () => (await journals.read(execution))?.frames?.[0]?.deliveries.length ?? 0;
  while ((await countNow()) < count) await wait(10);
}

async function afterDeath(durable: DurableGateways, execution: ExecutionId) {
  await using copy = durable.fork();
  const view = await waitForState(await copy.open(), execution, "completed", "failed");
  return { view, made: [...copy.shop.received] };
}

const PROGRAM = "await shop.put({ n: 9 }); return await skills.one({})";

describe("a gateway that is killed while a skill runs", { concurrency: 2 }, () => {
  for (const [operation, isRepeated] of [
    ["look", true],
    ["keep", true],
    ["put", false],
  ] as const)
    test(`${isRepeated ? "repeats" : "reports"} its ${operation} after recovery, and makes no earlier call again`, async () => {
      const run = `const a = await shop.put({ n: 1 }); const b = await shop.${operation}({ n: 2 }); return [a.n, b.n]`;
      await using durable = await openWithSkill(["shop.put", ...(isRepeated ? [`shop.${operation}`] : [])], run);
      const answer = durable.shop.hold(`${operation} 2`);
      const { execution } = await begin(durable, PROGRAM);
      await durable.shop.waitForRequest(`${operation} 2`);
      await received(durable, execution, 1);
      const { view, made } = await afterDeath(durable, execution);
      const expected = isRepeated ? ["completed", [7, 14], [`${operation} 2`]] : ["failed", undefined, []];
      assert.deepEqual([view.state, view.value, made], expected, JSON.stringify([view.error, view.calls]));
      const outcomes = view.calls.map(({ tool, under, outcome }) => `${under ?? ""} ${tool} ${outcome}`.trim());
      const last = isRepeated ? "ok" : "unknown";
      assert.deepEqual(outcomes.slice(2), ["2 shop.put ok", `2 shop.${operation} ${last}`]);
      if (!isRepeated) assert.match(view.error?.message ?? "", /shop\.put \(call \d+\): whether they took effect/);
      answer();
    });

  test("makes an approved call of it after recovery", async () => {
    await using durable = await openWithSkill(["shop.pay"], "return (await shop.pay({ n: 1 })).n");
    const { execution } = await begin(durable, PROGRAM);
    await waitForPending(await durable.openApprovals(), 1);
    await using copy = durable.fork();
    const approvals = await copy.openApprovals();
    for (const { id } of await waitForPending(approvals, 1))
      await approvals.decide(id, { verdict: "approve" }, OPERATOR);
    const view = await waitForState(await copy.open(), execution, "completed", "failed");
    assert.deepEqual([view.value, copy.shop.received], [7, ["pay 1"]]);
  });
});
