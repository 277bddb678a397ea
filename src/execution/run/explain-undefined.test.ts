/** Parts of a result that are undefined because a field was missing, and results that lack something rightly. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createTool, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_RULES, analyze } from "../../analysis/index.ts";
import { DEFAULT_LIMITS, parseConnectorId, parseToolAddress } from "../../domain/index.ts";
import type { Finding, Json, Program } from "../../domain/index.ts";
import { explainJoined, explainJoinedCall } from "./explain-joined.ts";
import { explainUndefined, watchReplies } from "./explain-undefined.ts";

const OUTPUT = { type: "object", properties: { next: { type: "string" } } };
const { tools } = snapshotOf([createTool("shop.find", { output: null }), createTool("shop.typed", { output: OUTPUT })]);
const connector = parseConnectorId("shop");
assert.ok(connector);
const namespaces = [{ name: "shop", connector, summary: "", tools: ["find", "typed"] }];
const FOUND: Json = { results: [{ id: 1, owner: { name: "Ada" } }], total: 1 };

function programOf(source: string, isEnabled = true): Program {
  const options = { enabled: isEnabled, blockOnError: true, rules: DEFAULT_RULES, limits: DEFAULT_LIMITS };
  const analyzed = analyze(source, { namespaces }, options);
  assert.ok(analyzed.ok, source);
  return analyzed.program;
}

function explain(source: string, value: Json | undefined, findings: readonly Finding[] = []): readonly string[] {
  const { reads = [] } = programOf(source);
  const context = { input: { folder: "x" }, snapshot: { tools }, resultOf: () => FOUND, resultsOf: () => [FOUND] };
  return explainUndefined({ reads, findings }, value, context).map(
    ({ rule, severity, message, line, column }) => `${rule} ${severity} ${line}:${column} ${message}`,
  );
}

const SAID: readonly (readonly [source: string, value: Json | undefined, message: string])[] = [
  [
    "const r = await shop.find();\nreturn r.items",
    undefined,
    "2:8 The result is undefined, because r.items is; shop.find has results, total",
  ],
  [
    "const r = await shop.find(); r.items",
    undefined,
    "1:30 The result is undefined, because r.items is; shop.find has results, total",
  ],
  [
    "return (await shop.find()).data?.items",
    undefined,
    "1:8 The result is undefined, because (await shop.find()).data?.items is; shop.find has results, total",
  ],
  [
    "const { items } = await shop.find(); return items",
    undefined,
    "1:45 The result is undefined, because items is; shop.find has results, total",
  ],
  ["return input.dir", undefined, "1:8 The result is undefined, because input.dir is; input has folder"],
  [
    "return JSON.parse(input.text).a",
    undefined,
    "1:8 The result is undefined, because JSON.parse(input.text).a is; input has folder",
  ],
  [
    "const r = await shop.typed(); return r.next",
    undefined,
    "1:38 The result is undefined, because r.next is; shop.typed has results, total",
  ],
  [
    "const r = await shop.find(); return { n: r.count, all: r.results }",
    { all: [] },
    "1:42 n in the result is undefined, because r.count is; shop.find has results, total",
  ],
  [
    "const r = await shop.find(); const out = { n: { of: r.count } }; return out",
    { n: {} },
    "1:53 n.of in the result is undefined, because r.count is; shop.find has results, total",
  ],
  [
    "const { results } = await shop.find(); return results.map((t) => ({ id: t.id, name: t.name }))",
    [{ id: 1 }],
    "1:85 [].name in the result is undefined, because t.name is; shop.find.results[] has id, owner",
  ],
  [
    "const r = await shop.find(); const rows = []; for (const t of r.results) rows.push({ by: t.owner.login }); return rows",
    [{}],
    "1:90 [].by in the result is undefined, because t.owner.login is; shop.find.results[].owner has name",
  ],
  [
    "async function main() { const r = await shop.find(); return { n: r.count } } return await main()",
    {},
    "1:66 n in the result is undefined, because r.count is; shop.find has results, total",
  ],
  [
    "if (input.none) return null; const r = await shop.find(); return { n: r.count, all: 1 }",
    { all: 1 },
    "1:71 n in the result is undefined, because r.count is; shop.find has results, total",
  ],
];

for (const [source, value, message] of SAID) {
  test(`says which expression is undefined: ${source}`, () => {
    assert.deepEqual(explain(source, value), [`undefined-result warn ${message}`]);
  });
}

const SILENT: readonly (readonly [source: string, value: Json | undefined])[] = [
  ["const r = await shop.find(); return r.total", 1],
  ["const r = await shop.find(); return r.total", null],
  ["const r = await shop.find(); console.log(r.total)", undefined],
  ["const r = await shop.find(); return { n: r.count ?? 0 }", { n: 0 }],
  ["const r = await shop.typed(); return { next: r.next, n: 1 }", { n: 1 }],
  [
    "const { results } = await shop.find(); return results.map((t) => ({ id: t.id, a: t.a }))",
    [{ id: 1 }, { id: 2, a: 1 }],
  ],
  ["const { results } = await shop.find(); return results.map((t) => ({ id: t.id, a: t.a }))", []],
  ["const own = { a: 1 }; return { a: own.a, b: own.b }", { a: 1 }],
  ["if (input.a) return input.b; return input.c", undefined],
  ["if (input.a) return null; return { n: input.n }", null],
  ["let r = await shop.find(); r = r.items; return r", undefined],
  ["const { items = [] } = await shop.find(); return { items }", { items: [] }],
];

for (const [source, value] of SILENT) {
  test(`says nothing about ${JSON.stringify(value)} of ${source}`, () => assert.deepEqual(explain(source, value), []));
}

test("says nothing twice, and nothing if analysis is off", () => {
  const source = "const r = await shop.find(); return r.items";
  const said = {
    rule: "types",
    severity: "warn",
    message: "r has no items; it was learned",
    line: 1,
    column: 39,
  } as const;
  assert.deepEqual(explain(source, undefined, [said]), []);
  assert.equal(programOf(source, false).reads, undefined);
});

test("keeps the last result of the tools that the result is made of, and no others", async () => {
  const [one, two] = [parseToolAddress("shop.find"), parseToolAddress("shop.typed")];
  const call = async (_address: unknown, args: unknown) => ({ ok: true, json: String(args) }) as const;
  const { reads = [] } = programOf("await shop.typed(); return (await shop.find()).items");
  const replies = watchReplies({ call }, { reads });
  for (const args of ["1", "2"]) await replies.call(one, args);
  await replies.call(two, "3");
  assert.deepEqual(replies.resultsOf("shop.find"), [1, 2]);
  assert.deepEqual([replies.resultOf("shop.find"), replies.resultOf("shop.typed")], [2, undefined]);
  assert.equal(watchReplies({ call }, {}).resultOf("shop.find"), undefined);
});

test("finds joined objects in the first ten thousand values of a result, and looks at no more of it", () => {
  const find = (before: number): number =>
    explainJoined({ source: "return all" }, [...Array.from({ length: before }, () => 1), "an [object Object]"]).length;
  assert.deepEqual([find(9_998), find(9_999)], [1, 0]);
});

test("names the call that was given an object as text, unless a result or the program has that text", async () => {
  const address = parseToolAddress("shop.find");
  const give = async (args: string, reply: string, source = "await shop.find(input)"): Promise<readonly unknown[]> => {
    const replies = watchReplies({ call: async () => ({ ok: true, json: reply }) }, {});
    await replies.call(address, args);
    await replies.call(address, '{"text":"[object Object]"}');
    return explainJoinedCall(programOf(source), replies.joined()).map(({ message, line, column }) => [
      message,
      line,
      column,
    ]);
  };
  const joined = "an object was joined to a string; write JSON.stringify(…) or one of its fields";
  assert.deepEqual(await give('{"text":"by [object Object]"}', "{}"), [
    [`shop.find was given [object Object]: ${joined}`, 1, 7],
  ]);
  const promise = "a promise was joined to a string or a number; await it first";
  assert.deepEqual(await give('{"text":"[object Promise]"}', "{}"), [
    [`shop.find was given [object Promise]: ${promise}`, 1, 7],
  ]);
  assert.equal((await give('{"text":"[object Object]"}', '"it was [object Object]"')).length, 1);
  assert.deepEqual(await give("{}", '"an [object Object]"'), []);
  assert.deepEqual(await give("{}", "{}", 'await shop.find({ text: "[object Object]" })'), []);
});

test("a text that the program or a tool has is not taken for a joined object", () => {
  const value = "String({}) is [object Object]";
  assert.equal(explainJoined({ source: "return input" }, value).length, 1);
  assert.deepEqual(explainJoined({ source: "return input" }, value, true), []);
  assert.deepEqual(explainJoined({ source: 'return "String({}) is [object Object]"' }, value), []);
});
