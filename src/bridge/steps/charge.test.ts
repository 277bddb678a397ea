/** Quotas and hidden tools: calls are charged after the decision and before they are made, and recorded either way. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { GloveboxError, parseRuleId } from "../../domain/index.ts";
import type { PolicyRule } from "../../domain/index.ts";
import { createTool, known, openTestBridge } from "../../../test/fixtures/bridge/test-bridge.ts";

const DENY: PolicyRule = {
  id: known(parseRuleId("no")),
  decision: "deny",
  tools: ["files.secret", "files.write"],
  effects: [],
  reason: "no",
};
const refuse = (): never => {
  throw new GloveboxError("LIMIT_QUOTA", "used up");
};

describe("a call that a quota refuses", () => {
  it("fails with LIMIT_QUOTA, never reaches the upstream, and is in trace and ledger", async () => {
    const { bridge, steps, ledger, ended } = await openTestBridge({ take: async () => refuse() });
    const reply = await bridge.call("files.read", "{}");
    assert.deepEqual(reply, { ok: false, error: { code: "LIMIT_QUOTA", message: "used up", retry: true } });
    assert.equal(steps.includes("invoke"), false);
    assert.deepEqual(
      bridge.records().map(({ decision, outcome }) => [decision, outcome]),
      [["allow", "error"]],
    );
    ended.abort();
    await bridge.recorded();
    const written = await ledger();
    assert.deepEqual(
      written.map(({ action, detail }) => [action, Object(detail).code]),
      [
        ["call.intended", undefined],
        ["call.ended", "LIMIT_QUOTA"],
      ],
    );
  });
  it("a call that a quota refuses is made while the quota has room, and is charged once, with its tool", async () => {
    const counted: string[] = [];
    const { bridge, steps } = await openTestBridge({ take: async ({ address }) => counted.push(address) });
    assert.equal((await bridge.call("files.read", "{}")).ok, true);
    assert.deepEqual([counted, steps.filter((step) => step === "invoke")], [["files.read"], ["invoke"]]);
  });
  it("a call that a quota refuses is not charged when policy refuses it first", async () => {
    const counted: string[] = [];
    const { bridge } = await openTestBridge({ rules: [DENY], take: async ({ address }) => counted.push(address) });
    assert.equal((await bridge.call("files.write", "{}")).ok, false);
    assert.deepEqual(counted, []);
  });
});

describe("a hidden tool", () => {
  const hidden = [createTool("files.secret")];

  it("a hidden tool is decided like any other tool when it is called", async () => {
    const { bridge, ledger } = await openTestBridge({ hidden, rules: [DENY] });
    const reply = await bridge.call("files.secret", "{}");
    assert.deepEqual(reply.ok ? "ok" : reply.error.code, "POLICY_DENIED");
    assert.equal(Object((await ledger())[0]?.["detail"]).rule, "no");
  });
  it("a hidden tool is never suggested for a wrong name", async () => {
    const { bridge } = await openTestBridge({ hidden, rules: [DENY] });
    const reply = await bridge.call("files.secre", "{}");
    assert.equal(reply.ok ? "" : reply.error.code, "TOOL_NOT_FOUND");
    assert.doesNotMatch(JSON.stringify(reply), /files\.secret/);
  });
});
