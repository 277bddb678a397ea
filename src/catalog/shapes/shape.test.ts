/** Shapes of results: fields and types, never values, from any value in bounded time. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import type { Json } from "../../domain/index.ts";
import {
  MAX_SHAPE_CHARACTERS,
  isSameShape,
  mergeShapes,
  parseShape,
  shapeOf,
  toSchema,
  looksLikeData,
} from "./shape.ts";
import type { Shape } from "./shape.ts";

/** Far above the normal time, far below the time for a whole hostile value. */
const AT_ONCE_MS = 3_000;

const learn = (...values: readonly Json[]): Shape => values.map((value) => shapeOf(value)).reduce(mergeShapes);
const object = (properties: Readonly<Record<string, Shape>>, ...required: readonly string[]): Shape => ({
  type: ["object"],
  properties,
  required,
});
const STRING: Shape = { type: ["string"] };
const NUMBER: Shape = { type: ["number"] };
const mapOf = (additionalProperties: Shape): Shape => ({ type: ["object"], additionalProperties });

describe("a shape", () => {
  it("contains the fields and types of a result", () => {
    assert.deepEqual(learn("secret"), STRING);
    assert.deepEqual(
      learn({ id: 1, tags: ["a"] }),
      object({ id: NUMBER, tags: { type: ["array"], items: STRING } }, "id", "tags"),
    );
    assert.deepEqual(learn([]), { type: ["array"] });
  });
  it("makes fields optional that some results lack, and unites types", () => {
    assert.deepEqual(
      learn({ id: 1, name: "a" }, { id: null }),
      object({ id: { type: ["null", "number"] }, name: STRING }, "id"),
    );
    assert.deepEqual(learn([{ a: 1 }, { b: "x" }]), { type: ["array"], items: object({ a: NUMBER, b: STRING }) });
    assert.deepEqual(learn("text", { a: 1 }), { ...object({ a: NUMBER }, "a"), type: ["object", "string"] });
    assert.deepEqual(learn([], [1]), { type: ["array"], items: NUMBER });
  });
  it("a shape does not depend on the order of fields or results", () => {
    const value = fc.jsonValue({ maxDepth: 3 }).map((any) => JSON.parse(JSON.stringify(any)) as Json);
    fc.assert(
      fc.property(value, value, (one, other) => {
        assert.ok(isSameShape(learn(one, other), learn(other, one)));
        assert.ok(isSameShape(learn(one, one), learn(one)));
      }),
      { numRuns: 300 },
    );
  });
  it("a shape is equal after it was stored and parsed", () => {
    const shape = learn({ a: [1, "x"], "@id": { b: null } }, { a: [] });
    assert.deepEqual(parseShape(JSON.parse(JSON.stringify(toSchema(shape)))), shape);
    for (const raw of [null, 1, [], { type: "string" }, { items: 1 }, { properties: [] }, { properties: { a: 1 } }]) {
      assert.equal(parseShape(raw), undefined, JSON.stringify(raw));
    }
  });
});

describe("an object that is a map", () => {
  it("an object that is a map becomes a map without names if one key looks like data", () => {
    assert.deepEqual(learn({ "ada@example.com": 1, name: 2 }), mapOf(NUMBER));
    assert.deepEqual(learn({ first: 1, name: 2 }), object({ first: NUMBER, name: NUMBER }, "first", "name"));
  });
  it("an object that is a map becomes a map with more than 64 fields", () => {
    const names = Array.from(
      { length: 65 },
      (_, at) => `${String.fromCharCode(97 + (at % 26))}${"x".repeat(at % 7)}n${at}`,
    );
    const wide = (count: number) => learn(Object.fromEntries(names.slice(0, count).map((name, at) => [name, at])));
    assert.equal(Object.keys(wide(64).properties ?? {}).length, 64);
    assert.deepEqual(wide(65), mapOf(NUMBER));
  });
  it("an object that is a map becomes a map if many fields have the same structure", () => {
    const people = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, { age: 1 }]));
    const names = ["ada", "bob", "cy", "dan", "eve", "fay", "gus", "hal"];
    assert.deepEqual(learn(people(...names)), mapOf(object({ age: NUMBER }, "age")));
    assert.equal(Object.keys(learn(people(...names.slice(1))).properties ?? {}).length, 7);
  });
  it("an object that is a map becomes a map if results share no field and all fields have one type", () => {
    const results = ["ada", "bob", "cy", "dan", "eve", "fay", "gus", "hal"].map((name) => ({ [name]: 1 }));
    assert.deepEqual(learn(...results), mapOf(NUMBER));
    assert.equal(Object.keys(learn(...results.slice(1)).properties ?? {}).length, 7);
  });
  it("an object that is a map stays a map after further results", () =>
    assert.deepEqual(learn({ "2026-01-01": 1 }, { total: "x" }), mapOf({ type: ["number", "string"] })));
});

