/** Explanations say what the decision says, and simulations never guess what only arguments could tell. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Json, PolicyRule, PolicySettings } from "../../domain/index.ts";
import { compilePolicy } from "./compile-policy.ts";
import { explain } from "./explain.ts";
import { condition, pattern, policyOf, question, rule, toolOf } from "./fixtures/ask.ts";
import { simulate } from "./simulate.ts";
import type { PastCall } from "./simulate.ts";

const TOOL = toolOf("shop.pay", "write");

function explainWith(rules: readonly PolicyRule[], args: Json) {
  const asked = question(TOOL, []);
  return explain(compilePolicy(policyOf({ rules })), { ...asked, call: { ...asked.call, args } });
}

describe("an explanation", () => {
  it("names every rule with what of it fits or does not", () => {
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
        ["who", false, "it is not about agent"],
        ["where", false, "it is not about the upstream shop-server"],
        ["effect", false, "it is not about the effect write"],
        ["tool", false, "it is not about shop.pay"],
        ["all", true, "it fits, and has no conditions"],
      ],
    );
  });
  it("says why a rule applies that cannot be told, and why a permission does not", () => {
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

describe("a simulation", () => {
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

  it("counts what stays and groups what changes", () => {
    const rules = [rule("r", "deny", { tools: ["shop.pay"] })];
    assert.deepEqual(run({ rules }, past(), past(), past({ tool: "shop.list" }), past({ decision: "deny" })), {
      calls: 4,
      same: 2,
      changed: [{ principal: "agent", tool: "shop.pay", from: "allow", to: "deny", rule: "r", calls: 2 }],
      cannotTell: [],
    });
  });
  it("cannot tell where a condition may decide, and can where it makes no difference", () => {
    const doubtful = run({ rules: [rule("r", "deny", { when })] }, past());
    assert.deepEqual(doubtful.cannotTell, [
      { principal: "agent", tool: "shop.pay", from: "allow", rules: ["r", "profile:balanced"], calls: 1 },
    ]);
    assert.equal(run({ rules: [rule("r", "allow", { when })] }, past()).same, 1);
    assert.equal(run({ rules: [rule("r", "deny"), rule("s", "ask", { when })] }, past({ decision: "deny" })).same, 1);
    assert.equal(run({ rules: [rule("r", "allow", { when })], profile: "strict" }, past()).cannotTell.length, 1);
  });
  it("takes nothing back that the data-flow guard decided, which no rule loosens", () => {
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
  it("cannot tell about an upstream that the record does not name", () => {
    const rules = [rule("r", "deny", { servers: ["shop-server"] })];
    assert.equal(run({ rules }, past({ server: null })).cannotTell.length, 1);
    assert.equal(run({ rules }, past()).changed.length, 1);
    assert.equal(run({ rules }, past({ server: "other" })).same, 1);
  });
});
