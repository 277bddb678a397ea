/** The quick check must confirm only what the validator accepts, and should confirm most of it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Validator } from "@cfworker/json-schema";
import * as fc from "fast-check";

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";
import { createQuickFit } from "./quick-fit.ts";

function fits(schema: Json, value: Json): boolean | "not known" {
  return createQuickFit(schema)?.(value, true) ?? "not known";
}

const scalar = fc.oneof(
  fc.constantFrom<Json>(null, true, false, "", "a", "bb", "𝒳𝒳"),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0.5, -1.5),
);
const { value } = fc.letrec<{ value: Json; list: Json; record: Json }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, scalar, tie("list"), tie("record")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  record: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), tie("value"), { maxKeys: 3 }),
}));

const kinds = fc.constantFrom("string", "number", "integer", "boolean", "null", "object", "array");
const size = fc.integer({ min: 0, max: 4 });
const bound = fc.integer({ min: -3, max: 3 });
const { schema } = fc.letrec<{ schema: Json; keywords: JsonObject; fields: Json; list: Json }>((tie) => ({
  schema: fc.oneof({ depthSize: "small", withCrossShrink: true }, fc.boolean(), tie("keywords")),
  fields: fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("schema"), { maxKeys: 2 }),
  list: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
  keywords: fc.record(
    {
      type: fc.oneof(kinds, fc.uniqueArray(kinds, { minLength: 1, maxLength: 3 })),
      const: scalar,
      enum: fc.array(scalar, { minLength: 1, maxLength: 4 }),
      minimum: bound,
      maximum: bound,
      exclusiveMinimum: bound,
      exclusiveMaximum: bound,
      minLength: size,
      maxLength: size,
      minItems: size,
      maxItems: size,
      uniqueItems: fc.boolean(),
      pattern: fc.constantFrom("^a", "b", "^.$"),
      required: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 2 }),
      properties: tie("fields"),
      additionalProperties: tie("schema"),
      items: tie("schema"),
      allOf: tie("list"),
      anyOf: tie("list"),
      not: tie("schema"),
      description: fc.constant("words"),
    },
    { requiredKeys: [] },
  ),
}));

describe("the quick check", () => {
  it("confirms no value that the validator refuses", () => {
    fc.assert(
      fc.property(schema, value, (said, given) => {
        if (!isJsonObject(said) || fits(said, given) !== true) return;
        assert.ok(new Validator({ ...said }, "2020-12").validate(given).valid);
      }),
      { numRuns: 4_000 },
    );
  });
  it("confirms ordinary arguments and results", () => {
    const product = { type: "object", properties: { sku: { type: "string", minLength: 1 } }, required: ["sku"] };
    const page = {
      type: "object",
      properties: { items: { type: "array", items: product }, next: { type: ["string", "null"] } },
    };
    assert.equal(fits(product, { sku: "SKU-1" }), true);
    assert.equal(fits(page, { items: [{ sku: "a" }, { sku: "b" }], next: null }), true);
    assert.equal(fits({ ...product, additionalProperties: false }, { sku: "a" }), true);
    assert.equal(fits({ anyOf: [{ type: "number" }, product] }, { sku: "a" }), true);
  });
  it("leaves a schema with other keywords to the validator", () => {
    for (const beyond of [
      { $ref: "#" },
      { oneOf: [true] },
      { items: { not: true } },
      { properties: { a: { patternProperties: {} } } },
    ])
      assert.equal(fits(beyond, { a: "x" }), "not known");
    assert.equal(fits({ properties: { a: { type: "string" } } }, { a: "x" }), true);
  });
  it("leaves a string to the validator whose length depends on how characters are counted", () => {
    const seen = (schema: Json): unknown => ["𝒳", "𝒳𝒳", "abcd"].map((text) => fits(schema, text));
    assert.deepEqual(seen({ minLength: 2 }), [false, true, true]);
    assert.deepEqual(seen({ minLength: 3 }), [false, false, false]);
    assert.deepEqual(seen({ maxLength: 3 }), [true, false, false]);
    assert.deepEqual(seen({ maxLength: 4 }), [true, true, true]);
  });
  it("leaves a value that takes many steps to the validator", () => {
    const numbers = { items: { type: "number" } };
    assert.equal(
      fits(
        numbers,
        Array.from({ length: 249_999 }, () => 1),
      ),
      true,
    );
    assert.equal(
      fits(
        numbers,
        Array.from({ length: 250_000 }, () => 1),
      ),
      false,
    );
  });
});
