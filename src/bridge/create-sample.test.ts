/** Samples: what they look like for ordinary schemas, that all of them fit, and what hostile schemas cost. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Validator } from "@cfworker/json-schema";
import * as fc from "fast-check";

import type { Json, JsonSchema } from "../domain/index.ts";
import { createSample } from "./create-sample.ts";

/** Checks every keyword of the schema, patterns and formats too. */
function fits(schema: JsonSchema, value: Json): boolean {
  return new Validator({ ...schema }, "2020-12", true).validate(value).valid;
}

const EXAMPLES: readonly (readonly [string, JsonSchema, Json])[] = [
  [
    "fills in optional properties and prefers other types to null",
    {
      type: "object",
      properties: { id: { type: "integer" }, note: { anyOf: [{ type: "null" }, { type: "string" }] } },
    },
    { id: 1, note: "text" },
  ],
  ["takes the first enum value", { enum: ["open", "closed"] }, "open"],
  ["takes the const value", { const: { a: [null] } }, { a: [null] }],
  ["takes the default value", { type: "string", default: "main" }, "main"],
  ["ignores a default that does not fit", { type: "integer", default: "main" }, 1],
  ["takes the first example", { type: "string", examples: ["x7"] }, "x7"],
  ["keeps to the string length", { type: "string", minLength: 6, maxLength: 6 }, "textxx"],
  ["makes a string of a known format", { type: "string", format: "date-time" }, "2000-01-01T00:00:00Z"],
  ["does not follow a pattern", { type: "string", pattern: "^[A-Z]{2}-\\d{3,}(?:-(x|y))?$" }, "text"],
  ["keeps to bounds and multiples", { type: "integer", exclusiveMinimum: 5, maximum: 10, multipleOf: 2.5 }, 10],
  ["reads the boolean bounds of draft-04", { type: "integer", minimum: 5, exclusiveMinimum: true }, 6],
  ["gives an array an item", { type: "array", items: { type: "boolean" } }, [true]],
  [
    "makes different items for unique items",
    { type: "array", items: { type: "integer" }, minItems: 3, uniqueItems: true },
    [1, 2, 3],
  ],
  [
    "makes the items that an array must contain",
    { type: "array", contains: { const: 5 }, minItems: 2, items: true },
    [5, {}],
  ],
  [
    "makes the items of a tuple",
    { type: "array", prefixItems: [{ const: "a" }, { type: "number" }], items: false },
    ["a", 2],
  ],
  [
    "adds properties until there are enough",
    { type: "object", minProperties: 2, additionalProperties: { type: "null" } },
    { key1: null, key2: null },
  ],
  [
    "joins the schemas of allOf",
    {
      allOf: [
        { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
        { properties: { a: { minimum: 7 } } },
      ],
    },
    { a: 7 },
  ],
  [
    "leaves out a property that would fit two branches of oneOf",
    {
      type: "object",
      properties: { a: { type: "null" }, b: { type: "null" } },
      oneOf: [{ required: ["a"] }, { required: ["a", "b"] }],
    },
    { a: null },
  ],
  [
    "follows if and else",
    { type: "object", if: { required: ["c"], properties: { c: false } }, else: { required: ["b"] } },
    { b: {} },
  ],
  ["avoids a value that not excludes", { type: "string", not: { enum: ["text"] } }, "other0"],
  ["adds dependent properties", { properties: { a: true }, dependentRequired: { a: ["z"] } }, { a: {}, z: {} }],
];

describe("createSample", () => {
  for (const [name, schema, expected] of EXAMPLES) {
    it(name, () => assert.deepEqual(createSample(schema), expected));
  }
  it("makes the same sample for the same schema", () => {
    for (const [, schema] of EXAMPLES) assert.deepEqual(createSample(schema), createSample(structuredClone(schema)));
  });
  it("ends the sample of a recursive schema", () => {
    const node = {
      type: "object",
      properties: { next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
      required: ["next"],
    };
    const value = createSample({ $ref: "#/$defs/node", $defs: { node } });
    assert.deepEqual(value, { next: { next: { next: null } } });
  });
  it("makes no sample where no value can fit", () => {
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
  it("makes a string of 10,000 characters, and none that must be longer", () => {
    assert.equal(createSample({ type: "string", minLength: 10_000 }), "text".padEnd(10_000, "x"));
    assert.equal(createSample({ type: "string", minLength: 10_001 }), undefined);
  });
  it("gives up when definitions double at every level", () => {
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
  it("tries a smaller sample when the whole does not fit", () => {
    const properties = { a: { $ref: "#/properties/b" }, b: { type: "null" } };
    const oneOf = [{ required: ["a"] }, { required: ["a", "b"] }];
    assert.deepEqual(createSample({ type: "object", properties, oneOf }), { a: null });
  });
  it("never runs the regular expression of a pattern", () => {
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

describe("createSample with generated schemas", () => {
  it("makes a sample that fits any schema that allows a value", () => {
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

describe("createSample with any JSON as a schema", () => {
  it("ignores a type that is neither a string nor an array", () => {
    assert.deepEqual(createSample({ const: {}, type: { toString: "" } }), {});
    assert.equal(createSample({ const: {}, type: "string" }), undefined);
  });
  it("makes no sample of a multiple of a number that is too large", () => {
    assert.equal(createSample({ type: "integer", enum: [1], multipleOf: Infinity }), undefined);
    assert.equal(createSample({ type: "integer", enum: [Infinity], multipleOf: 2 }), undefined);
    assert.equal(createSample({ type: "integer", enum: [4], multipleOf: 2 }), 4);
  });
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
  it("never throws for any JSON as a schema", () => {
    const anything = fc.dictionary(fc.constantFrom(...keywords, ...bounds), fc.jsonValue({ maxDepth: 4 }));
    fc.assert(
      fc.property(anything, (schema) => {
        createSample(schema as JsonSchema);
      }),
      { numRuns: 500 },
    );
  });
});
