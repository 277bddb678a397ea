/** Outlines of values without their contents, in bounded time. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import type { Json } from "../domain/index.ts";
import { outlineShape } from "./outline-shape.ts";

const outlines = (cases: readonly (readonly [Json, string])[]): void => {
  for (const [value, outline] of cases) assert.equal(outlineShape(value, 1000), outline);
};

describe("an outline", () => {
  it("contains fields and types, never values", () => {
    outlines([
      [null, "null"],
      ["secret", "string"],
      [{}, "{}"],
      [[], "unknown[] (0)"],
      [[1, "a", null], "(number | string | null)[] (3)"],
      [{ a: [[1], [1, 2]], "b c": true }, '{ a: number[] (1 to 2)[] (2); "b c": boolean }'],
      [
        { items: Array.from({ length: 120 }, (_, id) => ({ id, name: "x" })), next: null },
        "{ items: { id: number; name: string }[] (120); next: null }",
      ],
      [[{ a: 1 }, { b: 1 }], "{ a?: number; b?: number }[] (2)"],
      [[{ a: 1 }, 2], "(number | { a: number })[] (2)"],
    ]);
  });
  it("an outline loses levels, then characters, until it fits", () => {
    const value = { first: { second: { third: 1 } } };
    assert.equal(outlineShape(value, 47), "{ first: { second: { third: number } } }");
    assert.equal(outlineShape(value, 40), "{ first: { second: { third: number } } }");
    assert.equal(outlineShape(value, 39), "{ first: { second: { … } } }");
    assert.equal(outlineShape(value, 27), "{ first: { … } }");
    assert.equal(outlineShape(value, 15), "{ … }");
    assert.equal(outlineShape(value, 3), "{ …");
    assert.equal(outlineShape(value, 0), "");
  });
  it("never exceeds its maximum length", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(200), (value, maxChars) => {
        assert.ok(outlineShape(JSON.parse(JSON.stringify(value)), maxChars).length <= maxChars);
      }),
      { numRuns: 300 },
    );
  });
  it("counts fields that are not shown", () => {
    const wide = Object.fromEntries(Array.from({ length: 103 }, (_, at) => [`k${at}`, at]));
    assert.match(outlineShape(wide, 5000), /k99: number; … 3 more \}$/);
    assert.match(outlineShape({ ["x".repeat(70)]: 1 }, 5000), /^\{ "x{59}…": number \}$/);
  });
  it("uses only a part of a huge or deep value", () => {
    const rows = Array.from({ length: 300_000 }, (_, id) => ({ id, tags: ["a"] }));
    assert.equal(outlineShape(rows, 1000), "{ id: number; tags: string[] (1) }[] (300000)");
    const deep = JSON.parse(`${"[".repeat(1000)}${"]".repeat(1000)}`);
    assert.ok(outlineShape(deep, 1000).length < 100);
  });
});
