/** The decision table: profiles, precedence of rules, what a rule matches, and the text of a refusal. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { parsePrincipalId, parseRuleId, parseToolAddress } from "../domain/index.ts";
import type { Decision, Effect, PolicyProfile, PolicyRule, Tool } from "../domain/index.ts";
import { decide } from "./decide.ts";
import type { Question } from "./decide.ts";

const EFFECTS: readonly Effect[] = ["read", "write", "destroy", "unknown"];
const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

function parseKnown<T>(value: T | undefined): T {
  assert.ok(value !== undefined);
  return value;
}

const AGENT = parseKnown(parsePrincipalId("agent"));

function toolOf(address: string, effect: Effect): Tool {
  return {
    address: parseKnown(parseToolAddress(address)),
    origin: { kind: "upstream", connector: "up" as Tool["origin"]["connector"], remoteName: "x" },
    summary: "",
    description: "",
    input: { type: "object" },
    output: null,
    effect,
    digest: `sha256:${"0".repeat(64)}` as Tool["digest"],
  };
}

function rule(id: string, decision: Decision["kind"], what: Partial<PolicyRule> = {}): PolicyRule {
  return { id: parseKnown(parseRuleId(id)), decision, tools: [], effects: [], reason: "", ...what };
}

function question(tool: Tool, rules: readonly PolicyRule[], profile: PolicyProfile = "balanced"): Question {
  const execution = `ex_${"0".repeat(24)}` as Question["call"]["execution"];
  return {
    call: { execution, seq: 1, principal: AGENT, address: tool.address, args: {} },
    tool,
    rules,
    profile,
    principal: { id: AGENT, kind: "agent", groups: [] },
  };
}

function kindsOf(profile: PolicyProfile): Record<string, string> {
  return Object.fromEntries(
    EFFECTS.map((effect) => [effect, decide(question(toolOf("files.x", effect), [], profile)).kind]),
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
    assert.deepEqual(decide(question(toolOf("files.read", "read"), [])), { kind: "allow", rule: "profile:balanced" });
  });
});

describe("the strictest matching rule wins", () => {
  const tool = toolOf("github.createIssue", "write");
  const allow = rule("a", "allow", { tools: ["github.createIssue"] });
  const ask = rule("b", "ask", { tools: ["github.*"], reason: "changes are reviewed" });
  const deny = rule("c", "deny", { tools: ["*"], reason: "read only week" });

  it("denies when any matching rule denies, and says what to do", () => {
    assert.deepEqual(decide(question(tool, [allow, deny, ask])), {
      kind: "deny",
      rule: "c",
      reason:
        "github.createIssue (effect: write) is denied, rule c: read only week; use another tool, or ask the operator",
    });
  });
  it("asks when one rule asks and none denies, and says whom to ask", () => {
    assert.deepEqual(decide(question(tool, [allow, ask])), {
      kind: "ask",
      rule: "b",
      reason:
        "github.createIssue (effect: write) needs approval, rule b: changes are reviewed; ask the operator, or use a read tool",
    });
  });
  it("allows when every matching rule allows, whatever the profile says", () => {
    assert.deepEqual(decide(question(tool, [allow], "strict")), { kind: "allow", rule: "a" });
  });
  it("leaves the reason out when the rule gives none", () => {
    const decision = decide(question(tool, [rule("d", "deny")]));
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
        const before = decide(question(tool, rules)).kind;
        assert.equal(decide(question(tool, rules.toReversed())).kind, before);
        const after = decide(question(tool, [...rules, rule("extra", extra.decision, extra)]));
        const matchedBefore = decide(question(tool, rules)).rule !== "profile:balanced";
        assert.ok(!matchedBefore || STRICTNESS[after.kind] >= STRICTNESS[before]);
      }),
    );
  });
});

describe("a rule matches by tool and by effect", () => {
  it("applies to the effects it lists and to no other", () => {
    const rules = [rule("r", "deny", { tools: ["files.*"], effects: ["write", "destroy"] })];
    const kinds = EFFECTS.map((effect) => decide(question(toolOf("files.x", effect), rules, "open")).kind);
    assert.deepEqual(kinds, ["allow", "deny", "deny", "allow"]);
  });
  it("applies to the namespace it names and not to one that begins alike", () => {
    const rules = [rule("r", "deny", { tools: ["git.*"] })];
    assert.equal(decide(question(toolOf("git.push", "write"), rules)).kind, "deny");
    assert.equal(decide(question(toolOf("github.push", "write"), rules)).kind, "allow");
  });
  it("applies to every tool when it names none", () => {
    assert.equal(decide(question(toolOf("files.x", "read"), [rule("r", "ask")])).kind, "ask");
  });
});

describe("a decision is about the call it was asked for", () => {
  const asked = question(toolOf("files.read", "read"), []);

  it("refuses a tool that is not the one called", () => {
    assert.throws(() => decide({ ...asked, tool: toolOf("files.list", "read") }), TypeError);
  });
  it("refuses a principal that is not the one calling", () => {
    const id = parseKnown(parsePrincipalId("other"));
    assert.throws(() => decide({ ...asked, principal: { ...asked.principal, id } }), TypeError);
  });
  it("decides when both agree", () => {
    assert.equal(decide(asked).kind, "allow");
  });
});
