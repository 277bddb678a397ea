/** Executions that wait for approvals: several at once, every decision, and what is remembered of it. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { Approvals } from "../../src/policy/approvals/open-approvals.ts";
import type { Approval } from "../../src/domain/index.ts";
import type { Gateway } from "../../src/surfaces/index.ts";
import { OPERATOR, openDurableGateways, waitForPending, run, waitForState } from "../fixtures/durable-gateway.ts";
import type { DurableGateways } from "../fixtures/durable-gateway.ts";

let durable: DurableGateways;
let gateway: Gateway;
let approvals: Approvals;

before(async () => {
  durable = await openDurableGateways();
  [gateway, approvals] = [await durable.open(), await durable.openApprovals()];
});
after(() => durable[Symbol.asyncDispose]());

type Verdict = "approve" | "reject";

/** Decides everything that is pending until the execution has ended. */
async function finish(
  code: string,
  answer: (n: number) => { readonly verdict: Verdict; readonly scope?: NonNullable<Approval["scope"]> },
) {
  const from = durable.shop.received.length;
  const first = await run(gateway, code);
  const asked: string[] = [];
  let view = await waitForState(gateway, first.execution, "paused", "completed", "failed");
  while (view.state === "paused") {
    for (const { id, args } of await approvals.list({ isPending: true })) {
      const { n } = args as { readonly n: number };
      asked.push(String(n));
      await approvals.decide(id, answer(n), OPERATOR).catch(() => undefined);
    }
    await wait(20);
    view = await waitForState(gateway, first.execution, "paused", "completed", "failed");
  }
  return { view, asked, made: durable.shop.received.slice(from).toSorted() };
}

const yes = () => ({ verdict: "approve" }) as const;

describe("a suspended execution", () => {
  test("a suspended execution resumes once when two approvals are decided at the same moment", async () => {
    const code =
      "const all = await Promise.all([shop.pay({ n: 1 }), shop.pay({ n: 2 })]); return all.map(({ n }) => n);";
    const { view, made } = await finish(code, yes);
    assert.deepEqual([view.state, view.value, made], ["completed", [7, 14], ["pay 1", "pay 2"]]);
  });

  test("an execution that needs approvals in a loop is suspended for each of them", async () => {
    const code = "let sum = 0; for (const n of [1, 2, 3]) sum += (await shop.pay({ n })).n; return sum;";
    const { view, asked, made } = await finish(code, yes);
    assert.deepEqual([view.value, asked, made], [42, ["1", "2", "3"], ["pay 1", "pay 2", "pay 3"]]);
  });

  test("an execution receives a rejection as an error that it can catch", async () => {
    const code = `const got = await Promise.allSettled([shop.pay({ n: 1 }), shop.pay({ n: 2 }), shop.put({ n: 3 })]);
      return got.map(({ value, reason }) => value?.n ?? [reason instanceof ToolError, reason.code]);`;
    const { view, made } = await finish(code, (n) => ({ verdict: n === 1 ? "reject" : "approve" }));
    assert.deepEqual(view.value, [[true, "POLICY_APPROVAL_REJECTED"], 14, 21]);
    assert.deepEqual(made, ["pay 2", "put 3"]);
    const uncaught = await finish("return await shop.pay({ n: 4 });", () => ({ verdict: "reject" }));
    assert.deepEqual([uncaught.view.state, uncaught.view.error?.code], ["failed", "POLICY_APPROVAL_REJECTED"]);
  });

  test("an execution resumes with the first decision of a race, and revokes the other approval", async () => {
    const code = "const { n } = await Promise.race([shop.pay({ n: 1 }), shop.pay({ n: 2 })]); return n;";
    const first = await run(gateway, code);
    const [one] = (await waitForPending(approvals, 2)).filter(({ seq }) => seq === 2);
    assert.ok(one);
    await approvals.decide(one.id, { verdict: "approve" }, OPERATOR);
    const done = await waitForState(gateway, first.execution, "completed", "failed");
    assert.equal(done.value, 14);
    const states = (await approvals.list({ execution: first.execution })).map(({ seq, state }) => `${seq} ${state}`);
    assert.deepEqual(states.toSorted(), ["1 revoked", "2 approved"]);
  });

  test("a decision for the whole execution applies to its later calls", async () => {
    const code = "let sum = 0; for (const n of [1, 2, 3]) sum += (await shop.pay({ n })).n; return sum;";
    const { view, asked } = await finish(code, () => ({ verdict: "approve", scope: "execution" }));
    assert.deepEqual([view.value, asked], [42, ["1"]]);
  });

  test("a decision for the session applies to the same call again", async () => {
    const code = "const a = await shop.pay({ n: 9 }); const b = await shop.pay({ n: 9 }); return a.n + b.n;";
    const { view, asked, made } = await finish(code, () => ({ verdict: "approve", scope: "session" }));
    assert.deepEqual([view.value, asked, made], [126, ["9"], ["pay 9", "pay 9"]]);
  });

  test("a resumed execution sees the same time and the same random values as before", async () => {
    const code = `const before = [Date.now(), Math.random(), crypto.randomUUID()];
      console.log(before.join());
      await shop.look({ n: 1 });
      const at = Date.now();
      await shop.pay({ n: 2 });
      return { before, at, later: Date.now() >= at };`;
    const { view, made } = await finish(code, yes);
    const { before: began, later } = view.value as { before: unknown[]; later: boolean };
    assert.deepEqual([view.logs.map(({ text }) => text), later], [[began.join()], true]);
    assert.deepEqual(made, ["look 1", "pay 2"]);
  });

  test("an execution can catch LIMIT_BUSY of a call above the 20 that wait for approval, and resumes with the others", async () => {
    const code = `const refused = [];
      const all = Array.from({ length: 21 }, (_, at) => shop.pay({ n: 100 + at }));
      for (const one of all) one.catch(({ code }) => refused.push(code));
      const { n } = await Promise.any(all);
      return { n, refused };`;
    const first = await run(gateway, code);
    const asked = await approvals.list({ execution: first.execution });
    const oldest = asked.find(({ seq }) => seq === 1);
    assert.ok(oldest && asked.length === 20);
    await approvals.decide(oldest.id, { verdict: "approve" }, OPERATOR);
    const done = await waitForState(gateway, first.execution, "completed", "failed");
    assert.deepEqual(done.value, { n: 700, refused: ["LIMIT_BUSY"] });
  });
});
