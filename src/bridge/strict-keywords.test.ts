/** Keywords that only arguments are checked by: pattern, patternProperties, format, uniqueItems; and contains. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Json, JsonSchema } from "../domain/index.ts";
import { runAtOnce } from "../timing/index.ts";
import { checkSchema } from "./check-schema.ts";
import { matchPattern } from "./match-pattern.ts";

function check(schema: JsonSchema, value: Json): string | undefined {
  const problems = runAtOnce(checkSchema(schema, value, "arguments"));
  return problems.length === 0 ? undefined : problems.join("; ");
}

/** RE2 cannot look ahead. */
const OPEN = { pattern: "^(?!x)" };

/** As a variable: the linter forbids objects with this key. */
const [THEN] = ["then"];

function when({ yes = true, no = true }: { readonly yes?: Json; readonly no?: Json }): JsonSchema {
  return { if: OPEN, [THEN]: yes, else: no };
}

describe("a pattern", () => {
  const schema = { properties: { sku: { type: "string", pattern: "^[A-Z]{3}-\\d+$" } } };

  it("a pattern is named with the path of the string that does not match", () => {
    assert.equal(check(schema, { sku: "abc-1" }), "sku: does not match the pattern ^[A-Z]{3}-\\d+$");
    assert.equal(check(schema, { sku: "ABC-1" }), undefined);
  });
  it("a pattern may match anywhere in the string", () => {
    assert.equal(check({ properties: { a: { pattern: "b" } } }, { a: "abc" }), undefined);
    assert.notEqual(check({ properties: { a: { pattern: "b" } } }, { a: "ac" }), undefined);
  });
  it("a pattern is not about values of other types", () =>
    assert.equal(check(schema, { sku: 7 }), "sku: expected string, got number"));
  it("a pattern that cannot be run is not enforced, and the other keywords are", () => {
    const open = { properties: { a: { ...OPEN, minLength: 2 } } };
    assert.equal(check(open, { a: "xx" }), undefined);
    assert.equal(check(open, { a: "x" }), "a: String is too short (1 < 2)");
  });
  it("a pattern that cannot be run decides nothing below not, oneOf, if and contains", () => {
    const strict = { pattern: "^a" };
    for (const schema of [
      { not: OPEN },
      { oneOf: [OPEN, true] },
      { oneOf: [OPEN, OPEN] },
      when({ yes: false }),
      when({ no: false }),
      { anyOf: [OPEN, strict] },
      { propertyNames: OPEN },
    ])
      assert.equal(check({ properties: { a: schema } }, { a: "b" }), undefined, JSON.stringify(schema));
    for (const schema of [
      { not: { anyOf: [OPEN, true] } },
      { oneOf: [OPEN, true, true] },
      when({ yes: false, no: false }),
      { allOf: [OPEN, strict] },
    ])
      assert.notEqual(check({ properties: { a: schema } }, { a: "b" }), undefined, JSON.stringify(schema));
    const some = (min: number, max: number): JsonSchema => ({
      properties: { a: { contains: { anyOf: [OPEN, { type: "number" }] }, minContains: min, maxContains: max } },
    });
    assert.equal(check(some(2, 2), { a: [1, "open"] }), undefined);
    assert.equal(check(some(1, 1), { a: [1, "open"] }), undefined);
    assert.notEqual(check(some(3, 3), { a: [1, "open"] }), undefined);
    assert.notEqual(check(some(0, 0), { a: [1, "open"] }), undefined);
  });
  it("a pattern is not enforced on results", () => {
    assert.deepEqual(runAtOnce(checkSchema(schema, { sku: "abc-1" }, "result")), []);
    const other = { properties: { a: { format: "date", uniqueItems: true }, b: { not: { pattern: "^b" } } } };
    assert.deepEqual(runAtOnce(checkSchema(other, { a: "x", b: "a" }, "result")), []);
    assert.deepEqual(runAtOnce(checkSchema(other, { a: [1, 1], b: "b" }, "result")), []);
  });
});

