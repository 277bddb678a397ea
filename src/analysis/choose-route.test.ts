/** Programs that `auto` starts in V8, each with a twin that stays in QuickJS. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS, parseConnectorId } from "../domain/index.ts";
import type { Program } from "../domain/index.ts";
import { analyze } from "./analyze.ts";
import { DEFAULT_RULES } from "./rules/check-rules.ts";

const connector = parseConnectorId("files");
assert.ok(connector);
const SURFACE = { namespaces: [{ name: "files", connector, summary: "", tools: ["read"] }] };

function routeOf(source: string): Program["route"] {
  const analyzed = analyze(source, SURFACE, {
    enabled: false,
    blockOnError: false,
    rules: DEFAULT_RULES,
    limits: DEFAULT_LIMITS,
  });
  assert.ok(analyzed.ok, source);
  return analyzed.program.route;
}

/** The program that is routed, and the one that is not. */
const TWINS: readonly (readonly [routed: string, twin: string])[] = [
  ["new Intl.NumberFormat('en').format(5)", "const Intl = { format: (n) => n }; Intl.format(5)"],
  ["(5).toLocaleString()", "(5).toFixed(2)"],
  ["new Date()['toLocaleDateString']()", "new Date().toISOString()"],
  ["['b', 'a'].sort((x, y) => x.localeCompare(y))", "['b', 'a'].sort((x, y) => (x < y ? -1 : 1))"],
  ["'I'.toLocaleLowerCase('tr')", "'I'.toLocaleLowerCase()"],
  ["/[a--b]/v.test('a')", "/[a-b]/u.test('v')"],
  ["const n = 3; 1.05 ** n", "const n = 2; 1.05 ** n"],
  ["10 ** -2", "10 ** 2"],
  ["let x = 2; x **= 3; x", "let x = 2; x *= 3; x"],
  ["Math.pow(1.1, 5)", "Math.pow(10, 5)"],
  ["Math.log(2)", "const Math = { log: (n) => n }; Math.log(2)"],
  ["[1, 4].map(Math.exp)", "[1, 4].map(Math.sqrt)"],
  ["/(a)/.test('a'); RegExp.$1", "/(a)/.exec('a')[1]"],
  ["try { await files.read() } catch (e) { e.stack }", "try { await files.read() } catch (e) { e.message }"],
  ["const { stack } = new Error('x'); stack", "const { message } = new Error('x'); message"],
  ["new DisposableStack()", "new Set()"],
  ["let n = 0; for (let i = 0; i < 1000; i++) n += i; n", "let n = 0; for (let i = 0; i < 999; i++) n += i; n"],
  ["const N = 1e6; let n = 0; while (n < N) n++; n", "const N = 100; let n = 0; while (n < N) n++; n"],
  ["let n = 0; for (let i = 5000; i > 0; i--) n += i; n", "let n = 0; for (let i = 50; i > 0; i--) n += i; n"],
  [
    "let n = 0; for (let i = 0; i < 40; i++) for (let j = 0; j < 25; j++) n += i * j; n",
    "let n = 0; for (let i = 0; i < 9; i++) for (let j = 0; j < 9; j++) n += i * j; n",
  ],
  [
    "for (let page = 1; page < 1000; page++) { if (page * page > 50) break; }",
    "for (let page = 1; page < 1000; page++) { if (!(await files.read({ page })).more) break; }",
  ],
  ["Array.from({ length: 5000 }, (_, i) => i)", "Array.from({ length: 50 }, (_, i) => i)"],
  ["new Array(1000).fill(0)", "new Array(999).fill(0)"],
  ["new Float64Array(4096)", "new Float64Array(16)"],
  ["JSON.parse('[' + '1,'.repeat(100000) + '1]')", "'-'.repeat(80)"],
  [
    "const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); fib(25)",
    "const depth = (node) => Math.max(0, ...node.children.map((one) => depth(one))) + 1; depth({ children: [] })",
  ],
  [
    "function down(n) { return n === 0 ? 0 : 1 + down(n - 1); } down(5000)",
    "function down(n) { return n === 0 ? 0 : 1 + down(n - 1); } down(50)",
  ],
  ["files.read({}); return 1", "await files.read({}); return 1"],
  ["(async () => { throw new Error('x') })(); return 1", "await (async () => 1)(); return 1"],
  ["const go = async () => 1; go(); return 2", "const go = () => 1; go(); return 2"],
  ["files.read({}).then((x) => x); return 1", "files.read({}).then((x) => x).catch(() => 1); return 1"],
];

describe("the route of a program", () => {
  for (const [routed, twin] of TWINS) {
    it(`starts in V8: ${routed}`, () => assert.equal(routeOf(routed), "isolate"));
    it(`stays in QuickJS: ${twin}`, () => assert.equal(routeOf(twin), undefined));
  }
  it("the names of properties, strings and comments do not route a program", () => {
    assert.equal(routeOf("const item = { Intl: 1, log: 'Math.log' }; /* toLocaleString */ item.Intl"), undefined);
  });
  it("a program whose last value is a call stays in QuickJS", () => assert.equal(routeOf("files.read({})"), undefined));
});
