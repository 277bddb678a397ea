import assert from "node:assert/strict";
import { test } from "node:test";
import { analyze } from "../analyze.ts";
import { judge } from "./fixtures/judge.ts";
import type { Settings } from "./fixtures/judge.ts";

const OBJECTIONS: Readonly<Record<string, string>> = {
  'import a from "a"': "no-external-import error 1:1",
  'import"a"': "no-external-import error 1:1",
  'export * from "a"': "no-external-import error 1:1",
  "1;\nexport const a = 1": "no-external-import error 2:1",
  'await import("a")': "no-dynamic-import error 1:7",
  "import.meta.url": "no-dynamic-import error 1:1",
  'eval("1")': "no-eval error 1:1",
  '(0, eval)("1")': "no-eval error 1:5",
  '\\u0065val("1")': "no-eval error 1:1",
  "const e = eval": "no-eval error 1:11",
  'Function("1")': "no-eval error 1:1",
  'new Function("1")': "no-eval error 1:5",
  'globalThis["eval"]("1")': "no-eval error 1:1",
  'setTimeout("a()", 1)': "no-eval error 1:1",
};

for (const [source, finding] of Object.entries(OBJECTIONS)) {
  test(`refuses ${JSON.stringify(source)}`, () => assert.deepEqual(judge(source), ["PROGRAM_FORBIDDEN", finding]));
}

