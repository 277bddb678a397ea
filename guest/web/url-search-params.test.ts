/** `URLSearchParams` against Node's own. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { URLSearchParams } from "./index.ts";

const Native = globalThis.URLSearchParams;

const unit = fc.oneof(
  fc.constantFrom(...Array.from("ab&=+%?#20fF*-._~ '\u0000\ufeffé€😀")),
  fc.constantFrom("\ud800", "\udc00", "%41", "%ff", "%e2%82%ac"),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
);
const text = fc.string({ unit, maxLength: 16 });
const shortName = fc.constantFrom("a", "b", "é", "😀", "\ufffd", "");

/**
 * Node's own, given the same query with its non-ASCII characters escaped: beside a malformed escape Node misreads
 * them when they stand for themselves, and the standard does not.
 */
function nativeFrom(query: string): InstanceType<typeof Native> {
  return new Native(query.toWellFormed().replaceAll(/[^\0-\x7f]+/g, encodeURIComponent));
}

/** What both can be asked to do. */
const step = fc.oneof(
  fc.record({ method: fc.constant("append"), args: fc.tuple(shortName, text) }),
  fc.record({ method: fc.constant("set"), args: fc.tuple(shortName, text) }),
  fc.record({ method: fc.constant("delete"), args: fc.oneof(fc.tuple(shortName), fc.tuple(shortName, shortName)) }),
  fc.record({ method: fc.constant("has"), args: fc.oneof(fc.tuple(shortName), fc.tuple(shortName, shortName)) }),
  fc.record({ method: fc.constant("get"), args: fc.tuple(shortName) }),
  fc.record({ method: fc.constant("getAll"), args: fc.tuple(shortName) }),
  fc.record({ method: fc.constant("sort"), args: fc.constant([]) }),
  fc.record({ method: fc.constant("toString"), args: fc.constant([]) }),
);

test("URLSearchParams reads and writes every query as Node does", () => {
  fc.assert(
    fc.property(text, (query) => {
      const [mine, native] = [new URLSearchParams(query), nativeFrom(query)];
      assert.deepEqual([...mine], [...native]);
      assert.equal(mine.toString(), native.toString());
    }),
    { numRuns: 3000 },
  );
});

test("URLSearchParams has Node's results for every sequence of calls", () => {
  fc.assert(
    fc.property(text, fc.array(step, { maxLength: 12 }), (query, steps) => {
      const [mine, native] = [new URLSearchParams(query), nativeFrom(query)];
      for (const { method, args } of steps) {
        assert.deepEqual(
          Reflect.apply(Reflect.get(mine, method), mine, args),
          Reflect.apply(Reflect.get(native, method), native, args),
        );
      }
      assert.deepEqual([...mine], [...native]);
      assert.equal(mine.size, native.size);
    }),
    { numRuns: 1000 },
  );
});

test("URLSearchParams accepts records and pairs as Node does", () => {
  fc.assert(
    fc.property(fc.dictionary(text, text), fc.array(fc.tuple(text, text), { maxLength: 5 }), (record, pairs) => {
      assert.deepEqual([...new URLSearchParams(record)], [...new Native(record)]);
      assert.deepEqual([...new URLSearchParams(pairs)], [...new Native(pairs)]);
      assert.deepEqual([...new URLSearchParams(new Map(pairs))], [...new Native(new Map(pairs))]);
      assert.deepEqual([...new URLSearchParams(new URLSearchParams(pairs))], [...new Native(pairs)]);
    }),
  );
});

test("URLSearchParams converts other values to strings", () => {
  assert.equal(new URLSearchParams(undefined).toString(), "");
  assert.equal(new URLSearchParams(null).toString(), "null=");
  assert.equal(new URLSearchParams(12).toString(), "12=");
  assert.throws(() => new URLSearchParams(Symbol("s")), TypeError);
});

