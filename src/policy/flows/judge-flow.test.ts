import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { AGENT, EXECUTION, createTool, known, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import { parseRuleId } from "../../domain/index.ts";
import type { CallPlan, Decision, Json, LabelSource, ToolCall } from "../../domain/index.ts";
import { pickStricter } from "../decision.ts";
import { isFlowRule, isLiteralCall, judgeFlow } from "./judge-flow.ts";

const FILE = createTool("files.read");
const SEND = createTool("github.send", { labels: ["external"] });
const TELL = createTool("github.tell", { labels: ["external"] });
const RULE = known(parseRuleId("flow:private+untrusted>external"));

const source = (label: LabelSource["label"], seq: number): LabelSource => ({
  label,
  tool: FILE.address,
  execution: EXECUTION,
  seq,
});
const [SECRET, STRANGE] = [source("private", 1), source("untrusted", 2)];
const take = (...sources: readonly LabelSource[]) => new Map(sources.map((one) => [one.label, one]));
const BOTH = take(SECRET, STRANGE);

describe("judgeFlow", () => {
  it("asks or denies for a sending call after both labels, and names the calls that returned the data", () => {
    const why =
      `it sends data out, after files.read (call 1 of ${EXECUTION}) returned private data and ` +
      `files.read (call 2 of ${EXECUTION}) returned untrusted content; ` +
      "return what you found instead, or ask the operator";
    for (const [mode, verb] of [
      ["ask", "needs approval"],
      ["deny", "is denied"],
    ] as const) {
      const reason = `github.send ${verb}, rule ${RULE}: ${why}`;
      const expected = { kind: mode, rule: RULE, reason, flow: [SECRET, STRANGE] };
      assert.deepEqual(judgeFlow({ tool: SEND, taken: BOTH, mode }), expected);
    }
  });
  it("allows and marks the call when the operator allows such flows", () => {
    const expected = { kind: "allow", rule: RULE, flow: [SECRET, STRANGE] };
    assert.deepEqual(judgeFlow({ tool: SEND, taken: BOTH, mode: "allow" }), expected);
  });
  for (const [what, tool, taken] of [
    ["after private data alone", SEND, take(SECRET)],
    ["after untrusted text alone", SEND, take(STRANGE)],
    ["after nothing", SEND, take()],
    ["that sends nothing out", FILE, BOTH],
    ["that only brings labels", createTool("files.list", { labels: ["private", "untrusted"] }), BOTH],
  ] as const) {
    it(`judgeFlow does not apply to a call ${what}`, () => {
      assert.equal(judgeFlow({ tool, taken, mode: "deny" }), undefined);
    });
  }
});

describe("isLiteralCall", () => {
  const ONCE: CallPlan["calls"][number] = {
    tool: SEND.address,
    effect: "read",
    access: "literal",
    times: "once",
    when: "always",
    args: [{ text: "done", to: ["a"] }],
    at: [{ line: 1, column: 1 }],
  };
  const isLiteral = (
    args: Json,
    change: Partial<CallPlan["calls"][number]> = {},
    plan: Partial<CallPlan> = {},
  ): boolean => {
    const call: ToolCall = { execution: EXECUTION, seq: 3, principal: AGENT.id, address: SEND.address, args };
    const whole = { exact: true, calls: [{ ...ONCE, ...change }], ...plan };
    return isLiteralCall(call, whole, snapshotOf([FILE, SEND, TELL]));
  };
  const WORDS = { to: ["a"], text: "done" };

  it("requires exactly the literal arguments of the one call site", () => {
    assert.equal(isLiteral(WORDS), true);
    for (const args of [{ text: "done" }, { ...WORDS, more: 1 }, { ...WORDS, text: "Done" }, {}]) {
      assert.equal(isLiteral(args), false);
    }
  });
  it("accepts a call without arguments", () => assert.equal(isLiteral({}, { args: [] }), true));
  it("requires a call site outside of conditions and loops", () => {
    for (const change of [
      { when: "maybe" },
      { times: "many" },
      { access: "computed" },
      {
        at: [
          { line: 1, column: 1 },
          { line: 2, column: 1 },
        ],
      },
    ] as const) {
      assert.equal(isLiteral(WORDS, change), false, JSON.stringify(change));
    }
  });
  it("requires the only call site that can send data; other call sites do not matter", () => {
    assert.equal(isLiteral(WORDS, {}, { calls: [ONCE, { ...ONCE, tool: TELL.address }] }), false);
    assert.equal(isLiteral(WORDS, {}, { calls: [ONCE, { ...ONCE, tool: FILE.address, times: "many" }] }), true);
    assert.equal(isLiteral(WORDS, {}, { calls: [{ ...ONCE, tool: TELL.address }] }), false);
  });
  it("requires an exact plan", () => {
    assert.equal(isLiteral(WORDS, {}, { exact: false }), false);
    const call = { execution: EXECUTION, seq: 3, principal: AGENT.id, address: SEND.address, args: {} };
    assert.equal(isLiteralCall(call, undefined, snapshotOf([SEND])), false);
  });
});

describe("pickStricter", () => {
  const usual = (kind: Decision["kind"]): Decision => ({ kind, rule: known(parseRuleId("house")), reason: "" });
  const guard = (kind: Decision["kind"]): Decision => ({ kind, rule: RULE, reason: "" });
  it("returns the stricter decision, and of two equal ones the guard's", () => {
    const kinds = ["allow", "ask", "deny"] as const;
    const counted = kinds.map((one) => kinds.map((other) => pickStricter(usual(one), guard(other))));
    assert.deepEqual(counted, [
      [guard("allow"), guard("ask"), guard("deny")],
      [usual("ask"), guard("ask"), guard("deny")],
      [usual("deny"), usual("deny"), guard("deny")],
    ]);
  });
  it("returns the policy's decision if the guard has none", () => {
    assert.deepEqual(pickStricter(usual("allow"), undefined), usual("allow"));
  });
  it("isFlowRule recognizes the rule of the guard", () => {
    assert.deepEqual([isFlowRule(RULE), isFlowRule(usual("ask").rule)], [true, false]);
  });
});
