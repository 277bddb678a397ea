/** A schema is untrusted: broken, endless or costly, it must neither block the gateway nor refuse a value that fits. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Json, JsonObject, JsonSchema } from "../domain/index.ts";
import { runAtOnce } from "../timing/index.ts";
import { checkSchema } from "./check-schema.ts";

/** Far above what any of these takes, far below what a runaway check would. */
const AT_ONCE_MS = 3_000;

function check(schema: JsonSchema, value: Json): string | undefined {
  const problems = runAtOnce(checkSchema(schema, value, "arguments"));
  return problems.length === 0 ? undefined : problems.join("; ");
}

function timed(schema: JsonSchema, value: Json): { readonly problem: string | undefined; readonly isQuick: boolean } {
  const start = process.threadCpuUsage(); // a busy machine does not decide
  const problem = check(schema, value);
  return { problem, isQuick: process.threadCpuUsage(start).user / 1_000 < AT_ONCE_MS };
}

const QUICK_AND_FINE = { problem: undefined, isQuick: true };

describe("a costly schema", () => {
  it("a costly schema is checked at once with a regular expression that backtracks", () => {
    const schema = { properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    const problem = "a: does not match the pattern ^(a+)+$";
    assert.deepEqual(timed(schema, { a: `${"a".repeat(30)}!` }), { problem, isQuick: true });
    assert.deepEqual(timed(schema, { a: "a".repeat(30) }), QUICK_AND_FINE);
  });
  it("a costly schema is checked at once with a backtracking expression for property names", () => {
    const schema = { patternProperties: { "^(a+)+$": { type: "number" } } };
    assert.deepEqual(timed(schema, { [`${"a".repeat(30)}!`]: "x" }), QUICK_AND_FINE);
  });
  it("a costly schema is checked at once with a format that backtracks", () => {
    const schema = { properties: { a: { type: "string", format: "url" } } };
    assert.deepEqual(timed(schema, { a: `http://${"a".repeat(60)}` }), QUICK_AND_FINE);
  });
  it("a costly schema is checked at once with many formats of a long string", () => {
    const allOf = Array.from({ length: 3_000 }, () => ({ format: "uri" }));
    const text = `https://example.com/${"a".repeat(900_000)}`;
    assert.deepEqual(timed({ properties: { a: { allOf } } }, { a: text }), QUICK_AND_FINE);
    assert.deepEqual(timed({ properties: { a: { format: "uri" } } }, { a: text }), QUICK_AND_FINE);
    assert.notEqual(timed({ properties: { a: { format: "uri" } } }, { a: `${text} ` }).problem, undefined);
  });
  it("a costly schema is checked at once where uniqueItems would compare every pair of a long array", () => {
    const schema = { properties: { a: { type: "array", uniqueItems: true } } };
    assert.deepEqual(timed(schema, { a: Array.from({ length: 100_000 }, (_, n) => n) }), QUICK_AND_FINE);
  });
  it("a costly schema is checked at once when its definitions double at each level", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `d${n}`,
        { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    );
    const schema: JsonSchema = { $ref: "#/$defs/d0", $defs: { ...$defs, d40: { type: "object" } } };
    assert.deepEqual(timed(schema, {}), QUICK_AND_FINE);
  });
  it("a costly schema is checked at once when its work doubles with the depth of the value", () => {
    const twice = { allOf: [{ $ref: "#" }, { $ref: "#" }] };
    const value = JSON.parse(`${'{"a":'.repeat(60)}{}${"}".repeat(60)}`);
    assert.deepEqual(timed({ properties: { a: twice } }, value), QUICK_AND_FINE);
  });
});

describe("a large schema", () => {
  const values = Array.from({ length: 20_000 }, (_, n) => `value ${n}`);
  const rows = { a: Array.from({ length: 100_000 }, () => "no such value") };

  it("a large schema is checked at once with a long enum, and still checks a small value", () => {
    const schema = { properties: { a: { type: "array", items: { anyOf: [{ enum: values }, { type: "string" }] } } } };
    assert.deepEqual(timed(schema, rows), QUICK_AND_FINE);
    const strict = { properties: { a: { enum: values } } };
    assert.equal(check(strict, { a: "value 7" }), undefined);
    assert.match(check(strict, { a: "other" }) ?? "", /^a: expected one of "value 0",.{190,220}…$/);
  });
  it("a large schema is checked at once with many properties, required names or alternatives", () => {
    const properties = Object.fromEntries(values.map((name) => [name, true]));
    const items = { a: Array.from({ length: 50_000 }, () => ({})) };
    assert.equal(timed({ properties: { a: { items: { properties } } } }, items).isQuick, true);
    assert.equal(timed({ properties: { a: { items: { required: values } } } }, items).isQuick, true);
    const anyOf = Array.from({ length: 5000 }, (_, n) => ({ const: n }));
    assert.equal(timed({ properties: { a: { items: { anyOf } } } }, rows).isQuick, true);
  });
  it("a large schema is checked at once with alternatives inside alternatives", () => {
    const next = (n: number) => ({ $ref: `#/$defs/d${n + 1}` });
    const doubling = Array.from({ length: 40 }, (_, n) => [`d${n}`, { anyOf: [next(n), next(n)] }] as const);
    const $defs = { ...Object.fromEntries(doubling), d40: { type: "number" } };
    assert.equal(timed({ properties: { a: { $ref: "#/$defs/d0" } }, $defs }, { a: "x" }).isQuick, true);
  });
});

