/** A schema is a stranger's: it may be broken, endless or costly, and must neither stop the gateway nor refuse what fits. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Json, JsonObject, JsonSchema } from "../domain/index.ts";
import { checkSchema } from "./check-schema.ts";

/** Far above what any of these takes, far below what a runaway check would. */
const AT_ONCE_MS = 3_000;

function check(schema: JsonSchema, value: Json): string | undefined {
  const problems = checkSchema(schema, value);
  return problems.length === 0 ? undefined : problems.join("; ");
}

function timed(schema: JsonSchema, value: Json): { readonly problem: string | undefined; readonly isQuick: boolean } {
  const start = process.threadCpuUsage(); // a busy machine does not decide
  const problem = check(schema, value);
  return { problem, isQuick: process.threadCpuUsage(start).user / 1_000 < AT_ONCE_MS };
}

const QUICK_AND_FINE = { problem: undefined, isQuick: true };

describe("a costly schema", () => {
  it("with an expression that backtracks answers at once", () => {
    const schema = { properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    assert.deepEqual(timed(schema, { a: `${"a".repeat(30)}!` }), QUICK_AND_FINE);
  });
  it("with such an expression for names answers at once", () => {
    const schema = { patternProperties: { "^(a+)+$": { type: "number" } } };
    assert.deepEqual(timed(schema, { [`${"a".repeat(30)}!`]: "x" }), QUICK_AND_FINE);
  });
  it("with a format that backtracks answers at once", () => {
    const schema = { properties: { a: { type: "string", format: "url" } } };
    assert.deepEqual(timed(schema, { a: `http://${"a".repeat(60)}!` }), QUICK_AND_FINE);
  });
  it("that compares every pair of a long list answers at once", () => {
    const schema = { properties: { a: { type: "array", uniqueItems: true } } };
    assert.deepEqual(timed(schema, { a: Array.from({ length: 100_000 }, (_, n) => n) }), QUICK_AND_FINE);
  });
  it("whose definitions double at each level answers at once", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `d${n}`,
        { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    );
    const schema: JsonSchema = { $ref: "#/$defs/d0", $defs: { ...$defs, d40: { type: "object" } } };
    assert.deepEqual(timed(schema, {}), QUICK_AND_FINE);
  });
  it("that doubles with the depth of the value answers at once", () => {
    const twice = { allOf: [{ $ref: "#" }, { $ref: "#" }] };
    const value = JSON.parse(`${'{"a":'.repeat(60)}{}${"}".repeat(60)}`);
    assert.deepEqual(timed({ properties: { a: twice } }, value), QUICK_AND_FINE);
  });
});

describe("a schema that is costly because it is large", () => {
  const values = Array.from({ length: 20_000 }, (_, n) => `value ${n}`);
  const rows = { a: Array.from({ length: 100_000 }, () => "no such value") };

  it("with a list of values answers at once, and still checks a small value", () => {
    const schema = { properties: { a: { type: "array", items: { anyOf: [{ enum: values }, { type: "string" }] } } } };
    assert.deepEqual(timed(schema, rows), QUICK_AND_FINE);
    const strict = { properties: { a: { enum: values } } };
    assert.equal(check(strict, { a: "value 7" }), undefined);
    assert.match(check(strict, { a: "other" }) ?? "", /^a: expected one of "value 0",.{190,220}…$/);
  });
  it("with many properties, required names or alternatives answers at once", () => {
    const properties = Object.fromEntries(values.map((name) => [name, true]));
    const items = { a: Array.from({ length: 50_000 }, () => ({})) };
    assert.equal(timed({ properties: { a: { items: { properties } } } }, items).isQuick, true);
    assert.equal(timed({ properties: { a: { items: { required: values } } } }, items).isQuick, true);
    const anyOf = Array.from({ length: 5000 }, (_, n) => ({ const: n }));
    assert.equal(timed({ properties: { a: { items: { anyOf } } } }, rows).isQuick, true);
  });
  it("with alternatives inside alternatives answers at once", () => {
    const next = (n: number) => ({ $ref: `#/$defs/d${n + 1}` });
    const doubling = Array.from({ length: 40 }, (_, n) => [`d${n}`, { anyOf: [next(n), next(n)] }] as const);
    const $defs = { ...Object.fromEntries(doubling), d40: { type: "number" } };
    assert.equal(timed({ properties: { a: { $ref: "#/$defs/d0" } }, $defs }, { a: "x" }).isQuick, true);
  });
});

