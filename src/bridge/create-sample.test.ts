/** Values made from schemas: what ordinary ones look like, that all of them fit, and what hostile schemas cost. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Validator } from "@cfworker/json-schema";
import * as fc from "fast-check";

import type { Json, JsonSchema } from "../domain/index.ts";
import { createSample } from "./create-sample.ts";

/** Everything that the schema says is checked here, patterns and formats too. */
function fits(schema: JsonSchema, value: Json): boolean {
  return new Validator({ ...schema }, "2020-12", true).validate(value).valid;
}

const EXAMPLES: readonly (readonly [string, JsonSchema, Json])[] = [
  [
    "fills in what is optional, and prefers something to null",
    {
      type: "object",
      properties: { id: { type: "integer" }, note: { anyOf: [{ type: "null" }, { type: "string" }] } },
    },
    { id: 1, note: "text" },
  ],
  ["takes what a schema lists", { enum: ["open", "closed"] }, "open"],
  ["takes what a schema fixes", { const: { a: [null] } }, { a: [null] }],
  ["takes the default", { type: "string", default: "main" }, "main"],
  ["passes over a default that does not fit", { type: "integer", default: "main" }, 1],
  ["takes the first example", { type: "string", examples: ["x7"] }, "x7"],
  ["keeps to a length", { type: "string", minLength: 6, maxLength: 6 }, "textxx"],
  ["knows formats", { type: "string", format: "date-time" }, "2000-01-01T00:00:00Z"],
  ["does not follow patterns", { type: "string", pattern: "^[A-Z]{2}-\\d{3,}(?:-(x|y))?$" }, "text"],
  ["keeps to bounds and steps", { type: "integer", exclusiveMinimum: 5, maximum: 10, multipleOf: 2.5 }, 10],
  ["reads bounds as draft-04 writes them", { type: "integer", minimum: 5, exclusiveMinimum: true }, 6],
  ["gives a list an item", { type: "array", items: { type: "boolean" } }, [true]],
  ["gives different items", { type: "array", items: { type: "integer" }, minItems: 3, uniqueItems: true }, [1, 2, 3]],
  ["puts in what a list contains", { type: "array", contains: { const: 5 }, minItems: 2, items: true }, [5, {}]],
  [
    "takes items by place",
    { type: "array", prefixItems: [{ const: "a" }, { type: "number" }], items: false },
    ["a", 2],
  ],
  [
    "invents names where there must be more",
    { type: "object", minProperties: 2, additionalProperties: { type: "null" } },
    { key1: null, key2: null },
  ],
  [
    "joins what must hold together",
    {
      allOf: [
        { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
        { properties: { a: { minimum: 7 } } },
      ],
    },
    { a: 7 },
  ],
  [
    "leaves out what would fit two where only one may",
    {
      type: "object",
      properties: { a: { type: "null" }, b: { type: "null" } },
      oneOf: [{ required: ["a"] }, { required: ["a", "b"] }],
    },
    { a: null },
  ],
  [
    "follows conditions",
    { type: "object", if: { required: ["c"], properties: { c: false } }, else: { required: ["b"] } },
    { b: {} },
  ],
  ["keeps clear of what is excluded", { type: "string", not: { enum: ["text"] } }, "other0"],
  ["knows what depends on what", { properties: { a: true }, dependentRequired: { a: ["z"] } }, { a: {}, z: {} }],
];

describe("a sample", () => {
  for (const [name, schema, expected] of EXAMPLES) {
    it(name, () => assert.deepEqual(createSample(schema), expected));
  }
  it("is the same for the same schema", () => {
    for (const [, schema] of EXAMPLES) assert.deepEqual(createSample(schema), createSample(structuredClone(schema)));
  });
  it("ends where a schema asks for itself", () => {
    const node = {
      type: "object",
      properties: { next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
      required: ["next"],
    };
    const value = createSample({ $ref: "#/$defs/node", $defs: { node } });
    assert.deepEqual(value, { next: { next: { next: null } } });
  });
  it("does not exist where no value can", () => {
    assert.equal(createSample({ allOf: [{ type: "string" }, { type: "number" }] }), undefined);
    assert.equal(createSample({ type: "string", minLength: 3, maxLength: 2 }), undefined);
    assert.equal(
      createSample({
        $ref: "#/$defs/a",
        $defs: { a: { type: "object", required: ["a"], properties: { a: { $ref: "#/$defs/a" } } } },
      }),
      undefined,
    );
  });
  it("is given up when it would be too large: a text at its most, and one character more", () => {
    assert.equal(createSample({ type: "string", minLength: 10_000 }), "text".padEnd(10_000, "x"));
    assert.equal(createSample({ type: "string", minLength: 10_001 }), undefined);
  });
  it("is given up when definitions double at every level", () => {
    const doubling = (levels: number): JsonSchema => {
      const both = (at: number): JsonSchema => ({
        type: "object",
        properties: { a: { $ref: `#/$defs/d${at}` }, b: { $ref: `#/$defs/d${at}` } },
        required: ["a", "b"],
      });
      const all = Array.from({ length: levels }, (_, at) => [`d${at}`, at === 0 ? { type: "null" } : both(at - 1)]);
      return { $ref: `#/$defs/d${levels - 1}`, $defs: Object.fromEntries(all) };
    };
    assert.notEqual(createSample(doubling(6)), undefined);
    assert.equal(createSample(doubling(14)), undefined);
    assert.equal(createSample(doubling(30)), undefined);
  });
  it("is checked as a whole where its parts cannot be checked alone", () => {
    const properties = { a: { $ref: "#/properties/b" }, b: { type: "null" } };
    const oneOf = [{ required: ["a"] }, { required: ["a", "b"] }];
    assert.deepEqual(createSample({ type: "object", properties, oneOf }), { a: null });
  });
  it("never runs the expression of a pattern", () => {
    assert.equal(createSample({ type: "string", pattern: "^(a+)+$" }), "text");
    assert.equal(createSample({ type: "string", pattern: "(?=x)\\p{L}\\1[^\\d]" }), "text");
  });
});

/** Schemas of which each allows something, as servers write them. */
const { schema: arbitrary } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<JsonSchema>({ type: "boolean" }, { type: "null" }, {}, { type: ["string", "null"] }),
    fc.tuple(fc.nat(5), fc.nat(5)).map(([a, b]): JsonSchema => ({ type: "string", minLength: a, maxLength: a + b })),
    fc
      .tuple(fc.integer({ min: -50, max: 50 }), fc.nat(20), fc.constantFrom(1, 2, 5))
      .map(([a, b, step]): JsonSchema => ({ type: "integer", minimum: a, maximum: a + b + step, multipleOf: step })),
    fc.double({ min: -9, max: 9, noNaN: true }).map((a): JsonSchema => ({ type: "number", exclusiveMinimum: a })),
    fc
      .uniqueArray(fc.oneof(fc.string(), fc.integer()), { minLength: 1 })
      .map((values): JsonSchema => ({ enum: values })),
    fc
      .tuple(tie("schema"), fc.nat(3), fc.nat(2))
      .map(([items, a, b]): JsonSchema => ({ type: "array", items, minItems: a, maxItems: a + b })),
    fc
      .tuple(fc.dictionary(fc.string(), tie("schema"), { maxKeys: 4 }), fc.boolean())
      .map(([properties, isClosed]): JsonSchema => ({
        type: "object",
        properties,
        required: Object.keys(properties).filter((_, at) => at % 2 === 0),
        ...(isClosed && { additionalProperties: false }),
      })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf): JsonSchema => ({ anyOf })),
    fc.tuple(tie("schema"), tie("schema")).map(([one, other]): JsonSchema => ({
      oneOf: [one, other].map((schema, at) => ({
        type: "object",
        properties: { kind: { const: at }, value: schema },
        required: ["kind", "value"],
      })),
    })),
    tie("schema").map((schema): JsonSchema => ({ allOf: [schema, {}] })),
    fc.constant<JsonSchema>({ $ref: "#/$defs/shared" }),
  ),
}));

const SHARED = {
  type: "object",
  properties: { id: { type: "string" }, parent: { anyOf: [{ $ref: "#/$defs/shared" }, { type: "null" }] } },
  required: ["id", "parent"],
};

describe("any schema that allows something", () => {
  it("has a sample, and the sample fits", () => {
    fc.assert(
      fc.property(arbitrary, (inner) => {
        const schema: JsonSchema = { ...inner, $defs: { shared: SHARED } };
        const value = createSample(schema);
        assert.notEqual(value, undefined);
        assert.ok(value === undefined || fits(schema, value));
      }),
      { numRuns: 500 },
    );
  });
});

describe("any JSON at all as a schema", () => {
  const keywords = [
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "$ref",
  ];
  const bounds = [
    "minimum",
    "maxLength",
    "minItems",
    "multipleOf",
    "pattern",
    "minProperties",
    "if",
    "then",
    "default",
  ];
  it("is survived", () => {
    const anything = fc.dictionary(fc.constantFrom(...keywords, ...bounds), fc.jsonValue({ maxDepth: 4 }));
    fc.assert(
      fc.property(anything, (schema) => {
        createSample(schema as JsonSchema);
      }),
      { numRuns: 500 },
    );
  });
});
