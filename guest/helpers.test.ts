import assert from "node:assert/strict";
import { test } from "node:test";

import { HELPERS } from "./helpers.ts";

const { pick, omit, first, last, sum, count, groupBy, sortBy, unique, table, chunk } = HELPERS;
const ROWS = [
  { id: 1, kind: "a", price: 3 },
  { id: 2, kind: "b", price: "4" },
  { id: 3, kind: "a", price: null },
];
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("pick and omit work on one record and on a list of them", () => {
  assert.deepEqual(pick(ROWS[0], "id", "none"), { id: 1 });
  assert.deepEqual(pick(ROWS, "id"), [{ id: 1 }, { id: 2 }, { id: 3 }]);
  assert.deepEqual(omit(ROWS[0], "id", "kind"), { price: 3 });
  assert.deepEqual(omit([null], "id"), [{}]);
});

test("first and last give one item, or as many as asked for", () => {
  assert.deepEqual([first(ROWS), last(ROWS)], [ROWS[0], ROWS[2]]);
  assert.deepEqual([first(ROWS, 2), last(ROWS, 2)], [ROWS.slice(0, 2), ROWS.slice(1)]);
  assert.deepEqual([first(ROWS, 9), last(ROWS, 9)], [ROWS, ROWS]);
  assert.deepEqual([first([]), last([])], [undefined, undefined]);
});

test("sum adds numbers and texts that are numbers", () => {
  assert.deepEqual([sum([1, 2]), sum(ROWS, "price"), sum(ROWS, () => 2), sum(["x"])], [3, 7, 6, 0]);
});

test("count gives the length, or how often each value occurs", () => {
  assert.equal(count(ROWS), 3);
  assert.deepEqual(plain(count(ROWS, "kind")), { a: 2, b: 1 });
  assert.deepEqual(plain(count([{ k: "__proto__" }], "k")), JSON.parse('{"__proto__":1}'));
});

test("groupBy takes a field or a function", () => {
  assert.deepEqual(plain(groupBy(ROWS, "kind")), plain({ a: [ROWS[0], ROWS[2]], b: [ROWS[1]] }));
  assert.deepEqual(plain(groupBy([1, 2, 3], (n) => Number(n) % 2)), { 0: [2], 1: [1, 3] });
});

test("sortBy leaves the list alone, keeps equal items in order, and puts what is missing last", () => {
  const ids = (rows: unknown[]): unknown => rows.map((row) => (row as { id: number }).id);
  assert.deepEqual(ids(sortBy(ROWS, "kind")), [1, 3, 2]);
  assert.deepEqual(ids(sortBy(ROWS, "id", "desc")), [3, 2, 1]);
  assert.deepEqual(ids(sortBy(ROWS, "price", "desc")), [2, 1, 3]);
  assert.deepEqual(ids(ROWS), [1, 2, 3]);
});

test("unique keeps the first of each value", () => {
  assert.deepEqual(unique([1, 2, 1]), [1, 2]);
  assert.deepEqual(unique(ROWS, "kind"), [ROWS[0], ROWS[1]]);
});

test("chunk cuts a list into parts, and refuses parts of nothing", () => {
  assert.deepEqual(chunk([1, 2, 3], 2), [[1, 2], [3]]);
  assert.deepEqual(chunk([1, 2], 2), [[1, 2]]);
  assert.deepEqual(chunk([], 1), []);
  assert.throws(() => chunk([1], 0), RangeError);
});

test("table writes markdown with all columns or the named ones", () => {
  assert.equal(
    table([{ a: 1, b: "x|y\nz" }, { c: { d: 1 } }]),
    '| a | b | c |\n| --- | --- | --- |\n| 1 | x\\|y z |  |\n|  |  | {"d":1} |',
  );
  assert.equal(table(ROWS, "id"), "| id |\n| --- |\n| 1 |\n| 2 |\n| 3 |");
});

test("what is no list is refused by name", () => {
  assert.throws(() => sum({}), { name: "TypeError", message: "The first argument must be an array" });
});

test("pick, omit and table take names one by one or in a list", () => {
  const row = { a: 1, b: 2, c: 3 };
  assert.deepEqual([pick([row], ["a", "b"]), pick([row], "a", "b")], [[{ a: 1, b: 2 }], [{ a: 1, b: 2 }]]);
  assert.deepEqual(
    [omit(row, ["a"]), omit(row, "a")],
    [
      { b: 2, c: 3 },
      { b: 2, c: 3 },
    ],
  );
  assert.equal(table([row], ["a"]), table([row], "a"));
});
