/** Explanations agree with decisions, and simulations never guess what depends on arguments. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Json, PolicyRule, PolicySettings } from "../../domain/index.ts";
import { compilePolicy } from "./compile-policy.ts";
import { explain } from "./explain.ts";
import { condition, pattern, policyOf, decisionCase, rule, toolOf } from "./fixtures/decision-case.ts";
import { simulate } from "./simulate.ts";
import type { PastCall } from "./simulate.ts";

const TOOL = toolOf("shop.pay", "write");

function explainWith(rules: readonly PolicyRule[], args: Json) {
  const asked = decisionCase(TOOL, []);
  return explain(compilePolicy(policyOf({ rules })), { ...asked, call: { ...asked.call, args } });
}

describe("explain", () => {
  it("names every rule and why it matches or not", () => {
    const conditions = [
      condition("amount", { kind: "range", min: 1, max: 9 }),
      condition("to[*]", { kind: "matches", pattern: pattern("*@x") }, { not: true }),
    ];
    const rules = [
      rule("tool", "allow", { tools: ["shop.list"] }),
      rule("who", "ask", { principals: ["other"] }),
      rule("where", "ask", { servers: ["other"] }),
      rule("effect", "ask", { effects: ["destroy"] }),
      rule("all", "allow"),
      rule("when", "deny", { when: conditions }),
    ];
    const { decision, rules: found } = explainWith(rules, { amount: 5, to: ["a@x"] });
    assert.deepEqual(decision, { kind: "allow", rule: "all" });
    assert.deepEqual(
      found.map(({ rule: id, matches, why }) => [id, matches, why]),
      [
        ["when", false, 'amount from 1 up to 9 holds; to[*] not matches "*@x" does not hold'],
        ["who", false, "does not apply to agent"],
        ["where", false, "does not apply to the upstream shop-server"],
        ["effect", false, "does not apply to the effect write"],
        ["tool", false, "does not apply to shop.pay"],
        ["all", true, "matches, without conditions"],
      ],
    );
  });
  it("explains why an unclear rule applies and an unclear permission does not", () => {
    const when = [condition("region", { kind: "equals", value: "eu" })];
    const rules = [rule("a", "allow", { when }), rule("d", "deny", { when })];
    assert.deepEqual(
      explainWith(rules, {}).rules.map(({ rule: id, matches, why }) => [id, matches, why.split("; ")[1]]),
      [
        ["d", true, "so deny applies"],
        ["a", false, "so allow does not apply"],
      ],
    );
  });
});

describe("simulate", () => {
  const past = (more: Partial<PastCall> = {}): PastCall => ({
    principal: "agent",
    tool: "shop.pay",
    server: "shop-server",
    effect: "write",
    decision: "allow",
    ...more,
  });
  const when = [condition("amount", { kind: "range", max: 9 })];
  const run = (settings: Partial<PolicySettings>, ...calls: readonly PastCall[]) =>
    simulate(compilePolicy(policyOf(settings)), calls);

  it("counts unchanged calls and groups changed ones", () => {
    const rules = [rule("r", "deny", { tools: ["shop.pay"] })];
    assert.deepEqual(run({ rules }, past(), past(), past({ tool: "shop.list" }), past({ decision: "deny" })), {
      calls: 4,
      same: 2,
      changed: [{ principal: "agent", tool: "shop.pay", from: "allow", to: "deny", rule: "r", calls: 2 }],
      cannotTell: [],
    });
  });
  it("reports unknown where a condition may decide, and a result where it makes no difference", () => {
    const doubtful = run({ rules: [rule("r", "deny", { when })] }, past());
    assert.deepEqual(doubtful.cannotTell, [
      { principal: "agent", tool: "shop.pay", from: "allow", rules: ["r", "profile:balanced"], calls: 1 },
    ]);
    assert.equal(run({ rules: [rule("r", "allow", { when })] }, past()).same, 1);
    assert.equal(run({ rules: [rule("r", "deny"), rule("s", "ask", { when })] }, past({ decision: "deny" })).same, 1);
    assert.equal(run({ rules: [rule("r", "allow", { when })], profile: "strict" }, past()).cannotTell.length, 1);
  });
  it("decides conditions of calls whose arguments are known", () => {
    const rules = [rule("r", "deny", { when })];
    assert.equal(run({ rules }, past({ args: { amount: 10 } })).same, 1);
    assert.equal(run({ rules }, past({ args: { amount: 9 } })).changed.length, 1);
    assert.equal(run({ rules }, past({ args: {} })).changed.length, 1);
    assert.equal(
      run({ rules: [rule("r", "allow", { when })], profile: "strict" }, past({ args: { amount: 9 } })).same,
      1,
    );
  });
  it("simulate does not loosen a decision of the data-flow guard", () => {
    const guarded = (decision: PastCall["decision"]) => past({ decision, byGuard: true });
    assert.equal(run({}, guarded("deny"), guarded("ask"), guarded("allow")).same, 3);
    const rules = [rule("r", "ask")];
    assert.deepEqual(run({ rules }, guarded("deny"), guarded("ask"), guarded("allow")), {
      calls: 3,
      same: 2,
      changed: [{ principal: "agent", tool: "shop.pay", from: "allow", to: "ask", rule: "r", calls: 1 }],
      cannotTell: [],
    });
    assert.equal(run({ rules: [rule("r", "ask", { when })] }, guarded("deny")).same, 1);
    assert.equal(run({}, past({ decision: "deny" })).changed.length, 1);
  });
  it("reports unknown if the record does not name the upstream", () => {
    const rules = [rule("r", "deny", { servers: ["shop-server"] })];
    assert.equal(run({ rules }, past({ server: null })).cannotTell.length, 1);
    assert.equal(run({ rules }, past()).changed.length, 1);
    assert.equal(run({ rules }, past({ server: "other" })).same, 1);
  });
});
