/** The examples of the policy guide decide as the guide states. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { parseRules, parseSettings } from "../../src/config/index.ts";
import { parseJsonc } from "../../src/config/read/parse-jsonc.ts";
import type { Effect, PolicySettings } from "../../src/domain/index.ts";
import { compilePolicy } from "../../src/policy/index.ts";
import { decide } from "../../src/policy/rules/decide.ts";
import { AGENT, decisionCase, toolOf } from "../../src/policy/rules/fixtures/decision-case.ts";

const GUIDE = readFileSync("docs/guide/policy.md", "utf8");
const BLOCKS = Array.from(GUIDE.matchAll(/```(\w+)[^\n]*\n([\s\S]*?)```/g), ([, language, text = ""]) => ({
  language,
  text,
}));

function policyAt(index: number): PolicySettings {
  return parseSettings(parseJsonc(BLOCKS[index]?.text ?? "", "guide"), { folder: "/" }, {}).policy;
}

function decideBy(policy: PolicySettings, address: string, effect: Effect, args = {}): string {
  const asked = decisionCase(toolOf(address, effect), []);
  return decide(compilePolicy(policy), { ...asked, principal: AGENT, call: { ...asked.call, args } }).kind;
}

test("the first policy example allows small payments and own mail, and otherwise uses the strict profile", () => {
  const policy = policyAt(0);
  const decisions = [
    decideBy(policy, "shop.pay", "write", { amount: 100 }),
    decideBy(policy, "shop.pay", "write", { amount: 101 }),
    decideBy(policy, "shop.pay", "write", {}),
    decideBy(policy, "mail.send", "write", { to: ["a@example.com"] }),
    decideBy(policy, "mail.send", "write", { to: ["a@example.com", "b@elsewhere.example"] }),
    decideBy(policy, "mail.send", "write", { to: "a@example.com" }),
    decideBy(policy, "shop.drop", "destroy"),
  ];
  assert.deepEqual(decisions, ["allow", "ask", "ask", "allow", "ask", "ask", "deny"]);
});

test("a deny that names force also denies a call without it, unless `missing` makes the condition fail", () => {
  const rules = (condition: object) => {
    const text = JSON.stringify({
      rules: [{ decision: "deny", when: [{ path: "force", equals: true, ...condition }] }],
    });
    return { ...policyAt(0), profile: "open", rules: parseRules(text, "r", new Set()) } as const;
  };
  assert.equal(decideBy(rules({}), "git.push", "write"), "deny");
  assert.equal(decideBy(rules({ missing: "fails" }), "git.push", "write"), "allow");
  assert.equal(decideBy(rules({ missing: "fails" }), "git.push", "write", { force: true }), "deny");
});

test("the rule file of the policy guide denies writes", () => {
  const file = BLOCKS.find(({ language }) => language === "json");
  const policy = { ...policyAt(0), rules: parseRules(file?.text ?? "", "rules.json", new Set()) };
  assert.deepEqual([decideBy(policy, "a.b", "write"), decideBy(policy, "a.b", "read")], ["deny", "allow"]);
});
