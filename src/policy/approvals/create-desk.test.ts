/** What operators see of a pending call, without secrets. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { digestOf } from "../../text/index.ts";
import { findChange } from "../../catalog/index.ts";
import type { CallPlan, JsonObject } from "../../domain/index.ts";
import { AGENT } from "../rules/fixtures/decision-case.ts";
import { createDesk } from "./create-desk.ts";
import { OPERATOR, TOOL, changeTool, executionOf, memoryRules, openQueue, requestOf } from "./fixtures/open-queue.ts";
import type { Queue } from "./fixtures/open-queue.ts";

const SECRET = "hunter2hunter2";
const hide = (text: string): string => text.replaceAll(SECRET, "[secret]");
const SOURCE = `// ${SECRET}\nawait shop.pay({ amount: 5 })`;
const PLACE = { line: 2, column: 7 };
const PLANNED = { tool: TOOL.address, effect: "write", access: "literal", times: "once", when: "always" } as const;
const PLAN: CallPlan = { exact: true, calls: [{ ...PLANNED, args: [{ key: SECRET }], at: [PLACE] }] };

const deskOf = ({ approvals, store }: Queue) =>
  createDesk({
    approvals,
    store,
    rules: memoryRules().rules,
    hide,
    findChange: (asked) => findChange(store.pins, asked),
  });

async function openExecution({ store }: Queue): Promise<void> {
  const opening = { id: executionOf(1), principal: AGENT.id, source: digestOf(SOURCE), startedAt: 1 };
  await store.executions.open({ ...opening, sourceText: SOURCE });
}

/** Records as the bridge writes them; `seq` defaults to 1. */
async function record({ ledger }: Queue, action: string, subject: string, more: JsonObject): Promise<void> {
  await ledger.write({ actor: "agent", action, subject, detail: { execution: executionOf(1), seq: 1, ...more } });
}

describe("ApprovalDesk.show", () => {
  it("returns the approval, its program with the place, and the earlier calls in order, without secrets", async () => {
    await using queue = await openQueue();
    await openExecution(queue);
    await record(queue, "call.intended", "shop.list", { effect: "read", decision: "allow" });
    await record(queue, "call.intended", "shop.other", { seq: 2, effect: "write", decision: "ask" });
    await record(queue, "call.intended", "shop.pay", { seq: 3, effect: "write", decision: "ask" });
    await record(queue, "call.ended", "shop.list", { outcome: "ok" });
    await record(queue, "call.ended", "shop.none", { seq: 4, outcome: "error" });
    const question = requestOf({ seq: 3, args: { to: SECRET, deep: [{ [SECRET]: 1 }] } });
    const asked = await queue.approvals.request({ ...question, plan: PLAN });
    const args = { to: "[secret]", deep: [{ "[secret]": 1 }] };
    const plan = { exact: true, calls: [{ ...PLANNED, args: [{ key: "[secret]" }], at: [PLACE] }] };
    assert.deepEqual(await deskOf(queue).show(asked.id), {
      approval: { ...asked, args, plan },
      execution: { state: "running", startedAt: 1, source: hide(SOURCE) },
      places: [PLACE],
      calls: [
        { seq: 1, tool: "shop.list", effect: "read", decision: "allow", outcome: "ok" },
        { seq: 2, tool: "shop.other", effect: "write", decision: "ask", outcome: "pending" },
        { seq: 4, tool: "shop.none", effect: "unknown", decision: "deny", outcome: "error" },
      ],
    });
    assert.deepEqual(await deskOf(queue).list({}), [{ ...asked, args, plan }]);
    assert.deepEqual((await deskOf(queue).decide(asked.id, { verdict: "approve" }, OPERATOR)).args, args);
  });

  it("returns no place if the plan is inexact, does not contain the tool, or is missing", async () => {
    await using queue = await openQueue();
    await openExecution(queue);
    const placesWith = async (seq: number, plan?: CallPlan) => {
      const { id } = await queue.approvals.request({ ...requestOf({ seq }), ...(plan && { plan }) });
      return (await deskOf(queue).show(id)).places;
    };
    assert.deepEqual(await placesWith(1, PLAN), [PLACE]);
    assert.deepEqual(await placesWith(2, { ...PLAN, exact: false }), []);
    assert.deepEqual(await placesWith(3, { exact: true, calls: [] }), []);
    assert.deepEqual(await placesWith(4), []);
  });

  it("returns the held-back change of the tool and not of others", async () => {
    await using queue = await openQueue();
    const { id } = await queue.request();
    await changeTool(queue, "other", TOOL.digest);
    assert.equal((await deskOf(queue).show(id)).change, undefined);
    const change = await changeTool(queue, "shop", TOOL.digest);
    assert.deepEqual((await deskOf(queue).show(id)).change, change);
  });

  it("returns the state of the execution, or null if it is no longer stored", async () => {
    await using queue = await openQueue();
    const { id } = await queue.request();
    assert.equal((await deskOf(queue).show(id)).execution, null);
    await openExecution(queue);
    await queue.store.executions.close(executionOf(1), { endedAt: 2, state: "paused", result: "{}" });
    assert.equal((await deskOf(queue).show(id)).execution?.state, "paused");
  });
});

describe("ApprovalDesk", () => {
  it("rejects invalid and unknown ids with REQUEST_NOT_FOUND", async () => {
    await using queue = await openQueue();
    const desk = deskOf(queue);
    for (const id of ["", "ap_", `ap_${"g".repeat(24)}`, `ap_${"f".repeat(24)}`, "constructor"]) {
      await assert.rejects(desk.show(id), { code: "REQUEST_NOT_FOUND" });
      await assert.rejects(desk.decide(id, { verdict: "approve" }, OPERATOR), { code: "REQUEST_NOT_FOUND" });
      await assert.rejects(desk.revoke(id, OPERATOR), { code: "REQUEST_NOT_FOUND" });
    }
  });

  it("refuses a decision of an agent and accepts one of an operator", async () => {
    await using queue = await openQueue();
    const { id } = await queue.request();
    await assert.rejects(deskOf(queue).decide(id, { verdict: "approve" }, AGENT), { code: "POLICY_DENIED" });
    assert.equal((await deskOf(queue).decide(id, { verdict: "reject" }, OPERATOR)).state, "rejected");
  });
});
