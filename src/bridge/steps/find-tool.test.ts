import assert from "node:assert/strict";
import { test } from "node:test";

import type { CallPlan } from "../../domain/index.ts";
import { TOOLS, known, openTestBridge, traceOf } from "../../../test/fixtures/bridge/test-bridge.ts";

const [READ] = TOOLS;

function planOf(exact: boolean): CallPlan {
  const { address } = known(READ);
  const call = { tool: address, effect: "read", access: "literal", times: "once", when: "always", at: [] } as const;
  return { exact, calls: [call] };
}

const REFUSED = {
  ok: false,
  error: {
    code: "PROGRAM_FORBIDDEN",
    message: "github.countIssues is not in the program's call plan",
    retry: false,
    hint: "Name the tool where it is called: await github.countIssues({ … })",
  },
};

test("a call outside an exact plan is refused before anything is decided, and is recorded", async () => {
  const { bridge, steps, ledger } = await openTestBridge({ plan: planOf(true) });
  assert.deepEqual(await bridge.call("github.countIssues", "{}"), REFUSED);
  await bridge.recorded();
  assert.deepEqual(steps, ["write call.ended"]);
  assert.deepEqual(traceOf(bridge), [
    { seq: 1, tool: "github.countIssues", effect: "read", decision: "deny", outcome: "denied" },
  ]);
  assert.equal((await ledger()).length, 1);
});

test("calls inside an exact plan, with an inexact plan and without a plan are made", async () => {
  for (const [tool, options] of [
    ["files.read", { plan: planOf(true) }],
    ["github.countIssues", { plan: planOf(false) }],
    ["github.countIssues", {}],
  ] as const) {
    const { bridge } = await openTestBridge({ ...options, invoke: async () => ({ count: 1 }) });
    assert.deepEqual(await bridge.call(tool, "{}"), { ok: true, json: '{"count":1}' });
  }
});

test("a missing tool is reported as missing, with a plan and without one", async () => {
  const { bridge } = await openTestBridge({ plan: planOf(true) });
  const reply = await bridge.call("github.nothing", "{}");
  assert.equal(reply.ok ? "" : reply.error.code, "TOOL_NOT_FOUND");
});
