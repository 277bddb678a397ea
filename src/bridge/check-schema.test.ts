/** A schema is a stranger's: it may be broken, endless or costly, and must neither stop the gateway nor refuse what fits. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Json, JsonObject, JsonSchema } from "../domain/index.ts";
import { checkSchema } from "./check-schema.ts";

/** Far above what any of these takes, far below what a runaway check would. */
const AT_ONCE_MS = 3_000;

function timed(schema: JsonSchema, value: Json): { readonly problem: string | undefined; readonly isQuick: boolean } {
  const startedAt = performance.now();
  const problem = checkSchema(schema, value);
  return { problem, isQuick: performance.now() - startedAt < AT_ONCE_MS };
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
    assert.equal(checkSchema(schema, { a: { a: {} } }), undefined);
    const deep = JSON.parse(`{"type":"object","not":${'{"not":'.repeat(100)}{}${"}".repeat(100)}}`);
    assert.equal(timed(deep, {}).isQuick, true);
  });
});

describe("what is left out of a schema", () => {
  it("does not make a value wrong that fits: names that an expression would have allowed", () => {
    const schema = { properties: { a: true }, patternProperties: { "^x-": true }, additionalProperties: false };
    assert.equal(checkSchema(schema, { a: 1, "x-b": 2 }), undefined);
  });
  it("has a twin without expressions, which refuses other names", () => {
    assert.equal(
      checkSchema({ properties: { a: true }, additionalProperties: false }, { "x-b": 2 }),
      "x-b: False boolean schema.",
    );
  });
  for (const name of ["pattern", "patternProperties", "format", "uniqueItems", "const", "$recursiveAnchor"]) {
    it(`is not a property that is called ${name}`, () => {
      const schema = { properties: { [name]: { type: "string" } }, additionalProperties: false };
      assert.equal(checkSchema(schema, { [name]: "x" }), undefined);
      assert.equal(
        checkSchema(schema, { [name]: 1 }),
        `${name}: Instance type "number" is invalid. Expected "string".`,
      );
    });
  }
  it("is not a key of a value that the schema names", () => {
    const schema = {
      properties: { a: { const: { pattern: "x", format: "y" } }, b: { enum: [{ uniqueItems: true }] } },
    };
    assert.equal(checkSchema(schema, { a: { pattern: "x", format: "y" }, b: { uniqueItems: true } }), undefined);
    assert.equal(checkSchema(schema, { a: {} }), 'a: Instance does not match {"pattern":"x","format":"y"}.');
  });
});

describe("the dialects", () => {
  it("of 2020-12 has tuples in prefixItems", () => {
    const schema = { properties: { a: { prefixItems: [{ type: "string" }] } } };
    assert.equal(checkSchema(schema, { a: [1] }), 'a.0: Instance type "number" is invalid. Expected "string".');
    assert.equal(checkSchema(schema, { a: ["x"] }), undefined);
  });
  it("of draft-07 ignores what stands beside a reference", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      $ref: "#/definitions/a",
      type: "string",
      definitions: { a: { type: "object" } },
    };
    assert.equal(checkSchema(schema, {}), undefined);
    assert.notEqual(checkSchema({ ...schema, $schema: "https://json-schema.org/draft/2020-12/schema" }, {}), undefined);
  });
});
