/** The validator must agree with another one, and what it cannot decide must not change what it can. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Validator } from "@cfworker/json-schema";
import * as fc from "fast-check";

import type { Json, JsonObject, JsonSchema } from "../domain/index.ts";
import { runAtOnce } from "../timing/index.ts";
import { validateSchema } from "./validate-schema.ts";

const scalar = fc.oneof(
  fc.constantFrom<Json>(null, true, false, "", "a", "bb", "x-a", "𝒳𝒳"),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0.5, -1.5, 0.3),
);
const { value } = fc.letrec<{ value: Json; list: Json; record: Json }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, scalar, tie("list"), tie("record")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  record: fc.dictionary(fc.constantFrom("a", "b", "c", "x-a"), tie("value"), { maxKeys: 3 }),
}));

const kinds = fc.constantFrom("string", "number", "integer", "boolean", "null", "object", "array");
const size = fc.integer({ min: 0, max: 3 });
const bound = fc.integer({ min: -3, max: 3 });
const name = fc.constantFrom("a", "b", "c", "x-a");
const pattern = fc.constantFrom("^a", "b+$", "^x-", "^[ab]{1,2}$", ".");

/** As a variable: the linter forbids objects with this key. */
const [THEN] = ["then"];

/** An object with one of the keywords. */
function oneOf(keywords: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<JsonObject> {
  return fc.oneof(...Object.entries(keywords).map(([key, setting]) => setting.map((chosen) => ({ [key]: chosen }))));
}

/** Schemas with the keywords of both validators. */
function schemasWith(patterns: fc.Arbitrary<string>): fc.Arbitrary<Json> {
  const { schema } = fc.letrec<{ schema: Json; keyword: JsonObject; fields: JsonObject; list: Json }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.boolean(),
      fc.array(tie("keyword"), { maxLength: 3 }).map((keywords) => Object.assign({}, ...keywords)),
    ),
    fields: fc.dictionary(name, tie("schema"), { maxKeys: 2 }),
    list: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
    keyword: oneOf({
      type: fc.oneof(kinds, fc.uniqueArray(kinds, { minLength: 1, maxLength: 3 })),
      const: value,
      enum: fc.array(value, { minLength: 1, maxLength: 4 }),
      minimum: bound,
      exclusiveMaximum: bound,
      multipleOf: fc.constantFrom(0.1, 0.5, 1, 2),
      minLength: size,
      maxLength: size,
      pattern: patterns,
      minItems: size,
      maxItems: size,
      uniqueItems: fc.boolean(),
      items: tie("schema"),
      prefixItems: tie("list"),
      contains: tie("schema"),
      minContains: size,
      maxContains: size,
      unevaluatedItems: tie("schema"),
      required: fc.uniqueArray(name, { maxLength: 2 }),
      minProperties: size,
      maxProperties: size,
      properties: tie("fields"),
      patternProperties: fc.dictionary(patterns, tie("schema"), { maxKeys: 2 }),
      additionalProperties: tie("schema"),
      unevaluatedProperties: tie("schema"),
      propertyNames: tie("schema"),
      dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2 }),
      dependentSchemas: tie("fields"),
      allOf: tie("list"),
      anyOf: tie("list"),
      oneOf: tie("list"),
      not: tie("schema"),
      if: tie("schema"),
      [THEN]: tie("schema"),
      else: tie("schema"),
      $ref: fc.constant("#/$defs/a"),
    }),
  }));
  return schema;
}

const root = (patterns: fc.Arbitrary<string>): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(schemasWith(patterns), fc.constantFrom<Json>(true, { type: ["string", "object"] }, { required: ["a"] }))
    .map(([schema, a]) => ({ allOf: [schema], $defs: { a } }));

const ENOUGH = 250_000;

function fits(schema: JsonSchema, given: Json): boolean {
  return runAtOnce(validateSchema(schema, given, { mostSteps: ENOUGH, isStrict: true })).length === 0;
}

describe("the validator", () => {
  it("accepts and refuses the same values as another validator", () => {
    fc.assert(
      fc.property(root(pattern), value, (schema, given) => {
        assert.equal(fits(schema, given), new Validator({ ...schema }, "2020-12").validate(given).valid);
      }),
      { numRuns: 5_000 },
    );
  });
});