test("URLSearchParams keeps a malformed escape and the characters around it", () => {
  assert.deepEqual([...new URLSearchParams("\u0080é%ff=%")], [["\u0080é\ufffd", "%"]]);
});

test("URLSearchParams drops only the first question mark of a query", () => {
  assert.deepEqual([...new URLSearchParams("??a=1")], [["?a", "1"]]);
  assert.deepEqual([...new URLSearchParams("?a=1")], [["a", "1"]]);
});

test("URLSearchParams refuses pairs without exactly two items", () => {
  assert.deepEqual([...new URLSearchParams([["a", 1]])], [["a", "1"]]);
  assert.deepEqual([...new URLSearchParams([new Set(["a", "b"])])], [["a", "b"]]);
  for (const pairs of [[["a"]], [["a", "b", "c"]], ["ab"], [null], [{}]]) {
    assert.throws(() => new URLSearchParams(pairs), TypeError);
  }
});

test("URLSearchParams reads the enumerable fields of a record and refuses a symbol", () => {
  const record = Object.defineProperty({ a: 1 }, "hidden", { value: 2, enumerable: false });
  assert.equal(new URLSearchParams(record).toString(), "a=1");
  assert.throws(() => new URLSearchParams({ [Symbol("s")]: 1 }), TypeError);
  assert.throws(() => new URLSearchParams({ [Symbol.iterator]: 1 }), TypeError);
});

test("URLSearchParams sorts by UTF-16 code units and keeps pairs of one name in order", () => {
  const params = new URLSearchParams("\ufffd=1&😀=2&a=4&A=3&a=3");
  params.sort();
  assert.deepEqual(
    [...params],
    [
      ["A", "3"],
      ["a", "4"],
      ["a", "3"],
      ["😀", "2"],
      ["\ufffd", "1"],
    ],
  );
});

test("URLSearchParams shows changes during an iteration", () => {
  const params = new URLSearchParams("a=1&b=2&c=3");
  const seen: string[] = [];
  for (const [name] of params) {
    seen.push(name);
    if (name === "a") params.delete("b");
    if (name === "c") params.append("d", "4");
  }
  assert.deepEqual(seen, ["a", "c", "d"]);
});

test("URLSearchParams shows the same pairs in keys, values, entries and forEach", () => {
  const params = new URLSearchParams("a=1&b=2&a=3");
  const visited: unknown[] = [];
  params.forEach(function (this: unknown, value, name, owner) {
    visited.push([this, name, value, owner === params]);
  }, "self");
  assert.deepEqual([...params.keys()], ["a", "b", "a"]);
  assert.deepEqual([...params.values()], ["1", "2", "3"]);
  assert.deepEqual([...params.entries()], [...params]);
  assert.deepEqual(visited, [
    ["self", "a", "1", true],
    ["self", "b", "2", true],
    ["self", "a", "3", true],
  ]);
  assert.throws(() => Reflect.apply(Reflect.get(params, "forEach"), params, ["not a function"]), TypeError);
});

test("URLSearchParams throws a TypeError for a missing argument", () => {
  const params = new URLSearchParams("a=1");
  for (const [method, args] of [
    ["append", ["a"]],
    ["set", ["a"]],
    ["get", []],
    ["getAll", []],
    ["has", []],
    ["delete", []],
  ] as const) {
    assert.throws(() => Reflect.apply(Reflect.get(params, method), params, args), TypeError);
  }
  params.append("a", undefined);
  assert.equal(params.toString(), "a=1&a=undefined");
});

test("URLSearchParams ignores an undefined value in has and delete", () => {
  const params = new URLSearchParams("a=1&a=2");
  assert.deepEqual([params.has("a", undefined), params.has("a", "2"), params.has("a", "3")], [true, true, false]);
  params.delete("a", "1");
  assert.equal(params.toString(), "a=2");
  params.delete("a", undefined);
  assert.equal(params.toString(), "");
});