describe("the work of a pattern", () => {
  const steps = (pattern: string, text: string): number => {
    matchPattern(pattern, "", { left: 1_000_000 }); // compiles it
    const budget = { left: 1_000_000 };
    assert.notEqual(matchPattern(pattern, text, budget), undefined);
    return 1_000_000 - budget.left;
  };
  const cpu = (pattern: string, text: string): number => {
    const start = process.threadCpuUsage(); // a busy machine does not decide
    matchPattern(pattern, text, { left: 1_000_000 });
    return process.threadCpuUsage(start).user;
  };

  it("the work of a pattern grows with the string and not faster", () => {
    for (const pattern of ["^(a+)+$", "^(a|a)*$", "(a*)*b", "(.*)(.*)(.*)x"]) {
      const [half, whole] = [`${"a".repeat(50_000)}!`, `${"a".repeat(100_000)}!`];
      assert.ok(steps(pattern, whole) <= 2.1 * steps(pattern, half), pattern);
      cpu(pattern, whole); // warm
      assert.ok(cpu(pattern, whole) < 10 * cpu(pattern, half) + 50_000, pattern);
      assert.equal(matchPattern(pattern, whole, { left: 1_000_000 }), false);
    }
  });
  it("the work of a pattern is within the steps that are left, or it is not done", () => {
    const text = "a".repeat(10_000);
    const needed = steps("^a+$", text);
    assert.equal(matchPattern("^a+$", text, { left: needed + 1 }), true);
    assert.equal(matchPattern("^a+$", text, { left: needed }), true);
    assert.equal(matchPattern("^a+$", text, { left: needed - 1 }), undefined);
  });
  it("the work of a pattern includes its compilation", () => {
    const budget = { left: 100 };
    assert.equal(matchPattern("^[a-z]{1,900}$", "a", budget), undefined);
    assert.equal(budget.left, 100);
    assert.equal(matchPattern("^[a-z]{1,900}$", "a", { left: 100_000 }), true);
  });
  it("the work of many patterns ends the check before it holds up the gateway", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, n) => [`p${n}`, { pattern: `^(?:[a-z]{1,400}${n}){2}$` }]),
    );
    const value = Object.fromEntries(Object.keys(properties).map((key) => [key, "A"]));
    const start = process.threadCpuUsage();
    const problem = check({ properties }, value);
    assert.ok(process.threadCpuUsage(start).user < 3_000_000);
    assert.match(problem ?? "", /^p0: does not match the pattern/);
  });
  it("the work of a pattern on a long string leaves the other arguments checked", () => {
    const properties = { text: { pattern: "^(?:[a-z]{1,400}){2}$" }, page: { type: "integer" } };
    const text = "a".repeat(900_000);
    assert.equal(check({ properties }, { text, page: 1 }), undefined);
    assert.equal(check({ properties }, { text, page: "x" }), "page: expected integer, got string");
  });
});

describe("not", () => {
  it("is named where a value fits it", () => {
    assert.equal(
      check({ properties: { a: { not: { pattern: "^a" } } } }, { a: "ab" }),
      'a: must not fit its schema "not"',
    );
    assert.equal(check({ properties: { a: { not: { pattern: "^a" } } } }, { a: "b" }), undefined);
  });
});

describe("patternProperties", () => {
  const schema = {
    type: "object",
    properties: { id: { type: "string" } },
    patternProperties: { "^x-": { type: "number" } },
    additionalProperties: false,
  };
  it("checks the values of names that match", () => {
    assert.equal(check(schema, { id: "a", "x-a": "1" }), '["x-a"]: expected number, got string');
    assert.equal(check(schema, { id: "a", "x-a": 1 }), undefined);
  });
  it("leaves names open that a pattern which cannot be run may match", () => {
    const open = { ...schema, patternProperties: { "^x-": { type: "number" }, "^(?!y)": { type: "string" } } };
    assert.equal(check(open, { other: 1 }), undefined);
    assert.equal(check(open, { "x-a": "1" }), '["x-a"]: expected number, got string');
  });
  it("counts the names that it evaluates", () => {
    const all = { allOf: [{ patternProperties: { "^x-": true } }], unevaluatedProperties: false };
    assert.equal(check(all, { "x-a": 1 }), undefined);
    assert.equal(check(all, { "y-a": 1 }), '["y-a"]: is not allowed here');
  });
});

