/** The decision table: profiles, precedence of rules, what a rule matches, and the text of a refusal. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { parsePrincipalId } from "../../domain/index.ts";
import type { Decision, Effect, PolicySettings, Tool } from "../../domain/index.ts";
import { compilePolicy } from "./compile-policy.ts";
import { decide, isAlwaysDenied } from "./decide.ts";
import { AGENT, decideCase, condition, known, policyOf, decisionCase, rule, toolOf } from "./fixtures/decision-case.ts";

const EFFECTS: readonly Effect[] = ["read", "write", "destroy", "unknown"];
const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

function kindsOf(profile: PolicySettings["profile"]): Record<string, string> {
  return Object.fromEntries(
    EFFECTS.map((effect) => [effect, decideCase(decisionCase(toolOf("files.x", effect), [], profile)).kind]),
  );
}

describe("decide without a matching rule", () => {
  it("asks for destroy and allows the rest in the profile balanced", () => {
    assert.deepEqual(kindsOf("balanced"), { read: "allow", write: "allow", destroy: "ask", unknown: "allow" });
  });
  it("allows read, asks for write and denies destroy in the profile strict", () => {
    assert.deepEqual(kindsOf("strict"), { read: "allow", write: "ask", destroy: "deny", unknown: "ask" });
  });
  it("allows everything in the profile open", () => {
    assert.deepEqual(kindsOf("open"), { read: "allow", write: "allow", destroy: "allow", unknown: "allow" });
  });
  it("names the profile as the rule", () => {
    assert.deepEqual(decideCase(decisionCase(toolOf("files.read", "read"), [])), {
      kind: "allow",
      rule: "profile:balanced",
    });
  });
});

describe("decide with several matching rules", () => {
  const tool = toolOf("github.createIssue", "write");
  const allow = rule("a", "allow", { tools: ["github.createIssue"] });
  const review = rule("b", "ask", { tools: ["github.*"], reason: "changes are reviewed" });
  const deny = rule("c", "deny", { tools: ["*"], reason: "read only week" });

  it("denies when any matching rule denies, with a remedy", () => {
    assert.deepEqual(decideCase(decisionCase(tool, [allow, deny, review])), {
      kind: "deny",
      rule: "c",
      reason:
        "github.createIssue (effect: write) is denied, rule c: read only week; use another tool, or ask the operator",
    });
  });
  it("asks when one rule asks and none denies, with a remedy", () => {
    assert.deepEqual(decideCase(decisionCase(tool, [allow, review])), {
      kind: "ask",
      rule: "b",
      reason:
        "github.createIssue (effect: write) needs approval, rule b: changes are reviewed; ask the operator, or use a read tool",
    });
  });
  it("allows when every matching rule allows, whatever the profile", () => {
    assert.deepEqual(decideCase(decisionCase(tool, [allow], "strict")), { kind: "allow", rule: "a" });
  });
  it("omits the reason when the rule has none", () => {
    const decision = decideCase(decisionCase(tool, [rule("d", "deny")]));
    assert.deepEqual(decision, {
      kind: "deny",
      rule: "d",
      reason: "github.createIssue (effect: write) is denied, rule d; use another tool, or ask the operator",
    });
  });
  it("decide with several matching rules does not depend on the order of rules, and another rule never loosens the decision", () => {
    const anyRule = fc.record({
      decision: fc.constantFrom<Decision["kind"]>("allow", "ask", "deny"),
      tools: fc.subarray(["*", "github.*", "git.*", "github.createIssue", "files.read"]),
      effects: fc.subarray([...EFFECTS]),
    });
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 6 }), anyRule, (parts, extra) => {
        const rules = parts.map((part, at) => rule(`r${at}`, part.decision, part));
        const before = decideCase(decisionCase(tool, rules)).kind;
        assert.equal(decideCase(decisionCase(tool, rules.toReversed())).kind, before);
        const after = decideCase(decisionCase(tool, [...rules, rule("extra", extra.decision, extra)]));
        const matchedBefore = decideCase(decisionCase(tool, rules)).rule !== "profile:balanced";
        assert.ok(!matchedBefore || STRICTNESS[after.kind] >= STRICTNESS[before]);
      }),
    );
  });
});

describe("a rule that names a tool by the server's own name", () => {
  const own = (address: string, remoteName: string, more: Partial<Tool> = {}): Tool => {
    const tool = toolOf(address, "write");
    return { ...tool, origin: { ...tool.origin, remoteName }, ...more };
  };
  const pay = own("bank.transferFunds", "transfer_funds");
  const twin = own("bank.transferFunds1a2b3c", "transferFunds", { plainName: "transferFunds" });
  const decideOn = (tool: Tool, kind: Decision["kind"], pattern: string): string =>
    decideCase(decisionCase(tool, [rule("r", kind, { tools: [pattern] })], "strict")).kind;

  it("decides like one that names its address", () => {
    for (const pattern of ["bank.transfer_funds", "bank-server.transfer_funds", "bank.transferFunds", "bank-server.*"])
      assert.deepEqual([decideOn(pay, "deny", pattern), decideOn(pay, "allow", pattern)], ["deny", "allow"], pattern);
    assert.equal(decideOn(pay, "deny", "bank.transfer-funds"), "ask");
  });
  it("denies and does not allow a tool whose name another tool may have", () => {
    assert.equal(decideOn(twin, "deny", "bank.transferFunds"), "deny");
    assert.equal(decideOn(twin, "allow", "bank.transferFunds"), "ask");
    assert.equal(decideOn(twin, "allow", "bank.transferFunds1a2b3c"), "allow");
  });
  it("is the strictest of the rules that match by any name", () => {
    const rules = [
      rule("a", "allow", { tools: ["bank.transferFunds"] }),
      rule("d", "deny", { tools: ["bank-server.transfer_funds"] }),
    ];
    for (const list of [rules, rules.toReversed()]) assert.equal(decideCase(decisionCase(pay, list)).kind, "deny");
  });
});

describe("a rule with tools and effects", () => {
  it("applies only to the effects it lists", () => {
    const rules = [rule("r", "deny", { tools: ["files.*"], effects: ["write", "destroy"] })];
    const kinds = EFFECTS.map((effect) => decideCase(decisionCase(toolOf("files.x", effect), rules, "open")).kind);
    assert.deepEqual(kinds, ["allow", "deny", "deny", "allow"]);
  });
  it("applies to the namespace it names and not to one with the same prefix", () => {
    const rules = [rule("r", "deny", { tools: ["git.*"] })];
    assert.equal(decideCase(decisionCase(toolOf("git.push", "write"), rules)).kind, "deny");
    assert.equal(decideCase(decisionCase(toolOf("github.push", "write"), rules)).kind, "allow");
  });
  it("applies to every tool if it names none", () => {
    assert.equal(decideCase(decisionCase(toolOf("files.x", "read"), [rule("r", "ask")])).kind, "ask");
  });
});

describe("decide with inconsistent input", () => {
  const asked = decisionCase(toolOf("files.read", "read"), []);

  it("throws for a tool that is not the one of the call", () => {
    assert.throws(() => decideCase({ ...asked, tool: toolOf("files.list", "read") }), TypeError);
  });
  it("throws for a principal that is not the one of the call", () => {
    const id = known(parsePrincipalId("other"));
    assert.throws(() => decideCase({ ...asked, principal: { ...asked.principal, id } }), TypeError);
  });
  it("decides when both match the call", () => {
    assert.equal(decideCase(asked).kind, "allow");
  });
});

describe("a rule with principals, groups and servers", () => {
  const tool = toolOf("files.x", "read");
  const kindFor = (what: object, principal = AGENT, groups: Record<string, string[]> = {}): string => {
    const members = Object.entries(groups).map(([name, ids]) => [name, ids.map((id) => known(parsePrincipalId(id)))]);
    const settings = policyOf({ rules: [rule("r", "deny", what)], groups: new Map(members as []) });
    const call = { ...decisionCase(tool, []).call, principal: principal.id };
    return decide(compilePolicy(settings), { call, tool, principal }).kind;
  };

  it("applies only to the principals it names", () => {
    assert.equal(kindFor({ principals: ["agent"] }), "deny");
    assert.equal(kindFor({ principals: ["agent2", "Agent"] }), "allow");
  });
  it("applies to groups of the credential and of the configuration", () => {
    const inNight = { ...AGENT, groups: ["night"] };
    assert.equal(kindFor({ groups: ["night"] }, inNight), "deny");
    assert.equal(kindFor({ groups: ["night"] }, AGENT, { night: ["agent"] }), "deny");
    assert.equal(kindFor({ groups: ["night"] }, AGENT, { day: ["agent"], night: ["other"] }), "allow");
  });
  it("applies if either the principal or a group matches", () => {
    assert.equal(kindFor({ principals: ["agent"], groups: ["night"] }), "deny");
    assert.equal(kindFor({ principals: ["other"], groups: ["night"] }), "allow");
  });
  it("applies to the upstream it names, whatever its namespace", () => {
    assert.equal(kindFor({ servers: ["files-server"] }), "deny");
    assert.equal(kindFor({ servers: ["files"] }), "allow");
  });
});

describe("isAlwaysDenied", () => {
  const small = condition("amount", { kind: "range", max: 10 });
  const isHidden = (
    effect: Effect,
    rules: readonly ReturnType<typeof rule>[],
    profile: PolicySettings["profile"] = "balanced",
  ) => isAlwaysDenied(compilePolicy(policyOf({ rules, profile })), toolOf("shop.pay", effect), AGENT);

  it("isAlwaysDenied is true for a tool that a rule denies without conditions, and false with a condition", () => {
    assert.equal(isHidden("read", [rule("r", "deny")]), true);
    assert.equal(isHidden("read", [rule("r", "deny", { when: [small] })]), false);
    assert.equal(isHidden("read", [rule("r", "deny", { principals: ["other"] })]), false);
  });
  it("isAlwaysDenied is true for a tool that the profile denies, unless a rule may allow it or ask", () => {
    assert.equal(isHidden("destroy", [], "strict"), true);
    assert.equal(isHidden("destroy", [rule("r", "deny", { when: [small] })], "strict"), true);
    assert.equal(isHidden("destroy", [rule("r", "allow", { when: [small] })], "strict"), false);
    assert.equal(isHidden("destroy", [rule("r", "ask")], "strict"), false);
    assert.equal(isHidden("destroy", []), false);
  });
  it("isAlwaysDenied is never true for a tool that is not denied for some arguments", () => {
    const anyRule = fc.record({
      decision: fc.constantFrom<Decision["kind"]>("allow", "ask", "deny"),
      when: fc.constantFrom([], [small]),
    });
    const profiles = fc.constantFrom<PolicySettings["profile"]>("balanced", "strict", "open");
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 4 }), profiles, fc.nat(20), (parts, profile, amount) => {
        const rules = parts.map((part, at) => rule(`r${at}`, part.decision, part));
        const asked = decisionCase(toolOf("shop.pay", "destroy"), rules, profile);
        const decided = decideCase({ ...asked, call: { ...asked.call, args: { amount } } }).kind;
        assert.ok(decided === "deny" || !isHidden("destroy", rules, profile));
      }),
    );
  });
});
