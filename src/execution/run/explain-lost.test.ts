/** Fields that a program computes with and that are missing everywhere, and programs whose `null` has another reason. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createTool, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_RULES, analyze } from "../../analysis/index.ts";
import { DEFAULT_LIMITS, parseConnectorId } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";
import { explainLost, explainNumbers } from "./explain-lost.ts";
import { explainJoined } from "./explain-joined.ts";

const OUTPUT = { type: "object", properties: { next: { type: "string" } } };
const { tools } = snapshotOf([createTool("shop.find", { output: null }), createTool("shop.typed", { output: OUTPUT })]);
const connector = parseConnectorId("shop");
assert.ok(connector);
const namespaces = [{ name: "shop", connector, summary: "", tools: ["find", "typed"] }];
const FOUND: Json = { rows: [{ id: 1, price: 5 }, { id: 2 }], total: 2 };

function explain(source: string, value: Json | undefined, results: readonly Json[] = [FOUND]): readonly string[] {
  const options = { enabled: true, blockOnError: true, rules: DEFAULT_RULES, limits: DEFAULT_LIMITS };
  const analyzed = analyze(source, { namespaces }, options);
  assert.ok(analyzed.ok, source);
  const input = { items: [{ name: "x" }], text: '[{"name":"x"}]', lines: '{"name":"x"}\n' };
  const context = { input, snapshot: { tools }, resultOf: () => results[0], resultsOf: () => results };
  const found = explainLost(analyzed.program, value, context);
  return found.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

const ROWS = "const r = await shop.find();";

for (const [source, value, message] of [
  [
    `${ROWS} return r.rows.map((row) => row.name)`,
    [null, null],
    "1:57 The result contains null, and row.name is undefined; shop.find.rows[] has id, price",
  ],
  [
    `${ROWS} let sum = 0; for (const row of r.rows) sum += row.amount; return sum`,
    null,
    "1:76 The result contains null, and row.amount is undefined; shop.find.rows[] has id, price",
  ],
  [
    `${ROWS} let sum = 0; for (const { amount } of r.rows) sum += amount; return { sum }`,
    { sum: null },
    "1:83 The result contains null, and amount is undefined; shop.find.rows[] has id, price",
  ],
  [
    `${ROWS} return \`\${r.count} rows\``,
    "undefined rows",
    '1:40 The result contains "undefined", and r.count is undefined; shop.find has rows, total',
  ],
  [
    `${ROWS} const by = {}; for (const row of r.rows) by[row.name] = row.id; return by`,
    { undefined: 2 },
    '1:74 The result has a key "undefined", and row.name is undefined; shop.find.rows[] has id, price',
  ],
  [
    "return input.items.map((item) => item.nme)",
    [null],
    "1:34 The result contains null, and item.nme is undefined; input.items[] has name",
  ],
  [
    `${ROWS} return r.rows.map((row) => { row.id })`,
    [null, null],
    "1:59 The result contains null, and this function returns nothing; write: return row.id",
  ],
  [
    `${ROWS} r.rows.map((row) => { return\n row.id })`,
    [null, null],
    "2:2 The result contains null, and this function returns nothing; write: return row.id",
  ],
  [
    "function total(rows) { rows.reduce((a, b) => a + b.id, 0) } return total((await shop.find()).rows)",
    undefined,
    "1:24 The result is undefined, and this function returns nothing; write: return rows.reduce((a, b) => a + b.id, 0)",
  ],
  [
    `${ROWS} return r.rows.reduce((sum, row) => sum + row.amount, 0)`,
    null,
    "1:71 The result contains null, and row.amount is undefined; shop.find.rows[] has id, price",
  ],
  [
    "const rows = JSON.parse(input.text); return rows.map((row) => row.nme)",
    [null],
    "1:63 The result contains null, and row.nme is undefined; JSON.parse(input.text)[] has name",
  ],
  [
    'const rows = input.lines.trim().split("\\n").map((line) => JSON.parse(line)); return rows.map((row) => row.nme)',
    [null],
    '1:103 The result contains null, and row.nme is undefined; JSON.parse(input.lines.split("\\n")[]) has name',
  ],
] as const) {
  test(`names what the result lost: ${source}`, () => assert.deepEqual(explain(source, value), [message]));
}

for (const [source, value, results] of [
  [`${ROWS} return r.rows.map((row) => row.price)`, [5, null], [FOUND]],
  [`${ROWS} return [r.rows.length, null]`, [2, null], [FOUND]],
  [`${ROWS} return r.rows.map((row) => row.name)`, [], [{ rows: [] }]],
  [`${ROWS} return r.rows.map((row) => row.name)`, ["a", null], [FOUND, { rows: [{ name: "a" }] }]],
  [`${ROWS} return r.rows.map((row) => (row.name ? row.name : null))`, [null, null], [FOUND]],
  [`${ROWS} return r.rows.map((row) => row.name ?? null)`, [null, null], [FOUND]],
  [`${ROWS} const out = []; r.rows.map((row) => { out.push(row.id) }); return [...out, null]`, [1, 2, null], [FOUND]],
  [`${ROWS} r.rows.map((row) => { console.log(row.id) }); return null`, null, [FOUND]],
  ["async function main() { await shop.find(); } await main(); return null", null, [FOUND]],
  ["const r = await shop.typed(); return [r.next]", [null], [{}]],
  [`${ROWS} return r.rows.map((row) => row.name)`, [1, 2], [FOUND]],
] as const) {
  test(`says nothing about ${JSON.stringify(value)} of ${source}`, () => {
    assert.deepEqual(explain(source, value, results as readonly Json[]), []);
  });
}

function explainNull(source: string, value: Json): readonly string[] {
  const options = { enabled: true, blockOnError: true, rules: DEFAULT_RULES, limits: DEFAULT_LIMITS };
  const analyzed = analyze(source, { namespaces }, options);
  assert.ok(analyzed.ok, source);
  return explainNumbers(analyzed.program, value).map(({ message }) => message);
}

for (const [source, value, part, expression] of [
  ["return Number(input.text)", null, "The result", "Number(input.text)"],
  ["const n = input.a / input.b; return { n }", { n: null }, "n in the result", "input.a / input.b"],
  [
    "let n = 0; for (const one of input.all) n += one; return { all: { n } }",
    { all: { n: null } },
    "all.n in the result",
    "n",
  ],
  ["return input.all.map((a) => ({ a: a * 2 }))", [{ a: null }, { a: null }], "[].a in the result", "a * 2"],
  ["return input.all.reduce((a, b) => a + b.c, 0)", null, "The result", "input.all.reduce((a, b) => a + b.c, 0)"],
  ["return Math.max(...input.all)", null, "The result", "Math.max(...input.all)"],
] as const) {
  test(`names the number that became null: ${source}`, () => {
    const message = `${part} is null, because ${expression} is NaN or infinite; check the values that it is computed from`;
    assert.deepEqual(explainNull(source, value), [message]);
  });
}

for (const [source, value] of [
  ["return Number(input.text)", 1],
  ["return input.all.map((a) => ({ a: a * 2 }))", [{ a: null }, { a: 2 }]],
  ["const n = input.a ? input.a * 2 : null; return { n }", { n: null }],
  ["let n = 0; if (input.a) n = null; return { n }", { n: null }],
  ["const Number = () => null; return Number(1)", null],
  ["return input.all.reduce((a, b) => b, null)", null],
  ["return null", null],
] as const) {
  test(`says nothing about a null that the program may mean: ${source}`, () => {
    assert.deepEqual(explainNull(source, value), []);
  });
}

test("a promise that was joined to a string is named, and a text without one is not", () => {
  const source = "const sum = list.reduce(async (a, b) => a + b, 0); return sum";
  const messages = explainJoined({ source }, "[object Promise]42").map(({ message }) => message);
  assert.deepEqual(messages, [
    "The result contains [object Promise]: a promise was joined to a string or a number; await it first",
  ]);
  assert.deepEqual(explainJoined({ source }, "42"), []);
});