describe("uniqueItems", () => {
  const schema = { properties: { tags: { type: "array", uniqueItems: true } } };
  it("refuses equal items and names them", () => {
    assert.equal(check(schema, { tags: ["a", "b", "a"] }), "tags: items 0 and 2 are equal; all items must differ");
    assert.notEqual(
      check(schema, {
        tags: [
          { a: 1, b: [2] },
          { b: [2], a: 1 },
        ],
      }),
      undefined,
    );
    assert.notEqual(check(schema, { tags: [0, -0] }), undefined);
  });
  it("accepts items that differ in type, order or depth", () => {
    assert.equal(
      check(schema, { tags: [1, "1", true, "true", null, "null", [1], [[1]], { a: 1 }, { a: [1] }] }),
      undefined,
    );
    assert.equal(
      check(schema, {
        tags: [
          [1, 2],
          [2, 1],
        ],
      }),
      undefined,
    );
    assert.equal(check({ properties: { tags: { uniqueItems: false } } }, { tags: [1, 1] }), undefined);
  });
  it("takes work that grows with the array and not with its square", () => {
    const rows = Array.from({ length: 40_000 }, (_, n) => ({ n }));
    assert.equal(check(schema, { tags: rows }), undefined);
    assert.equal(
      check(schema, { tags: [...rows, { n: 7 }] }),
      "tags: items 7 and 40000 are equal; all items must differ",
    );
  });
});

describe("contains", () => {
  const schema = (bounds: JsonSchema): JsonSchema => ({
    properties: { a: { type: "array", contains: { type: "number" }, ...bounds } },
  });
  const seen = (bounds: JsonSchema): readonly boolean[] =>
    [[], ["x"], [1, "x"], [1, 2], [1, 2, 3], [1, 2, 3, 4]].map((a) => check(schema(bounds), { a }) === undefined);
  it("needs one item by default", () => assert.deepEqual(seen({}), [false, false, true, true, true, true]));
  it("is bounded by minContains", () => {
    assert.deepEqual(seen({ minContains: 2 }), [false, false, false, true, true, true]);
    assert.deepEqual(seen({ minContains: 0 }), [true, true, true, true, true, true]);
  });
  it("is bounded by maxContains", () => {
    assert.deepEqual(seen({ maxContains: 2 }), [false, false, true, true, false, false]);
    assert.deepEqual(seen({ minContains: 2, maxContains: 3 }), [false, false, false, true, true, false]);
  });
  it("names the number of items and what was expected", () => {
    assert.equal(check(schema({}), { a: ["x"] }), 'a: 0 items fit its schema "contains"; expected at least 1');
    assert.equal(
      check(schema({ maxContains: 1 }), { a: [1, 2] }),
      'a: 2 items fit its schema "contains"; expected at most 1',
    );
  });
});

describe("a format", () => {
  const schema = (format: string): JsonSchema => ({ properties: { a: { type: "string", format } } });
  it("a format is named with an example", () => {
    assert.equal(
      check(schema("date-time"), { a: "tomorrow" }),
      'a: expected the format "date-time", for example 2000-01-01T00:00:00Z',
    );
    assert.equal(check(schema("date-time"), { a: "2026-11-17T20:00:00+01:00" }), undefined);
  });
  it("a format that is not known is ignored, also below not", () => {
    for (const format of ["int32", "int64", "byte", "binary", "password", "regex", "phone", "constructor"])
      assert.equal(check(schema(format), { a: "(?P<x>" }), undefined);
    assert.equal(check({ properties: { a: { not: { format: "phone" } } } }, { a: "x" }), undefined);
  });
  it("a format is not about numbers", () => {
    assert.equal(check({ properties: { a: { format: "date" } } }, { a: 7 }), undefined);
    assert.equal(check({ properties: { a: { type: "integer", format: "int32" } } }, { a: 7 }), undefined);
  });
});