describe("a broken schema", () => {
  const broken: readonly (readonly [string, JsonObject])[] = [
    ["a remote reference", { $ref: "https://example.com/schema.json" }],
    ["a missing definition", { properties: { a: { $ref: "#/$defs/none" } } }],
    ["a reference to itself", { $ref: "#" }],
    ["a circle of references", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }],
    ["a dialect that is not a string", { $schema: { toString: 1, valueOf: 1 } }],
    ["required that is not an array", { required: 7 }],
    ["properties that are not an object", { properties: 7 }],
    ["anyOf that is not an array", { anyOf: "x" }],
    ["an id that is not a URL", { $id: "http://[" }],
  ];
  for (const [name, schema] of broken) {
    it(`accepts any value: ${name}`, () => assert.deepEqual(timed(schema, { a: 1 }), QUICK_AND_FINE));
  }
  it("of 100 levels is still checked in the levels that are read", () => {
    const schema = JSON.parse(`${'{"properties":{"a":'.repeat(100)}{"type":"string"}${"}}".repeat(100)}`);
    assert.equal(check(schema, { a: { a: {} } }), undefined);
    const deep = JSON.parse(`{"type":"object","not":${'{"not":'.repeat(100)}{}${"}".repeat(100)}}`);
    assert.equal(timed(deep, {}).isQuick, true);
  });
});

describe("a keyword", () => {
  it("lets patternProperties allow names that additionalProperties would refuse", () => {
    const schema = { properties: { a: true }, patternProperties: { "^x-": true }, additionalProperties: false };
    assert.equal(check(schema, { a: 1, "x-b": 2 }), undefined);
    assert.equal(check(schema, { a: 1, "y-b": 2 }), `["y-b"]: is not allowed here`);
  });
  it("refuses other names without patternProperties", () => {
    assert.equal(
      check({ properties: { a: true }, additionalProperties: false }, { "x-b": 2 }),
      `["x-b"]: is not allowed here`,
    );
  });
  for (const name of ["pattern", "patternProperties", "format", "uniqueItems", "const", "$recursiveAnchor"]) {
    it(`is not mixed up with a property named ${name}`, () => {
      const schema = { properties: { [name]: { type: "string" } }, additionalProperties: false };
      assert.equal(check(schema, { [name]: "x" }), undefined);
      assert.equal(check(schema, { [name]: 1 }), `${name}: expected string, got number`);
    });
  }
  it("is not mixed up with a key of an enum value", () => {
    const schema = {
      properties: { a: { const: { pattern: "x", format: "y" } }, b: { enum: [{ uniqueItems: true }] } },
    };
    assert.equal(check(schema, { a: { pattern: "x", format: "y" }, b: { uniqueItems: true } }), undefined);
    assert.equal(check(schema, { a: {} }), 'a: expected {"pattern":"x","format":"y"}');
  });
});

describe("a dialect", () => {
  it("of draft-04 may have boolean exclusive bounds", () => {
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
  it("of draft-07 ignores keywords beside a reference", () => {
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

describe("a wide value", () => {
  const NAMES = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`property${n}${"n".repeat(60)}`, {}]));
  const SCHEMA = { properties: NAMES, additionalProperties: false };
  const wide = (keys: number): JsonObject =>
    Object.fromEntries(Array.from({ length: keys }, (_, n) => [`propertx${n}${"n".repeat(60)}`, 1]));

  it("a wide value with unknown names is refused at once", () => {
    const { problem, isQuick } = timed(SCHEMA, wide(10_000));
    assert.match(problem ?? "", /is not allowed here; did you mean property/);
    assert.ok(isQuick);
  });
  it("a wide value gets five problems and the number of the others", () => {
    for (const keys of [1_999, 2_000, 2_001]) {
      assert.match(check(SCHEMA, wide(keys)) ?? "", new RegExp(`; and ${keys - 5} more$`));
    }
  });
});

describe("a large value", () => {
  const ITEM = { properties: { id: { type: "integer" } }, additionalProperties: false };
  const rows = (count: number, id: Json = 1): JsonObject => ({ a: Array.from({ length: count }, () => ({ id })) });
  const countPauses = (items: JsonSchema, value: Json): number => {
    const work = checkSchema({ properties: { a: { items } } }, value, "arguments");
    let pauses = 0;
    while (work.next().done !== true) pauses += 1;
    return pauses;
  };

  it("a large value is checked with pauses, and a small one at once", () => {
    const oneOf = [ITEM, { type: "string" }];
    assert.equal(countPauses({ oneOf }, rows(10)), 0);
    assert.ok(countPauses({ oneOf }, rows(20_000)) > 20);
    assert.equal(check({ properties: { a: { items: { oneOf } } } }, rows(20_000)), undefined);
    assert.match(check({ properties: { a: { items: { oneOf } } } }, rows(20_000, "x")) ?? "", /and 19995 more$/);
  });
  it("a large value whose alternatives all fail takes pauses in proportion to its items", () => {
    const anyOf = [{ additionalProperties: false }, { type: "object", additionalProperties: false }];
    const [some, many] = [countPauses({ anyOf }, rows(5_000)), countPauses({ anyOf }, rows(20_000))];
    assert.ok(some > 5 && many < 5 * some, `${some} ${many}`);
    assert.match(
      check({ properties: { a: { items: { anyOf } } } }, rows(20_000)) ?? "",
      /fits none of the alternatives/,
    );
  });
});
