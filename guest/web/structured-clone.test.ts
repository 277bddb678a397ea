/** `structuredClone` against Node's own. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { structuredClone, URLSearchParams } from "./index.ts";

const native = globalThis.structuredClone;
const refused = { name: "DataCloneError" };

/** Clones with both and holds the answers against each other, prototypes included. */
function assertAsNative(value: unknown): void {
  assert.deepEqual(structuredClone(value), native(value));
}

test("structuredClone copies generated values of all kinds as Node does", () => {
  const value = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
    withObjectString: true,
    maxDepth: 4,
  });
  fc.assert(fc.property(value, assertAsNative), { numRuns: 1000 });
});

test("structuredClone returns primitives unchanged", () => {
  for (const value of [undefined, null, true, -0, Number.NaN, "\ud800", 10n]) {
    assert.ok(Object.is(structuredClone(value), value));
  }
});

test("structuredClone keeps circular and shared references", () => {
  const shared = { name: "shared" };
  const value: Record<string, unknown> = { a: shared, b: [shared], map: new Map<unknown, unknown>([[shared, shared]]) };
  value["self"] = value;
  value["set"] = new Set([value, shared]);
  const copy = structuredClone(value);
  assert.deepEqual(copy, native(value));
  assert.equal(copy["self"], copy);
  assert.equal(copy["a"], Reflect.get(Object(copy["b"]), 0));
  assert.notEqual(copy["a"], shared);
});

test("structuredClone keeps holes of arrays, and properties beside the elements", () => {
  const value: unknown[] = [];
  value[1] = undefined;
  value[2] = 3;
  value.length = 5;
  Object.assign(value, { extra: { deep: true } });
  const copy = structuredClone(value);
  assert.deepEqual(copy, native(value));
  assert.deepEqual(Object.keys(copy), ["1", "2", "extra"]);
});

test("structuredClone keeps a property named __proto__", () => {
  const copy: object = structuredClone(JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}'));
  assert.deepEqual(Object.keys(copy), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
  assert.equal(Reflect.get(copy, "polluted"), undefined);
});

test("structuredClone makes class instances and accessors plain data and omits hidden properties", () => {
  class Point {
    x = 1;
    get y(): number {
      return 2;
    }
  }
  const value = Object.defineProperties(new Point(), {
    z: { get: () => 3, enumerable: true },
    hidden: { value: 4, enumerable: false },
  });
  assertAsNative(value);
  assert.deepEqual(Object.getOwnPropertyDescriptor(structuredClone(value), "z"), {
    value: 3,
    writable: true,
    enumerable: true,
    configurable: true,
  });
});

test("structuredClone omits a property that an earlier getter removed", () => {
  const value = {
    get first(): number {
      Reflect.deleteProperty(this, "second");
      return 1;
    },
    second: 2,
  };
  assert.deepEqual(structuredClone(value), { first: 1 });
});

test("structuredClone copies dates, patterns and boxed values by their state, not by their properties", () => {
  const pattern = /a(?<b>.)/dgu;
  pattern.lastIndex = 3;
  const boxed = Object(1n);
  for (const value of [new Date(0), new Date(Number.NaN), pattern, Object("text"), Object(false), Object(-0), boxed]) {
    assertAsNative(value);
  }
  assert.equal(structuredClone(pattern).lastIndex, 0);
  const liar = { [Symbol.toStringTag]: "Date", a: 1 };
  assert.deepEqual(structuredClone(liar), { a: 1 });
  class NamedMap extends Map<string, number> {
    override get [Symbol.toStringTag](): string {
      return "Named";
    }
  }
  assertAsNative(new NamedMap([["a", 1]]));
});

test("structuredClone keeps name, message, stack and cause of errors", () => {
  const cause = new RangeError("inner");
  for (const error of [new TypeError("outer", { cause }), new Error("plain"), new AggregateError([1], "many")]) {
    const [mine, theirs] = [structuredClone(error), native(error)];
    assert.deepEqual(mine, theirs);
    assert.deepEqual([mine.name, mine.message, mine.stack], [theirs.name, theirs.message, theirs.stack]);
    assert.equal(Object.getPrototypeOf(mine), Object.getPrototypeOf(theirs));
  }
  assert.equal(structuredClone(Object.assign(new Error("m"), { name: "Custom" })).name, "Error");
});

test("structuredClone lets views of one buffer share its copy", () => {
  const buffer = new ArrayBuffer(16);
  const value = {
    bytes: new Uint8Array(buffer, 4, 8),
    wide: new Float64Array(buffer, 8, 1),
    view: new DataView(buffer, 2, 3),
  };
  value.bytes.set([1, 2, 3]);
  const copy = structuredClone(value);
  assert.deepEqual(copy, native(value));
  assert.equal(copy.bytes.buffer, copy.wide.buffer);
  assert.equal(copy.bytes.buffer, copy.view.buffer);
  assert.deepEqual([copy.view.byteOffset, copy.view.byteLength], [2, 3]);
  copy.bytes[0] = 9;
  assert.equal(value.bytes[0], 1);
});

test("structuredClone keeps a resizable buffer resizable and refuses a detached one", () => {
  const resizable = new ArrayBuffer(2, { maxByteLength: 8 });
  const copy = structuredClone(resizable);
  assert.deepEqual([copy.resizable, copy.byteLength, copy.maxByteLength], [true, 2, 8]);
  resizable.transfer();
  assert.throws(() => structuredClone(resizable), refused);
});

test("structuredClone refuses functions, symbols and objects with hidden state at any depth", () => {
  const values: readonly unknown[] = [
    () => 1,
    URLSearchParams,
    Symbol("s"),
    Object(Symbol("s")),
    new WeakMap(),
    new WeakSet(),
    new WeakRef({}),
    Promise.resolve(),
    [].values(),
    (function* () {})(),
    (async function* () {})(),
    new Intl.NumberFormat("en"),
    (function () {
      return arguments;
    })(),
  ];
  for (const value of values) {
    assert.throws(() => native({ value }), refused);
    assert.throws(() => structuredClone(value), refused);
    assert.throws(() => structuredClone({ list: [new Map([["key", value]])] }), refused);
  }
  assert.deepEqual(structuredClone({ list: [new Map([["key", "value"]])] }), { list: [new Map([["key", "value"]])] });
});

test("structuredClone refuses the other web-standard objects instead of copying them empty", () => {
  assert.throws(() => structuredClone(new URLSearchParams("a=1")), refused);
});

test("structuredClone refuses transfer and accepts an empty one", () => {
  const buffer = new ArrayBuffer(1);
  assert.throws(() => structuredClone(buffer, { transfer: [buffer] }), refused);
  assert.deepEqual(structuredClone(buffer, { transfer: [] }), buffer);
});

test("structuredClone needs no stack for deep objects, arrays, maps and causes", () => {
  let value: unknown = "bottom";
  for (let depth = 0; depth < 5_000; depth += 1) {
    value = { child: [new Map([["next", new Error("level", { cause: value })]])] };
  }
  let copy: unknown = structuredClone(value);
  for (let depth = 0; depth < 5_000; depth += 1) {
    const [map] = Reflect.get(Object(copy), "child");
    copy = map.get("next").cause;
  }
  assert.equal(copy, "bottom");
});
