/** Conditions on arguments: the result of each test, and that an unclear result never permits a call. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import type { Condition, Decision, Json } from "../../domain/index.ts";
import { decideWith, condition, pattern, rule } from "./fixtures/decision-case.ts";
import { MAX_PATTERN_TEXT, MAX_STEPS, matchCondition } from "./match-condition.ts";

const EQUALS: Condition["test"] = { kind: "equals", value: "eu" };
const PREFIX: Condition["test"] = { kind: "prefix", text: "/work/" };
const RANGE: Condition["test"] = { kind: "range", min: 1, max: 10 };

const match = (test: Condition["test"], value: Json, more = {}): string =>
  matchCondition(condition("a", test, more), { a: value }, { decision: "deny" });

describe("matchCondition with one value", () => {
  it("compares scalars by type and value", () => {
    assert.deepEqual(
      ["eu", "EU", ""].map((value) => match(EQUALS, value)),
      ["yes", "no", "no"],
    );
    assert.deepEqual(
      [true, false, "true", 1, null].map((value) => match({ kind: "equals", value: true }, value)),
      ["yes", "no", "unclear", "unclear", "unclear"],
    );
    assert.deepEqual(
      [null, "x", 0].map((value) => match({ kind: "equals", value: null }, value)),
      ["yes", "no", "no"],
    );
  });
  it("matches one of several values and is unclear for a type that none of them has", () => {
    const test: Condition["test"] = { kind: "oneOf", values: ["a", null, 3] };
    assert.deepEqual(
      ["a", null, 3, "b", 4, true, ["a"]].map((value) => match(test, value)),
      ["yes", "yes", "yes", "no", "no", "unclear", "unclear"],
    );
  });
  it("compares whole values, in any order of keys", () => {
    const test: Condition["test"] = { kind: "is", value: { a: [1, null], b: "x" } };
    assert.deepEqual(
      [{ b: "x", a: [1, null] }, { a: [1, null] }, { a: [1, null], b: "x", c: 1 }, { a: [null, 1], b: "x" }, "x"].map(
        (value) => match(test, value),
      ),
      ["yes", "no", "no", "no", "no"],
    );
  });
  it("compares the prefix of strings only", () => {
    assert.deepEqual(
      ["/work/x", "/work/", "/work", " /work/x", ["/work/x"]].map((value) => match(PREFIX, value)),
      ["yes", "yes", "no", "no", "unclear"],
    );
  });
  it("includes both ends of a range: just below, at and just above", () => {
    assert.deepEqual(
      [0.999, 1, 10, 10.001, "5"].map((value) => match(RANGE, value)),
      ["no", "yes", "yes", "no", "unclear"],
    );
    assert.equal(match({ kind: "range", min: 1 }, 1e300), "yes");
    assert.equal(match({ kind: "range", max: 1 }, -1e300), "yes");
  });
  it("matches a pattern up to the maximum length and is unclear above it", () => {
    const test: Condition["test"] = { kind: "matches", pattern: pattern("a*") };
    assert.equal(match(test, "a".repeat(MAX_PATTERN_TEXT)), "yes");
    assert.equal(match(test, "a".repeat(MAX_PATTERN_TEXT + 1)), "unclear");
  });
  it("inverts the result for not, except if it is unclear", () => {
    assert.deepEqual(
      ["eu", "us", 5].map((value) => match(EQUALS, value, { not: true })),
      ["no", "yes", "unclear"],
    );
  });
});

describe("matchCondition with a path", () => {
  const at = (path: string, args: Json, more = {}, decision: Decision["kind"] = "deny"): string =>
    matchCondition(condition(path, EQUALS, more), args, { decision });

  it("matchCondition with a path is unclear if the path is missing, unless the condition defines that case", () => {
    assert.equal(at("a.b", { a: {} }), "unclear");
    assert.equal(at("a.b", { a: {} }, { missing: "holds" }), "yes");
    assert.equal(at("a.b", { a: {} }, { missing: "fails" }), "no");
    assert.equal(at("a[1]", { a: ["eu"] }, { missing: "fails" }), "no");
    assert.equal(at("a.b", { a: { b: "eu" } }, { missing: "fails" }), "yes");
  });
  it("matchCondition with a path is unclear if a value on the path has another type, whatever `missing` is", () => {
    for (const a of ["eu", 5, null, ["eu"]]) assert.equal(at("a.b", { a }, { missing: "fails" }), "unclear");
    assert.equal(at("a[0]", { a: { 0: "eu" } }, { missing: "fails" }), "unclear");
    assert.equal(at("a[*]", { a: "eu" }, { missing: "fails" }), "unclear");
  });
  it("reads own properties only", () => {
    for (const path of ["constructor", "a.toString", '["__proto__"]', "a.length"]) {
      assert.equal(
        matchCondition(condition(path, EQUALS, { missing: "fails" }), { a: {} }, { decision: "deny" }),
        "no",
        path,
      );
    }
  });
  it("selects each value of an array or object: one is enough to refuse, all are needed to allow", () => {
    const mixed = { a: ["eu", "us"] };
    assert.deepEqual([at("a[*]", mixed), at("a[*]", mixed, {}, "allow")], ["yes", "no"]);
    assert.deepEqual([at("a[*]", { a: ["eu"] }), at("a[*]", { a: ["eu"] }, {}, "allow")], ["yes", "yes"]);
    assert.deepEqual([at("a[*]", { a: ["us", 5] }), at("a[*]", { a: ["eu", 5] }, {}, "allow")], ["unclear", "unclear"]);
    assert.deepEqual([at("a[*]", { a: [] }), at("a[*]", { a: [] }, {}, "allow")], ["no", "no"]);
    assert.equal(at("a[*].b", { a: { x: { b: "us" }, y: { b: "eu" } } }), "yes");
    assert.equal(at("a[*]", { a: ["eu", "us"] }, { not: true }), "yes");
  });
  it("matchCondition with a path is unclear above the maximum number of steps", () => {
    const many = (count: number): Json => ({ a: Array.from({ length: count }, () => "us") });
    // One step for the arguments, one for the array, and one for each value.
    assert.equal(at("a[*]", many(MAX_STEPS - 2)), "no");
    assert.equal(at("a[*]", many(MAX_STEPS - 1)), "unclear");
    assert.equal(at("a[*][*]", { a: Array.from({ length: MAX_STEPS }, () => []) }), "unclear");
  });
});

it("all rules of a decision share one step budget", () => {
  const args = { a: Array.from({ length: MAX_STEPS / 4 }, () => "us") };
  const rules = (count: number) =>
    Array.from({ length: count }, (_, index) => rule(`r${index}`, "deny", { when: [condition("a[*]", EQUALS)] }));
  assert.equal(decideWith(args, rules(3)), "allow");
  assert.equal(decideWith(args, rules(4)), "deny");
  const long = { a: "a".repeat(MAX_PATTERN_TEXT) };
  const hard = { kind: "matches", pattern: pattern(`${"?*".repeat(99)}b`) } as const;
  const patterns = (count: number) =>
    Array.from({ length: count }, (_, index) => rule(`r${index}`, "deny", { when: [condition("a", hard)] }));
  assert.equal(decideWith(long, patterns(30)), "allow");
  assert.equal(decideWith(long, patterns(31)), "deny");
});

describe("an unclear condition", () => {
  const when = [condition("amount", RANGE)];
  const missing: readonly Json[] = [{}, { amount: "5" }, { amount: null }, { amount: [5] }];

  it("makes deny and ask apply, and allow not", () => {
    for (const args of missing) {
      assert.equal(decideWith(args, [rule("r", "deny", { when })]), "deny");
      assert.equal(decideWith(args, [rule("r", "ask", { when })]), "ask");
      assert.equal(decideWith(args, [rule("r", "allow", { when })], "strict"), "ask");
    }
  });
  it("an unclear condition has no effect if the result is clear", () => {
    assert.equal(decideWith({ amount: 11 }, [rule("r", "deny", { when })]), "allow");
    assert.equal(decideWith({ amount: 5 }, [rule("r", "deny", { when })]), "deny");
    assert.equal(decideWith({ amount: 5 }, [rule("r", "allow", { when })], "strict"), "allow");
  });
  it("an unclear condition does not matter if another condition does not match", () => {
    const both = [...when, condition("currency", EQUALS)];
    assert.equal(decideWith({ currency: "us" }, [rule("r", "deny", { when: both })]), "allow");
    assert.equal(decideWith({ currency: "eu" }, [rule("r", "deny", { when: both })]), "deny");
  });
});

describe("decide with arbitrary arguments", () => {
  const anyTest = fc.constantFrom<Condition["test"]>(EQUALS, PREFIX, RANGE, { kind: "oneOf", values: ["eu", 3, null] });
  const anyCondition = fc
    .record({ path: fc.constantFrom("a", "a[*]", "a.b", "$", "b[0]"), test: anyTest, not: fc.boolean() })
    .map(({ path, test, not }) => condition(path, test, { not }));
  const anyRule = fc
    .record({
      decision: fc.constantFrom<Decision["kind"]>("allow", "ask", "deny"),
      when: fc.array(anyCondition, { maxLength: 2 }),
    })
    .map(({ decision, when }) => ({ decision, when }));
  const anyArgs = fc.dictionary(fc.constantFrom("a", "b"), fc.jsonValue({ maxDepth: 2 })).map((args) => args as Json);
  const STRICTNESS: Readonly<Record<string, number>> = { allow: 0, ask: 1, deny: 2 };

  it("decide with arbitrary arguments does not depend on the order of rules", () => {
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 5 }), anyArgs, (parts, args) => {
        const rules = parts.map((part, index) => rule(`r${index}`, part.decision, part));
        assert.equal(decideWith(args, rules), decideWith(args, rules.toReversed()));
      }),
    );
  });
  it("never becomes looser by one more deny or ask rule", () => {
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 5 }), anyRule, anyArgs, (parts, extra, args) => {
        const rules = parts.map((part, index) => rule(`r${index}`, part.decision, part));
        const before = decideWith(args, rules);
        const denied = decideWith(args, [...rules, rule("extra", "deny", { when: extra.when })]);
        assert.ok((STRICTNESS[denied] ?? -1) >= (STRICTNESS[before] ?? 3));
      }),
    );
  });
});
