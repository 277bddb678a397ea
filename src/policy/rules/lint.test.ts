/** Which rules are reported because they change nothing, each with a twin that does. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { PolicyRule, PolicySettings } from "../../domain/index.ts";
import { condition, known, policyOf, rule, toolOf } from "./fixtures/decision-case.ts";
import { parsePrincipalId } from "../../domain/index.ts";
import { lintPolicy } from "./lint.ts";

const TOOLS = [toolOf("shop.pay", "write"), toolOf("shop.list", "read"), toolOf("shop.drop", "destroy")];
const WHEN = [condition("amount", { kind: "range", max: 9 })];

function lint(rules: readonly PolicyRule[], more: Partial<PolicySettings> = {}, unlisted: readonly string[] = []) {
  const findings = lintPolicy({ settings: policyOf({ rules, ...more }), tools: TOOLS, unlisted });
  return findings.map((finding) => `${finding.rule}: ${finding.kind}`);
}

describe("lintPolicy", () => {
  it("reports a rule that matches no tool, unless it may be for a server that has not listed its tools", () => {
    const idle = [
      rule("name", "deny", { tools: ["shop.pays"] }),
      rule("effect", "deny", { tools: ["shop.pay"], effects: ["destroy"] }),
      rule("server", "deny", { servers: ["shop"] }),
    ];
    assert.deepEqual(lint(idle), ["name: idle", "effect: idle", "server: idle"]);
    assert.deepEqual(lint(idle, {}, ["shop"]), []);
    assert.deepEqual(lint(idle, {}, ["mail"]), ["name: idle", "effect: idle", "server: idle"]);
    const anywhere = [
      rule("star", "deny", { tools: ["*.pays"] }),
      rule("kind", "deny", { tools: [], effects: ["unknown"] }),
    ];
    assert.deepEqual([lint(anywhere), lint(anywhere, {}, ["mail"])], [["star: idle", "kind: idle"], []]);
    assert.deepEqual(lint([rule("used", "deny", { tools: ["shop.pa*"], servers: ["shop-server"] })]), []);
  });
  it("reports a rule that a stricter or an earlier equal rule covers", () => {
    const broad = rule("broad", "deny", { tools: ["shop.*"] });
    assert.deepEqual(lint([rule("narrow", "ask", { tools: ["shop.pay"], when: WHEN }), broad]), ["narrow: shadowed"]);
    assert.deepEqual(lint([broad, rule("again", "deny", { tools: ["shop.list"] })]), ["again: shadowed"]);
    assert.deepEqual(lint([rule("first", "deny", { tools: ["shop.list"] }), broad]), []);
  });
  it("reports no rule as shadowed by one with conditions, for fewer tools or for fewer principals", () => {
    const narrow = rule("narrow", "ask", { tools: ["shop.pay"] });
    assert.deepEqual(lint([narrow, rule("some", "deny", { tools: ["shop.*"], when: WHEN })]), []);
    assert.deepEqual(lint([narrow, rule("other", "deny", { tools: ["shop.drop"] })]), []);
    assert.deepEqual(lint([narrow, rule("one", "deny", { principals: ["ada"] })]), []);
    const groups = new Map([["night", [known(parsePrincipalId("ada"))]]]);
    const adas = rule("adas", "ask", { principals: ["ada"] });
    assert.deepEqual(lint([adas, rule("night", "deny", { groups: ["night"] })], { groups }), ["adas: shadowed"]);
    assert.deepEqual(
      lint([rule("night", "ask", { groups: ["night"] }), rule("a", "deny", { principals: ["ada"] })]),
      [],
    );
  });
  it("reports an allow rule where the profile allows anyway, and none where it asks", () => {
    const small = rule("small", "allow", { tools: ["shop.pay"], when: WHEN });
    assert.deepEqual(lint([small]), ["small: without effect"]);
    assert.deepEqual(lint([small], { profile: "strict" }), []);
    assert.deepEqual(lint([rule("all", "allow", { tools: ["shop.*"] })]), []);
  });
});
