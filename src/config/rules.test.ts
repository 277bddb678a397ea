/** What rules and labels of a configuration become, and which are refused. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parse, refusal } from "./fixtures/parse.ts";

test("rules get a default id, a reason, and empty arrays for absent fields", () => {
  const { policy } = parse({
    policy: {
      rules: [
        { decision: "deny" },
        { id: "no-writes", decision: "ask", tools: ["*", "github.*", "git.push"], effects: ["write"], reason: "Ask" },
        { decision: "allow", effects: ["unknown", "read", "destroy"] },
      ],
    },
  });
  assert.deepEqual(policy.rules, [
    { id: "rule-1", decision: "deny", tools: [], effects: [], reason: "Rule rule-1 of the configuration says deny" },
    { id: "no-writes", decision: "ask", tools: ["*", "github.*", "git.push"], effects: ["write"], reason: "Ask" },
    {
      id: "rule-3",
      decision: "allow",
      tools: [],
      effects: ["unknown", "read", "destroy"],
      reason: "Rule rule-3 of the configuration says allow",
    },
  ]);
});

function sharedId(id: string): string {
  return `configuration policy.rules[1].id: another rule has the id "${id}"; use different ids`;
}

test("two rules with the same id are refused, even if one is a default id", () => {
  const twice = { decision: "deny", id: "a" };
  assert.equal(refusal({ policy: { rules: [twice, twice] } }), sharedId("a"));
  assert.equal(
    refusal({ policy: { rules: [{ decision: "deny", id: "rule-2" }, { decision: "ask" }] } }),
    sharedId("rule-2"),
  );
  assert.equal(refusal({ policy: { rules: [twice, { ...twice, id: "b" }] } }), "accepted");
});

test("ids of rules of Glovebox itself are refused, and similar ones accepted", () => {
  const withId = (id: string): string => refusal({ policy: { rules: [{ decision: "ask", id }] } });
  for (const id of ["profile:balanced", "flow:private+untrusted>external", "access:x", "builtin", "input"])
    assert.match(withId(id), /^configuration policy\.rules\[0\]\.id: .* rule of Glovebox itself; use another id$/);
  for (const id of ["profile", "my-flow:x", "inputs", "not:builtin"]) assert.equal(withId(id), "accepted");
});

test("an empty array of tools is refused, because it would match every tool", () => {
  assert.equal(
    refusal({ policy: { rules: [{ decision: "allow", tools: [] }] } }),
    "configuration policy.rules[0].tools: expected an array of 1 or more entries; found an empty array",
  );
});

test("an entry of policy.labels must add or remove labels", () => {
  const labels = (entry: object): string => refusal({ policy: { labels: [{ tools: ["a.*"], ...entry }] } });
  assert.equal(labels({ add: ["private"] }), "accepted");
  assert.equal(labels({ remove: ["external"] }), "accepted");
  assert.match(labels({}), /^configuration policy\.labels\[0\]: expected add or remove/);
  assert.match(labels({ add: ["secret"] }), /^configuration policy\.labels\[0\]\.add\[0\]: expected one of "private"/);
  assert.match(labels({ add: [] }), /add: expected an array of 1 or more entries/);
  assert.match(labels({ tools: ["git*"], add: ["private"] }), /tools\[0\]: expected "\*", "namespace\.\*"/);
});