/** Habits from other places, the rule that knows them and the words that say what to do instead. */
const HABITS: readonly (readonly [source: string, rule: string, fix: RegExp])[] = [
  ["setInterval(f, 10)", "no-dangerous-globals", /a loop that awaits `new Promise\(\(done\) => setTimeout/u],
  ["const fs = require('fs')", "no-dangerous-globals", /tools are globals.*ask an operator to add an upstream/u],
  ["return process.env.HOME", "no-dangerous-globals", /take what you need from `input` or from a tool/u],
  ["return await axios.get('https://a.example')", "no-dangerous-globals", /call a tool of an upstream/u],
  ["import fs from 'fs'", "no-external-import", /remove the line: tools are globals.*ask an operator/u],
  ["export * from 'a'", "no-external-import", /remove the line: tools are globals.*ask an operator/u],
  ["export { a } from 'a'", "no-external-import", /ask an operator/u],
  ["export const a = 1", "no-external-import", /remove the word `export` and give the result with `return`/u],
  ["const fs = await import('fs')", "no-dynamic-import", /use the tools, which are globals.*ask an operator/u],
  ["return import.meta.url", "no-dynamic-import", /take what you need from `input`/u],
];

for (const [source, rule, fix] of HABITS) {
  test(`gives a fix for ${source}`, () => {
    const options = { limits: { sourceBytes: 1_000 }, enabled: true, blockOnError: true, rules: {} };
    const analyzed = analyze(source, { namespaces: [] }, options);
    assert.ok(!analyzed.ok);
    assert.equal(analyzed.error.code, "PROGRAM_FORBIDDEN");
    assert.ok(analyzed.error.message.startsWith(`${rule}: `), analyzed.error.message);
    assert.match(analyzed.error.hint?.toLowerCase() ?? "", new RegExp(fix.source.toLowerCase(), "u"));
  });
}

const WARNINGS: Readonly<Record<string, string>> = {
  "tools.echo(1); return 2": "no-unawaited-call warn 1:1",
  "if (a) { (tools)?.['echo']?.(1) } 2": "no-unawaited-call warn 1:10",
  "const { echo } = tools; echo(1); 2": "no-unawaited-call warn 1:25",
  "const echo = tools.echo; echo(1); 2": "no-unawaited-call warn 1:26",
  "const api = tools; api.echo(1); 2": "no-unawaited-call warn 1:20",
  "[tools.echo(1)]; 2": "no-unawaited-call warn 1:2",
  "const all = [tools.echo(1)]; 2": "no-unawaited-call warn 1:14",
  "const all = ids.map((id) => tools.echo(id)); all.length": "no-unawaited-call warn 1:29",
  "const p = tools.echo(1); 2": "no-unawaited-call warn 1:11",
  "ids.map((id) => tools.echo(id)); 2": "no-unawaited-call warn 1:17",
  "ids.map((id) => { return tools.echo(id) }); 2": "no-unawaited-call warn 1:26",
  "ids.forEach((id) => tools.echo(id)); 2": "no-unawaited-call warn 1:21",
  "a ? tools.echo(1) : b; 2": "no-unawaited-call warn 1:5",
  "a && tools.echo(1); 2": "no-unawaited-call warn 1:6",
  "a, tools.echo(1), b": "no-unawaited-call warn 1:4",
  "'hi ' + tools.echo(1)": "no-unawaited-call warn 1:9",
  "`hi ${(tools.echo(1))}`": "no-unawaited-call warn 1:8",
  "const r = tools.echo(1); `hi ${r}`": "no-unawaited-call warn 1:11",
  "return { ...tools.echo(1) }": "no-unawaited-call warn 1:13",
  "const r = tools.echo(1); return { a: 1, ...r }": "no-unawaited-call warn 1:11",
  "JSON.stringify(tools.echo(1), null, 2)": "no-unawaited-call warn 1:16",
  "JSON.stringify({ a: [tools.echo(1)] })": "no-unawaited-call warn 1:22",
  "const all = ids.map((id) => tools.echo(id)); JSON.stringify(all)": "no-unawaited-call warn 1:29",
  "String(tools.echo(1))": "no-unawaited-call warn 1:8",
  "const count = 1 + (a ? tools.echo(1) : 2)": "no-unawaited-call warn 1:24",
  "tools.echo(1).then((r) => r); 2": "no-unhandled-async warn 1:1",
  "const a\u200db = 1": "no-invisible-characters warn 1:8",
  "// \u202e\n1": "no-invisible-characters warn 1:4",
  "'\u{e0041}'": "no-invisible-characters warn 1:2",
};

for (const [source, finding] of Object.entries(WARNINGS)) {
  test(`warns about ${JSON.stringify(source)}`, () => assert.deepEqual(judge(source), ["ran", finding]));
}

for (const source of [
  "'eval(1)' // eval(1)",
  "obj.eval(1); obj.Function; ({ eval: 1, Function() {} })",
  "const eval2 = 1; eval2",
  "(Function) => Function('x')",
  "typeof eval; f instanceof Function",
  "const globalThis = {}; globalThis.eval",
  "setTimeout(() => 1, 1); obj.setTimeout('a'); setTimeout(a, 1)",
  "(setTimeout) => setTimeout('a')",
  "obj.import('a'); 'import a'",
  "await tools.echo(1); const p = tools.echo(2); void tools.echo(3); await p; return tools.echo(4)",
  "await Promise.all([tools.echo(1), a ? tools.echo(2) : b && tools.echo(3)])",
  "const all = [tools.echo(1)]; all.push(tools.echo(2)); return Promise.all(all)",
  "const all = ids.map((id) => tools.echo(id)); for (const one of all) await one",
  "const load = (id) => tools.echo(id); await load(1)",
  "const load = (id) => { return tools.echo(id) }; await Promise.all(ids.map(load))",
  "return a ? tools.echo(1) : [await tools.echo(2)]",
  "await new Promise((resolve, reject) => { tools.echo(1).then(resolve, reject) })",
  "await new Promise((resolve) => { tools.echo(1).then(resolve); })",
  "const r = a ? await tools.echo(1) : null; return r",
  "const { echo } = { echo() {} }; echo(1); 2",
  "const p = tools.echo(1); return { p }",
  "ids.map((id) => tools.echo(id))",
  "await Promise.all(xs.map((x) => tools.echo(x)))",
  "tools.echo(1)",
  "const tools = { echo() {} }; tools.echo(1); 2",
  "'hi ' + (await tools.echo(1)) + `${await tools.echo(2)}` + JSON.stringify({ a: await tools.echo(3) })",
  "let r = tools.echo(1); r = await r; return `hi ${r}`",
  "const r = tools.echo(1); return { ...(await r) }",
  "const all = [tools.echo(1)]; return Promise.all([...all, ...[tools.echo(2)]])",
  "const JSON = { stringify: (r) => r }; return JSON.stringify(tools.echo(1))",
  "const text = async (parts, r) => await r; return text`hi ${tools.echo(1)}`",
  "return JSON.stringify(a, tools.echo(1))",
  "return { a: tools.echo(1), b: [tools.echo(2)] }",
  "'👩\u200d👩\u200d👧 ❤\ufe0f'",
  "\ufeff1",
]) {
  test(`accepts ${JSON.stringify(source)}`, () => assert.deepEqual(judge(source), ["ran"]));
}

test("uses the severity that the operator set", () => {
  assert.deepEqual(judge("eval(1)", { rules: { "no-eval": "warn" } }), ["ran", "no-eval warn 1:1"]);
  assert.deepEqual(judge("eval(1)", { rules: { "no-eval": "off" } }), ["ran"]);
  assert.deepEqual(judge("tools.echo(); 1", { rules: { "no-unawaited-call": "error" } }), [
    "PROGRAM_FORBIDDEN",
    "no-unawaited-call error 1:1",
  ]);
});

test("runs a program with errors and lists them if errors do not block", () => {
  assert.deepEqual(judge("eval(1)", { blockOnError: false }), ["ran", "no-eval error 1:1"]);
});

test("runs no rule if analysis is off", () => {
  assert.deepEqual(judge("eval(1); import('a'); tools.echo()\n;'\u202e'", { enabled: false }), ["ran"]);
});

test("refuses a program that cannot run, with any settings", () => {
  const lax: Settings = { enabled: false, blockOnError: false, rules: { "no-external-import": "off" } };
  assert.deepEqual(judge("import 'a'", lax), ["PROGRAM_FORBIDDEN"]);
  assert.deepEqual(judge("import.meta", lax), ["PROGRAM_FORBIDDEN"]);
  assert.deepEqual(judge("import 'a'", { rules: { "no-external-import": "warn" } }), [
    "PROGRAM_FORBIDDEN",
    "no-external-import warn 1:1",
  ]);
  assert.deepEqual(judge("import 'a'"), ["PROGRAM_FORBIDDEN", "no-external-import error 1:1"]);
});

test("reports all findings at once in source order", () => {
  assert.deepEqual(judge("tools.echo();\nimport('a');\neval(1)"), [
    "PROGRAM_FORBIDDEN",
    "no-unawaited-call warn 1:1",
    "no-dynamic-import error 2:1",
    "no-eval error 3:1",
  ]);
});

test("keeps at most 100 findings, errors first", () => {
  const count = (source: string): number => judge(source).length - 1;
  assert.deepEqual(
    [99, 100, 101].map((times) => count("tools.echo();".repeat(times) + "1")),
    [99, 100, 100],
  );
  assert.ok(judge(`${"tools.echo();".repeat(200)}eval(1)`).includes("no-eval error 1:2601"));
});
