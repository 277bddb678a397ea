/** The bounds on the depth and size of results that are learned: just below, at and above. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Json, JsonObject } from "../../domain/index.ts";
import { parseShape, shapeOf, toSchema } from "./shape.ts";

const MAX_DEPTH = 8;
const MAX_NODES = 3000;
const ROW = 50;

/** A number inside this many nested arrays. */
function nest(lists: number): Json {
  return lists === 0 ? 1 : [nest(lists - 1)];
}

/** The shape of the innermost value of nested arrays. */
function innermost(schema: JsonObject): Json {
  const { items } = schema;
  return items === undefined ? schema : innermost(items as JsonObject);
}

const row = (length: number): Json => Array.from({ length }, () => 1);
const rows = (count: number): Json[] => Array.from({ length: count }, () => row(ROW));

/** An object with `nodes` nodes before its field `last`: itself, arrays, rows and their items. */
function fill(nodes: number): Json {
  const full = rows(ROW);
  const some = rows(8);
  const counted = 1 + (1 + ROW + ROW * ROW) + (1 + 8 + 8 * ROW) + 1;
  return { full, some: [...some, row(nodes - counted)], last: "x" };
}

describe("the depth of a learned shape", () => {
  for (const [lists, known] of [
    [MAX_DEPTH - 1, { type: ["number"] }],
    [MAX_DEPTH, { type: ["number"] }],
    [MAX_DEPTH + 1, {}],
  ] as const) {
    it(`${lists === MAX_DEPTH + 1 ? "drops" : "keeps"} the innermost type of ${lists} nested arrays`, () => {
      assert.deepEqual(innermost(toSchema(shapeOf(nest(lists)))), known);
    });
  }
  it("parses a stored shape up to one level deeper than it learns", () => {
    const stored = (levels: number): JsonObject => (levels === 0 ? {} : { type: ["array"], items: stored(levels - 1) });
    const isRead = (levels: number): boolean => parseShape(stored(levels)) !== undefined;
    assert.deepEqual([MAX_DEPTH, MAX_DEPTH + 1, MAX_DEPTH + 2].map(isRead), [true, true, false]);
    const deep = toSchema(shapeOf(nest(100)));
    assert.deepEqual(toSchema(parseShape(deep) ?? assert.fail()), deep);
  });
});

describe("the size of a learned shape", () => {
  for (const [before, isSeen] of [
    [MAX_NODES - 2, true],
    [MAX_NODES - 1, true],
    [MAX_NODES, false],
  ] as const) {
    it(`${isSeen ? "includes" : "omits"} a field after ${before} nodes`, () => {
      const { required } = toSchema(shapeOf(fill(before)));
      assert.deepEqual(required, isSeen ? ["full", "last", "some"] : ["full", "some"]);
    });
  }
});

describe("the keys of objects that are maps", () => {
  const MAX_FIELDS = 64;
  /** As many maps as given before a field, with `keys` keys each. */
  const maps = (count: number, keys: number): Json =>
    Array.from({ length: count }, (_, map) =>
      Object.fromEntries(Array.from({ length: keys }, (__, at) => [`key${map}x${at}`, at])),
    );
  for (const [keys, isSeen] of [
    [MAX_FIELDS, true],
    [MAX_NODES, false],
  ] as const) {
    it(`${isSeen ? "include" : "omit"} a field after an object with ${keys} keys: listing them is work, too`, () => {
      const { required } = toSchema(shapeOf({ first: maps(1, keys), last: 1 }));
      assert.deepEqual(required, isSeen ? ["first", "last"] : ["first"]);
    });
  }
});