describe("a broken schema says nothing about a value", () => {
  const broken: readonly (readonly [string, JsonObject])[] = [
    ["a remote reference", { $ref: "https://example.com/schema.json" }],
    ["a missing definition", { properties: { a: { $ref: "#/$defs/none" } } }],
    ["a reference to itself", { $ref: "#" }],
    ["a circle of references", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }],
    ["a dialect that is no text", { $schema: { toString: 1, valueOf: 1 } }],
    ["required that is no list", { required: 7 }],
    ["properties that are no object", { properties: 7 }],
    ["a type that is none", { anyOf: "x" }],
    ["an id that is no URL", { $id: "http://[" }],
  ];
  for (const [name, schema] of broken) {
    it(name, () => assert.deepEqual(timed(schema, { a: 1 }), QUICK_AND_FINE));
  }
  it("nested 100 levels: the levels that are read still count", () => {
    const schema = JSON.parse(`${'{"properties":{"a":'.repeat(100)}{"type":"string"}${"}}".repeat(100)}`);
    assert.equal(check(schema, { a: { a: {} } }), undefined);
    const deep = JSON.parse(`{"type":"object","not":${'{"not":'.repeat(100)}{}${"}".repeat(100)}}`);
    assert.equal(timed(deep, {}).isQuick, true);
  });
});

describe("what is left out of a schema", () => {
  it("does not make a value wrong that fits: names that an expression would have allowed", () => {
    const schema = { properties: { a: true }, patternProperties: { "^x-": true }, additionalProperties: false };
    assert.equal(check(schema, { a: 1, "x-b": 2 }), undefined);
  });
  it("has a twin without expressions, which refuses other names", () => {
    assert.equal(
      check({ properties: { a: true }, additionalProperties: false }, { "x-b": 2 }),
      `["x-b"]: is not allowed here`,
    );
  });
  for (const name of ["pattern", "patternProperties", "format", "uniqueItems", "const", "$recursiveAnchor"]) {
    it(`is not a property that is called ${name}`, () => {
      const schema = { properties: { [name]: { type: "string" } }, additionalProperties: false };
      assert.equal(check(schema, { [name]: "x" }), undefined);
      assert.equal(check(schema, { [name]: 1 }), `${name}: expected string, got number`);
    });
  }
  it("is not a key of a value that the schema names", () => {
    const schema = {
      properties: { a: { const: { pattern: "x", format: "y" } }, b: { enum: [{ uniqueItems: true }] } },
    };
    assert.equal(check(schema, { a: { pattern: "x", format: "y" }, b: { uniqueItems: true } }), undefined);
    assert.equal(check(schema, { a: {} }), 'a: expected {"pattern":"x","format":"y"}');
  });
});

describe("the dialects", () => {
  it("of draft-04 has exclusive bounds that are true or false", () => {
    const schema = { properties: { a: { minimum: 5, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } } };
    assert.deepEqual(
      [4, 5, 6, 9, 10].map((a) => check(schema, { a }) === undefined),
      [false, false, true, true, false],
    );
    const named = { ...schema, $schema: "http://json-schema.org/draft-04/schema#" };
    assert.deepEqual(
      [5, 6].map((a) => check(named, { a }) === undefined),
      [false, true],
    );
  });
  it("of OpenAPI allows null where a schema is nullable", () => {
    const properties = { a: { type: "string", nullable: true }, b: { enum: ["x"], nullable: true } };
    assert.equal(check({ properties }, { a: null, b: null }), undefined);
    assert.equal(check({ properties }, { a: 1 }), "a: expected string or null, got number");
  });
  it("of 2020-12 has tuples in prefixItems", () => {
    const schema = { properties: { a: { prefixItems: [{ type: "string" }] } } };
    assert.equal(check(schema, { a: [1] }), "a[0]: expected string, got number");
    assert.equal(check(schema, { a: ["x"] }), undefined);
  });
  it("of draft-07 ignores what stands beside a reference", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      $ref: "#/definitions/a",
      type: "string",
      definitions: { a: { type: "object" } },
    };
    assert.equal(check(schema, {}), undefined);
    assert.notEqual(check({ ...schema, $schema: "https://json-schema.org/draft/2020-12/schema" }, {}), undefined);
  });
});