describe("a key looks like", () => {
  const data = [
    "ada@example.com",
    "42",
    "SKU-001",
    "2026-11-16",
    "550e8400-e29b-41d4-a716-446655440000",
    "/etc/passwd",
    "",
    "https://example.com",
    "AKIAIOSFODNN7EXAMPLE",
    "user_12345",
    "4f2a9c",
    "a b c d e f g h i",
    "x".repeat(41),
    "ghp_a1b2c3",
    "+49 30 1234",
    "192.168.0.1",
    "Zm9vYmFy==",
    "supercalifragilisticexpialidocious",
  ];
  const names = [
    "id",
    "userName",
    "per_page",
    "per-page",
    "@type",
    "$ref",
    "_links",
    "__typename",
    "line1",
    "sha256",
    "größe",
    "totalCount",
    "URL",
    "utf8",
    "x.y",
  ];
  for (const key of data) it(`data: ${JSON.stringify(key)}`, () => assert.equal(looksLikeData(key), true));
  for (const key of names) it(`a name: ${key}`, () => assert.equal(looksLikeData(key), false));
});

describe("a hostile result", () => {
  const cases: readonly (readonly [string, () => Json])[] = [
    ["ten megabytes of rows", () => Array.from({ length: 200_000 }, (_, id) => ({ id, text: "x".repeat(40) }))],
    [
      "a hundred thousand keys",
      () => Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key${at}x`, { at }])),
    ],
    ["a thousand levels", () => JSON.parse(`${'{"a":'.repeat(1000)}1${"}".repeat(1000)}`) as Json],
    [
      "lists of lists",
      () => Array.from({ length: 50 }, () => Array.from({ length: 50 }, () => Array.from({ length: 50 }, () => [1]))),
    ],
    ["the name __proto__", () => JSON.parse('{"__proto__":{"polluted":1},"constructor":{"a":1}}') as Json],
  ];
  for (const [name, create] of cases) {
    it(`a hostile result has a small shape in bounded time: ${name}`, () => {
      const value = create();
      const start = process.threadCpuUsage(); // a busy machine does not decide
      const shape = learn(value, value);
      assert.ok(process.threadCpuUsage(start).user / 1_000 < AT_ONCE_MS);
      assert.ok(JSON.stringify(toSchema(shape)).length <= MAX_SHAPE_CHARACTERS);
      assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
    });
  }
  it("a hostile result loses the deepest levels of its shape if that is too large", () => {
    const names = "abcdefghij".split("");
    const wide = (depth: number): Json =>
      depth === 0
        ? 1
        : Object.fromEntries(
            names.map((name, at) => [`${name}Field`, at === 0 ? wide(depth - 1) : { [`${name}n`]: at }]),
          );
    const rows = Array.from({ length: 5 }, (_, at) => [`row${"abcde"[at]}`, wide(6)] as const);
    const shape = learn(Object.fromEntries(rows));
    assert.ok(JSON.stringify(toSchema(shape)).length <= MAX_SHAPE_CHARACTERS);
    assert.deepEqual(
      Object.keys(shape.properties ?? {}),
      rows.map(([name]) => name),
    );
  });
  it("never leaves a value in its shape", () => {
    const canary = "canary-7f3a";
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 3 }), (values) => {
        const value = JSON.parse(JSON.stringify({ a: canary, list: [canary, ...values], [canary]: 1 })) as Json;
        assert.doesNotMatch(JSON.stringify(toSchema(shapeOf(value))), /canary/);
      }),
      { numRuns: 100 },
    );
  });
});
