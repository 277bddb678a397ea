/** The decision table: profiles, precedence of rules, what a rule matches, and the text of a refusal. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { parsePrincipalId } from "../../domain/index.ts";
import type { Decision, Effect, PolicySettings } from "../../domain/index.ts";
import { compilePolicy } from "./compile-policy.ts";
import { decide, isAlwaysDenied } from "./decide.ts";
import { AGENT, ask, condition, known, policyOf, question, rule, toolOf } from "./fixtures/ask.ts";

const EFFECTS: readonly Effect[] = ["read", "write", "destroy", "unknown"];
const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

function kindsOf(profile: PolicySettings["profile"]): Record<string, string> {
  return Object.fromEntries(
    EFFECTS.map((effect) => [effect, ask(question(toolOf("files.x", effect), [], profile)).kind]),
  );
}

describe("a profile answers when no rule matches", () => {
  it("balanced asks before it destroys and allows the rest", () => {
    assert.deepEqual(kindsOf("balanced"), { read: "allow", write: "allow", destroy: "ask", unknown: "allow" });
  });
  it("strict allows reads only, asks for writes and denies destruction", () => {
    assert.deepEqual(kindsOf("strict"), { read: "allow", write: "ask", destroy: "deny", unknown: "ask" });
  });
  it("open allows everything", () => {
    assert.deepEqual(kindsOf("open"), { read: "allow", write: "allow", destroy: "allow", unknown: "allow" });
  });
  it("names the profile as the rule", () => {
    assert.deepEqual(ask(question(toolOf("files.read", "read"), [])), { kind: "allow", rule: "profile:balanced" });
  });
});

describe("the strictest matching rule wins", () => {
  const tool = toolOf("github.createIssue", "write");
  const allow = rule("a", "allow", { tools: ["github.createIssue"] });
  const review = rule("b", "ask", { tools: ["github.*"], reason: "changes are reviewed" });
  const deny = rule("c", "deny", { tools: ["*"], reason: "read only week" });

  it("denies when any matching rule denies, and says what to do", () => {
    assert.deepEqual(ask(question(tool, [allow, deny, review])), {
      kind: "deny",
      rule: "c",
      reason:
        "github.createIssue (effect: write) is denied, rule c: read only week; use another tool, or ask the operator",
    });
  });
  it("asks when one rule asks and none denies, and says whom to ask", () => {
    assert.deepEqual(ask(question(tool, [allow, review])), {
      kind: "ask",
      rule: "b",
      reason:
        "github.createIssue (effect: write) needs approval, rule b: changes are reviewed; ask the operator, or use a read tool",
    });
  });
  it("allows when every matching rule allows, whatever the profile says", () => {
    assert.deepEqual(ask(question(tool, [allow], "strict")), { kind: "allow", rule: "a" });
  });
  it("leaves the reason out when the rule gives none", () => {
    const decision = ask(question(tool, [rule("d", "deny")]));
    assert.deepEqual(decision, {
      kind: "deny",
      rule: "d",
      reason: "github.createIssue (effect: write) is denied, rule d; use another tool, or ask the operator",
    });
  });
  it("never depends on the order of the rules, and no further rule loosens it", () => {
    const anyRule = fc.record({
      decision: fc.constantFrom<Decision["kind"]>("allow", "ask", "deny"),
      tools: fc.subarray(["*", "github.*", "git.*", "github.createIssue", "files.read"]),
      effects: fc.subarray([...EFFECTS]),
    });
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 6 }), anyRule, (parts, extra) => {
        const rules = parts.map((part, at) => rule(`r${at}`, part.decision, part));
        const before = ask(question(tool, rules)).kind;
        assert.equal(ask(question(tool, rules.toReversed())).kind, before);
        const after = ask(question(tool, [...rules, rule("extra", extra.decision, extra)]));
        const matchedBefore = ask(question(tool, rules)).rule !== "profile:balanced";
        assert.ok(!matchedBefore || STRICTNESS[after.kind] >= STRICTNESS[before]);
      }),
    );
  });
});

describe("a rule matches by tool and by effect", () => {
  it("applies to the effects it lists and to no other", () => {
    const rules = [rule("r", "deny", { tools: ["files.*"], effects: ["write", "destroy"] })];
    const kinds = EFFECTS.map((effect) => ask(question(toolOf("files.x", effect), rules, "open")).kind);
    assert.deepEqual(kinds, ["allow", "deny", "deny", "allow"]);
  });
  it("applies to the namespace it names and not to one that begins alike", () => {
    const rules = [rule("r", "deny", { tools: ["git.*"] })];
    assert.equal(ask(question(toolOf("git.push", "write"), rules)).kind, "deny");
    assert.equal(ask(question(toolOf("github.push", "write"), rules)).kind, "allow");
  });
  it("applies to every tool when it names none", () => {
    assert.equal(ask(question(toolOf("files.x", "read"), [rule("r", "ask")])).kind, "ask");
  });
});

describe("a decision is about the call it was asked for", () => {
  const asked = question(toolOf("files.read", "read"), []);

  it("refuses a tool that is not the one called", () => {
    assert.throws(() => ask({ ...asked, tool: toolOf("files.list", "read") }), TypeError);
  });
  it("refuses a principal that is not the one calling", () => {
    const id = known(parsePrincipalId("other"));
    assert.throws(() => ask({ ...asked, principal: { ...asked.principal, id } }), TypeError);
  });
  it("decides when both agree", () => {
    assert.equal(ask(asked).kind, "allow");
  });
});

describe("a rule matches by who calls and by server", () => {
  const tool = toolOf("files.x", "read");
  const kindFor = (what: object, principal = AGENT, groups: Record<string, string[]> = {}): string => {
    const members = Object.entries(groups).map(([name, ids]) => [name, ids.map((id) => known(parsePrincipalId(id)))]);
    const settings = policyOf({ rules: [rule("r", "deny", what)], groups: new Map(members as []) });
    const call = { ...question(tool, []).call, principal: principal.id };
    return decide(compilePolicy(settings), { call, tool, principal }).kind;
  };

  it("applies to the principals it names and to nobody else", () => {
    assert.equal(kindFor({ principals: ["agent"] }), "deny");
    assert.equal(kindFor({ principals: ["agent2", "Agent"] }), "allow");
  });
  it("applies to groups of the credential and to groups of the configuration", () => {
    const inNight = { ...AGENT, groups: ["night"] };
    assert.equal(kindFor({ groups: ["night"] }, inNight), "deny");
    assert.equal(kindFor({ groups: ["night"] }, AGENT, { night: ["agent"] }), "deny");
    assert.equal(kindFor({ groups: ["night"] }, AGENT, { day: ["agent"], night: ["other"] }), "allow");
  });
  it("takes principals and groups as alternatives", () => {
    assert.equal(kindFor({ principals: ["agent"], groups: ["night"] }), "deny");
    assert.equal(kindFor({ principals: ["other"], groups: ["night"] }), "allow");
  });
  it("applies to the upstream it names, whatever its namespace", () => {
    assert.equal(kindFor({ servers: ["files-server"] }), "deny");
    assert.equal(kindFor({ servers: ["files"] }), "allow");
  });
});

describe("a tool is hidden when no arguments could be let through", () => {
  const small = condition("amount", { kind: "range", max: 10 });
  const isHidden = (
    effect: Effect,
    rules: readonly ReturnType<typeof rule>[],
    profile: PolicySettings["profile"] = "balanced",
  ) => isAlwaysDenied(compilePolicy(policyOf({ rules, profile })), toolOf("shop.pay", effect), AGENT);

  it("hides what a rule denies without conditions, and shows what it denies with one", () => {
    assert.equal(isHidden("read", [rule("r", "deny")]), true);
    assert.equal(isHidden("read", [rule("r", "deny", { when: [small] })]), false);
    assert.equal(isHidden("read", [rule("r", "deny", { principals: ["other"] })]), false);
  });
  it("hides what the profile denies, unless a rule may allow it or ask about it", () => {
    assert.equal(isHidden("destroy", [], "strict"), true);
    assert.equal(isHidden("destroy", [rule("r", "deny", { when: [small] })], "strict"), true);
    assert.equal(isHidden("destroy", [rule("r", "allow", { when: [small] })], "strict"), false);
    assert.equal(isHidden("destroy", [rule("r", "ask")], "strict"), false);
    assert.equal(isHidden("destroy", []), false);
  });
  it("never hides a tool that some arguments are not denied for", () => {
    const anyRule = fc.record({
      decision: fc.constantFrom<Decision["kind"]>("allow", "ask", "deny"),
      when: fc.constantFrom([], [small]),
    });
    const profiles = fc.constantFrom<PolicySettings["profile"]>("balanced", "strict", "open");
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 4 }), profiles, fc.nat(20), (parts, profile, amount) => {
        const rules = parts.map((part, at) => rule(`r${at}`, part.decision, part));
        const asked = question(toolOf("shop.pay", "destroy"), rules, profile);
        const decided = ask({ ...asked, call: { ...asked.call, args: { amount } } }).kind;
        assert.ok(decided === "deny" || !isHidden("destroy", rules, profile));
      }),
    );
  });
});
