/** How console writes: strings as they are, everything else compact, nothing that throws. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { EncodeProblem } from "./codec.ts";
import { formatLine } from "./console.ts";

const LIMITS = { bytes: 1_000, depth: 4 };

describe("formatLine", () => {
  const cases: readonly (readonly [string, readonly unknown[], string])[] = [
    ["nothing", [], ""],
    ["texts", ["a", "", "b"], "a  b"],
    ["scalars", [1, -0, Number.NaN, true, null, undefined, 3n], "1 0 null true null undefined 3n"],
    ["functions and symbols", [() => 1, Map, Symbol("s"), Symbol()], "[Function] [Function] Symbol(s) Symbol()"],
    [
      "objects",
      [{ a: [1, "x"] }, [], new Map([["k", 1]]), new Date(0)],
      '{"a":[1,"x"]} [] {"k":1} "1970-01-01T00:00:00.000Z"',
    ],
    ["errors", [new TypeError("t"), Object.assign(new Error("e"), { name: "Mine" })], "TypeError: t Mine: e"],
    ["promises", [Promise.resolve(1), [Promise.resolve(1)]], "[Promise: await it] [promise]"],
    ["depth", [[[[[[]]]]]], "[depth]"],
    ["an object without text", [{ toJSON: () => undefined }], "undefined"],
  ];
  for (const [name, args, line] of cases) {
    it(`formatLine writes ${name}`, () => assert.equal(formatLine(args, LIMITS), line));
  }
  it("formatLine writes [circular] for a circular value", () => {
    const self: unknown[] = [];
    self.push(self);
    assert.equal(formatLine(["x", self], LIMITS), "x [circular]");
  });
  it("formatLine writes [unprintable] for a value that cannot be read", () => {
    const trap = new Proxy({}, { get: () => assert.fail("read"), ownKeys: () => assert.fail("read") });
    const error = Object.defineProperty(new Error("e"), "message", { get: () => assert.fail("read") });
    assert.equal(
      formatLine(
        [
          trap,
          error,
          {
            get a(): never {
              throw new Error("a");
            },
          },
        ],
        LIMITS,
      ),
      "[unprintable] [unprintable] [unprintable]",
    );
  });
  it("formatLine throws for a value over the limit, and for none below it", () => {
    assert.equal(formatLine([["x".repeat(900)]], LIMITS).length, 904);
    assert.throws(
      () => formatLine([["x".repeat(1_001)]], LIMITS),
      (problem) => problem instanceof EncodeProblem && problem.reason === "size",
    );
  });
  it("formatLine never throws anything else", () => {
    fc.assert(
      fc.property(
        fc.array(fc.anything({ maxDepth: 3, withBigInt: true, withMap: true, withSparseArray: true })),
        (args) => {
          try {
            assert.equal(typeof formatLine(args, LIMITS), "string");
          } catch (problem) {
            assert.ok(problem instanceof EncodeProblem && problem.reason === "size");
          }
        },
      ),
    );
  });
});
