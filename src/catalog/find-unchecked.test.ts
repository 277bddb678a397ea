/** The patterns and formats that arguments are not checked by are named, and hostile schemas cost little. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { JsonSchema } from "../domain/index.ts";
import { MAX_PATTERN_CHARS, findUnchecked } from "./find-unchecked.ts";

function find(input: JsonSchema, budget = { left: MAX_PATTERN_CHARS }): readonly string[] {
  return findUnchecked(input, (name) => name, budget);
}

describe("what is not checked", () => {
  it("names a pattern with its property and the reason", () => {
    assert.deepEqual(find({ properties: { sku: { pattern: "^(?!x)" } } }), ["pattern of sku: a lookahead"]);
    assert.deepEqual(find({ properties: { sku: { pattern: "^x" } } }), []);
  });
  it("names a pattern for property names", () => {
    assert.deepEqual(find({ patternProperties: { "(a)\\1": true } }), ["pattern: a backreference"]);
    assert.deepEqual(find({ patternProperties: { "^x-": { pattern: "^a" } } }), []);
  });
  it("names a format that is not known, unless it is one of OpenAPI or about numbers", () => {
    const formats = (format: string, type?: string): JsonSchema => ({
      properties: { a: { format, ...(type && { type }) } },
    });
    assert.deepEqual(find(formats("phone")), ["format of a: not known"]);
    assert.deepEqual(find(formats("phone", "string")), ["format of a: not known"]);
    for (const [format, type] of [
      ["date-time", "string"],
      ["byte", "string"],
      ["int32", "integer"],
      ["uint8", "integer"],
    ] as const)
      assert.deepEqual(find(formats(format, type)), []);
  });
  it("does not name a format that has its rule in a pattern", () => {
    assert.deepEqual(find({ properties: { a: { format: "ulid", pattern: "^[0-7][0-9A-Z]{25}$" } } }), []);
  });
  it("finds both at any depth, and not in properties with these names or in plain values", () => {
    const deep = { properties: { a: { items: { anyOf: [{ pattern: "(?=a)" }] } } }, $defs: { id: { format: "ulid" } } };
    assert.deepEqual(find(deep).toSorted(), ["format of id: not known", "pattern of a: a lookahead"]);
    const plain = {
      properties: {
        pattern: { type: "string" },
        format: { const: { pattern: "(?=a)" } },
        a: { default: { format: "x" } },
      },
    };
    assert.deepEqual(find(plain), []);
  });
  it("names three and counts the others", () => {
    const some = (count: number): JsonSchema => ({
      properties: Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, { pattern: "(?=a)" }])),
    });
    assert.deepEqual(
      [2, 3, 4].map((count) => find(some(count)).length),
      [2, 3, 4],
    );
    assert.equal(find(some(4)).at(-1), "1 more");
    assert.match(find(some(3)).at(-1) ?? "", /^pattern of/);
  });
  it("does not examine patterns above the budget of the listing", () => {
    const schema = { properties: { a: { pattern: "abcd" } } };
    assert.deepEqual(
      [3, 4, 5].map((left) => find(schema, { left })),
      [["pattern of a: not examined"], [], []],
    );
  });
});
