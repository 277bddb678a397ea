/** The codec as a plain module: it agrees with JSON.stringify on JSON values, counts as it writes, and trusts no realm. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runInContext, createContext } from "node:vm";
import * as fc from "fast-check";
import { build } from "esbuild";

import { EncodeProblem, encode } from "./codec.ts";
import type { EncodeLimits } from "./codec.ts";

const WIDE: EncodeLimits = { bytes: 1_000_000, depth: 64 };

function problemOf(value: unknown, limits: Partial<EncodeLimits> = {}): string {
  try {
    return encode(value, { ...WIDE, ...limits }) ?? "nothing";
  } catch (problem) {
    if (problem instanceof EncodeProblem) return problem.reason;
    throw problem;
  }
}

function nest(depth: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

describe("encode", () => {
  it("encode writes JSON values as JSON.stringify does", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        assert.equal(encode(value, WIDE), JSON.stringify(value));
      }),
    );
  });
  it("encode writes JSON that parses for any value, or nothing", () => {
    fc.assert(
      fc.property(
        fc.anything({
          maxDepth: 4,
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withSparseArray: true,
        }),
        (value) => {
          const text = encode(value, WIDE);
          if (text !== undefined) JSON.parse(text);
        },
      ),
    );
  });
  it("encode never writes more than its limit and its brackets", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(60), (value, bytes) => {
        const text = problemOf(value, { bytes });
        if (text !== "size") assert.ok(text.length <= bytes + 2 * WIDE.depth + text.split(/[[\]{},:]/).length);
      }),
    );
  });
});

describe("the size limit of encode", () => {
  it("encode accepts a size below and at the limit, and refuses one above", () => {
    assert.deepEqual(
      [7, 8, 9].map((length) => problemOf("x".repeat(length), { bytes: 10 })),
      ['"xxxxxxx"', '"xxxxxxxx"', "size"],
    );
  });
  it("encode counts keys, items and escapes against the size limit", () => {
    assert.deepEqual(
      [
        problemOf({ ["k".repeat(20)]: 1 }, { bytes: 15 }),
        problemOf(
          Array.from({ length: 20 }, () => 1),
          { bytes: 15 },
        ),
        problemOf("\u0000".repeat(3), { bytes: 15 }),
      ],
      ["size", "size", "size"],
    );
  });
  it("encode refuses an array by its length alone, and no shorter one", () => {
    assert.deepEqual(
      [2, 3, 4].map((length) =>
        problemOf(
          Array.from({ length }, () => 1),
          { bytes: 5 },
        ),
      ),
      ["[1,1]", "[1,1,1]", "size"],
    );
  });
  it("encode refuses a large sparse array before it writes the holes", () => {
    assert.equal(problemOf(Object.assign([], { length: 2 ** 32 - 1 })), "size");
  });
});

describe("the depth of a value", () => {
  it("encode accepts a depth below and at the limit, and refuses one above", () => {
    assert.deepEqual(
      [3, 4, 5, 50_000].map((depth) => problemOf(nest(depth), { depth: 4 })),
      [JSON.stringify(nest(3)), JSON.stringify(nest(4)), "depth", "depth"],
    );
  });
  it("encode counts the depth of one branch, not of all", () => {
    assert.equal(problemOf([[], [], [[]]], { depth: 3 }), "[[],[],[[]]]");
  });
});

describe("what has no JSON text", () => {
  it("encode refuses a circular value of any length", () => {
    const self: unknown[] = [];
    self.push({ a: new Map([["b", new Set([self])]]) });
    assert.equal(problemOf(self), "circular");
    assert.equal(problemOf(self, { depth: 4 }), "circular");
  });
  it("encode refuses a promise at any place", () => {
    assert.deepEqual(
      [problemOf(Promise.resolve()), problemOf([new Map([[1, Promise.resolve()]])])],
      ["promise", "promise"],
    );
  });
  it("encode releases its ancestors after a getter threw", () => {
    const shared = {
      get broken(): never {
        throw new RangeError("mine");
      },
    };
    assert.throws(() => encode([shared], WIDE), new RangeError("mine"));
    assert.equal(encode([[1], [1]], WIDE), "[[1],[1]]");
  });
});

describe("a realm whose built-ins were replaced", async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: 'export * from "./codec.ts"; export * from "./console.ts";',
      resolveDir: import.meta.dirname,
      loader: "ts",
    },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "guest",
    tsconfigRaw: {},
  });
  const source = outputFiles[0]?.text ?? "";

  /** Runs the guest's modules in a realm of their own, then the tampering; what comes out are primitives. */
  function inRealm(tamper: string, expression: string): readonly unknown[] {
    const context = createContext({});
    const value = "{ a: [1, 'x', new Map([['k', new Set([2])]]), new Date(0), /r/, 5n] }";
    const line = "['a', { b: 1 }, 2n, Symbol('s')]";
    runInContext(
      `${source}\nvar seen = [], limits = { bytes: 1000, depth: 9 }, value = ${value}, line = ${line};`,
      context,
    );
    runInContext(tamper, context);
    return [runInContext(expression, context), runInContext("seen.length", context)];
  }
  const text = '{"a":[1,"x",{"k":[2]},"1970-01-01T00:00:00.000Z","/r/","5"]}';
  const tampering = [
    "Array.prototype[Symbol.iterator] = function* () { seen.push(this); yield 'leak'; }",
    "Map.prototype[Symbol.iterator] = Map.prototype.entries = Map.prototype.forEach = Set.prototype.forEach = function () { seen.push(this); }",
    "Date.prototype.toISOString = Date.prototype.toJSON = RegExp.prototype.toString = function () { seen.push(this); return 'leak'; }",
    "JSON.stringify = String = Object.keys = Reflect.apply = function () { seen.push(arguments); return 'leak'; }",
    "String.prototype.toJSON = Number.prototype.toJSON = BigInt.prototype.toJSON = function () { seen.push(this); return 'leak'; }",
    "Function.prototype.call = Function.prototype.apply = function () { seen.push(this); }",
    "Object.prototype.isPrototypeOf = Array.isArray = () => { seen.push(1); return true; }",
    "Object.defineProperty(Object.prototype, 'length', { get() { seen.push(this); return 0; }, set() {} })",
  ];
  for (const tamper of tampering) {
    it(`encode ignores replaced built-ins: ${tamper.slice(0, 60)}`, () => {
      assert.deepEqual(inRealm(tamper, "guest.encode(value, limits)"), [text, 0]);
    });
  }
  it("encode ignores a toJSON that the program puts on every object and array", () => {
    const tamper = "Object.prototype.toJSON = Array.prototype.toJSON = function () { return 'mine'; }";
    assert.deepEqual(inRealm(tamper, "guest.encode({ a: [1] }, limits)"), ['{"a":[1]}', 0]);
  });
  it("encode uses the toJSON of an object itself or of its class", () => {
    const own = "guest.encode([{ toJSON: () => 1 }, new (class { toJSON() { return 2; } })()], limits)";
    assert.deepEqual(inRealm("", own), ["[1,2]", 0]);
  });
  it("formatLine ignores replaced built-ins", () => {
    const tamper = tampering.join(";\n");
    assert.deepEqual(inRealm(tamper, "guest.formatLine(line, limits)"), ['a {"b":1} 2n Symbol(s)', 0]);
  });
});
