import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { AGENT, EXECUTION, createTool, known, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import { parseRuleId } from "../../domain/index.ts";
import type { CallPlan, Decision, Json, LabelSource, ToolCall } from "../../domain/index.ts";
import { isFlowRule, pickStricter } from "../decision.ts";
import { isStartCall, judgeFlow } from "./judge-flow.ts";

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

describe("isStartCall", () => {
  const OWN = createTool("files.own", { labels: ["private"] });
  const planned = (tool: ToolCall["address"], at = 1, change: Partial<CallPlan["calls"][number]> = {}) => ({
    tool,
    effect: "read" as const,
    access: "literal" as const,
    times: "many" as const,
    when: "always" as const,
    at: Array.from({ length: at }, (_, line) => ({ line: line + 1, column: 1 })),
    ...change,
  });
  const START = [
    { tool: OWN.address, args: {} },
    { tool: SEND.address, args: { text: "a" } },
    { tool: SEND.address, args: { text: "b" } },
  ];
  const isStart = (seq: number, args: Json, plan: Partial<CallPlan> = {}, address = SEND.address): boolean => {
    const call: ToolCall = { execution: EXECUTION, seq, principal: AGENT.id, address, args };
    const whole = { exact: true, calls: [planned(OWN.address), planned(SEND.address, 2)], start: START, ...plan };
    return isStartCall(call, whole, snapshotOf([OWN, SEND, TELL]));
  };

  it("accepts the calls that a program begins with, by number, tool and arguments", () => {
    assert.deepEqual([isStart(2, { text: "a" }), isStart(3, { text: "b" })], [true, true]);
    assert.deepEqual(
      [isStart(3, { text: "a" }), isStart(2, { text: "b" }), isStart(4, { text: "b" })],
      [false, false, false],
    );
    assert.deepEqual(
      [isStart(2, {}), isStart(2, { text: "a", more: 1 }), isStart(2, { text: "a" }, {}, TELL.address)],
      [false, false, false],
    );
  });
  it("requires an exact plan in which every call that sends data is one of them", () => {
    assert.equal(isStart(2, { text: "a" }, { exact: false }), false);
    assert.equal(isStart(2, { text: "a" }, { calls: [planned(SEND.address, 3)] }), false);
    assert.equal(isStart(2, { text: "a" }, { calls: [planned(SEND.address, 2), planned(TELL.address)] }), false);
    assert.equal(isStart(2, { text: "a" }, { calls: [planned(SEND.address, 2, { access: "computed" })] }), false);
    const { start: _, ...without } = { exact: true, calls: [planned(SEND.address, 2)], start: START };
    const call: ToolCall = {
      execution: EXECUTION,
      seq: 2,
      principal: AGENT.id,
      address: SEND.address,
      args: { text: "a" },
    };
    assert.equal(isStartCall(call, without, snapshotOf([OWN, SEND])), false);
    assert.equal(isStartCall(call, undefined, snapshotOf([OWN, SEND])), false);
  });
  it("refuses them if a call between them returns private data, whose failure would tell something", () => {
    const [file, one, other] = START;
    const between = [one, file, other].filter((call) => call !== undefined);
    assert.equal(isStart(1, { text: "a" }, { start: between }), false);
    const after = [one, other, file].filter((call) => call !== undefined);
    assert.deepEqual(
      [isStart(1, { text: "a" }, { start: after }), isStart(2, { text: "b" }, { start: after })],
      [true, true],
    );
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
