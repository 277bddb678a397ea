/** Depth without recursion, and the same canonical JSON for equal values. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { canonicalJson, depthOf, isJsonObject, parseJson } from "./json.ts";
import type { Json } from "./json.ts";

function parse(text: string): Json {
  return JSON.parse(text) as Json;
}

function nest(depth: number, open: string, close: string): Json {
  return parse(`${open.repeat(depth)}1${close.repeat(depth)}`);
}

describe("isJsonObject", () => {
  for (const value of [{}, { a: 1 }, parse('{"__proto__":1}')]) {
    it(`accepts ${JSON.stringify(value)} as a JSON object`, () => assert.equal(isJsonObject(value), true));
  }
  for (const value of [null, [], "x", 1, true, undefined]) {
    it(`refuses ${JSON.stringify(value) ?? "undefined"} as a JSON object`, () =>
      assert.equal(isJsonObject(value), false));
  }
});

describe("parseJson", () => {
  it("returns the value of a JSON text", () => assert.deepEqual(parseJson('{"a":[null]}'), { a: [null] }));
  it("returns undefined for a text that is not JSON", () => assert.equal(parseJson("{a:1}"), undefined));
});

describe("depthOf", () => {
  for (const scalar of [null, true, 1, "[[["]) {
    it(`returns depth 0 for the scalar ${JSON.stringify(scalar)}`, () => assert.equal(depthOf(scalar, 64), 0));
  }
  it("returns depth 1 for an empty array or object", () =>
    assert.deepEqual([depthOf([], 64), depthOf({}, 64)], [1, 1]));
  it("returns the depth of the deepest branch", () => {
    assert.deepEqual([depthOf([1, [2, [3]], 4], 64), depthOf({ a: { b: [] }, c: 1 }, 64)], [3, 3]);
  });
  it("returns the exact depth up to the limit, and limit + 1 above it", () => {
    for (const [open, close] of [["[", "]"] as const, ['{"a":', "}"] as const]) {
      assert.deepEqual(
        [63, 64, 65, 66, 1_000].map((depth) => depthOf(nest(depth, open, close), 64)),
        [63, 64, 65, 65, 65],
      );
    }
  });
  it("measures a million levels without a stack overflow", () => {
    assert.equal(depthOf(nest(1_000_000, "[", "]"), 64), 65);
    assert.equal(depthOf(nest(1_000_000, "[", "]"), 2_000_000), 1_000_000);
  });
  it("counts levels under the key __proto__", () => {
    assert.equal(depthOf(parse('{"__proto__":{"a":{}}}'), 64), 3);
  });
});

describe("canonicalJson", () => {
  it("sorts keys at every level and keeps the order of arrays", () => {
    assert.equal(
      canonicalJson({ b: [3, 1, { z: 1, y: 2 }], a: { d: null, c: true } }),
      '{"a":{"c":true,"d":null},"b":[3,1,{"y":2,"z":1}]}',
    );
  });
  it("sorts keys by UTF-16 unit, not by locale or number", () => {
    assert.equal(
      canonicalJson({ ä: 1, z: 2, Z: 3, "10": 4, "9": 5, "😀": 6, "\uffff": 7 }),
      '{"10":4,"9":5,"Z":3,"z":2,"ä":1,"😀":6,"\uffff":7}',
    );
  });
  it("escapes strings like JSON.stringify, lone surrogates too", () => {
    assert.equal(canonicalJson('"\\\n\u0001€😀\ud800'), String.raw`"\"\\\n\u0001€😀\ud800"`);
  });
  it("writes the key __proto__ like any other", () => {
    assert.equal(canonicalJson(parse('{"b":1,"__proto__":{"x":[]}}')), '{"__proto__":{"x":[]},"b":1}');
  });
  it("ignores inherited properties in canonical JSON", () => {
    assert.equal(canonicalJson(Object.create({ hidden: 1 })), "{}");
  });
  it("writes equal canonical JSON for permuted keys and parses back to the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: "medium" }), (value) => {
        const json = parse(JSON.stringify(value));
        const text = canonicalJson(json);
        assert.equal(canonicalJson(reversed(json)), text);
        assert.deepEqual(parse(text), json);
      }),
      { numRuns: 300 },
    );
  });
  it("writes different canonical JSON for different values", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const [a, b] = [parse(JSON.stringify(left)), parse(JSON.stringify(right))];
        assert.equal(canonicalJson(a) === canonicalJson(b), isSame(a, b));
      }),
      { numRuns: 200 },
    );
  });
});

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => reversed(item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).toReversed();
  return Object.fromEntries(entries.map(([key, child]) => [key, reversed(child)]));
}

function isSame(a: Json, b: Json): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}
