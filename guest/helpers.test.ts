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
  assert.deepEqual([sum([1, 2]), sum(ROWS, "price"), sum(ROWS, () => 2), sum([undefined])], [3, 7, 6, 0]);
});

test("sum refuses a value that is not a number and names its index", () => {
  for (const [value, shown] of [
    [true, "true"],
    ["x", "x"],
    ["", "an empty text"],
    [Number.NaN, "NaN"],
    [{}, "an object"],
    [[1], "an object"],
  ] as const) {
    assert.throws(() => sum([1, value]), { name: "TypeError", message: `sum: item 1 is ${shown}, not a number` });
  }
});

test("sum refuses a field that no item has, and takes one that some have", () => {
  const message = "sum: no item has the field prise";
  assert.throws(() => sum(ROWS, "prise"), { name: "TypeError", message });
  assert.deepEqual(
    [sum([], "prise"), sum([{}, { a: 2 }], "a"), sum([{ a: null }], "a"), sum([{}], () => undefined)],
    [0, 2, 0, 0],
  );
});

test("a name with dots reads a field of a field, unless an item has it as it is", () => {
  const rows = [{ user: { login: "b" }, n: { x: 2 } }, { user: { login: "a" }, n: { x: 3 } }, { user: null }];
  assert.deepEqual(Object.keys(groupBy(rows, "user.login") as object), ["b", "a", "undefined"]);
  assert.deepEqual([sum(rows, "n.x"), sortBy(rows, "user.login")[0], unique(rows, "n.x").length], [5, rows[1], 3]);
  assert.deepEqual(plain(count([{ "a.b": 1, a: { b: 2 } }], "a.b")), { 1: 1 });
  assert.throws(() => groupBy(rows, 1 as never), { name: "TypeError" });
});

test("sortBy takes several fields, of which the first that differs decides", () => {
  const rows = [{ a: 2, b: 1 }, { a: 1, b: 2 }, { a: 1, b: 1 }, { b: 0 }];
  assert.deepEqual(sortBy(rows, ["a", "b"]), [rows[2], rows[1], rows[0], rows[3]]);
  assert.deepEqual(sortBy(rows, ["a", (row) => (row as { b: number }).b], "desc"), [
    rows[0],
    rows[1],
    rows[2],
    rows[3],
  ]);
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

test("helpers refuse a value that is not an array", () => {
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
