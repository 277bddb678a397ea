import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "./fixtures/judge.ts";

function rulesOf(source: string): readonly string[] {
  const judged = judge(source, { blockOnError: false, rules: { "no-unawaited-call": "off" } });
  return judged.slice(1).map((finding) => finding.split(" ")[0] ?? "");
}

const OBJECTIONS: Readonly<Record<string, readonly string[]>> = {
  "no-dangerous-globals": [
    "process.env.HOME",
    "require('fs')",
    "const fs = require('fs')",
    "global.x = 1",
    "Deno.readFile('a')",
    "Bun.file('a')",
    "window.location",
    "document.title",
    "__dirname",
    "fs.readFileSync('a')",
    "new WebSocket('ws://a')",
    "Buffer.from('a')",
    "globalThis.process.exit()",
    "globalThis['require']('fs')",
    "module.exports = 1",
    "performance.now()",
    "{ const process = 1 } process.pid",
  ],
  "no-prototype-pollution": [
    "({}).__proto__.x = 1",
    "a.__proto__ = b",
    "a['__proto__'] = b",
    "a[`__proto__`].b = 1",
    "a.constructor.prototype.x = 1",
    "Object.prototype.x = 1",
    "Array.prototype.map = f",
    "delete Array.prototype.map",
    "String.prototype['x'] = 1",
    "Object.setPrototypeOf(Array.prototype, null)",
    "Object.setPrototypeOf(Array, null)",
    "Object.defineProperty(Object.prototype, 'x', {})",
    "Object.assign(Object.prototype, {})",
    "Reflect.set(Object.prototype, 'x', 1)",
  ],
  "no-unhandled-async": [
    "list.forEach(async (a) => { await f(a) })",
    "list.filter(async (a) => await f(a))",
    "list.sort(async (a, b) => 1)",
    "if (list.some(async (a) => f(a))) g()",
    "list.map(async (a) => f(a)); 1",
    "list.map(async (a) => f(a)).join()",
    "const g = async (a) => f(a); list.forEach(g)",
    "async function run() {} run(); 1",
    "const run = async () => {}; run(); 1",
    "(async () => { await f() })(); 1",
    "tools.echo(1).then(f); 1",
    "async function run() {} run().then(f); 1",
  ],
  "no-invisible-characters": ["const t\u043e\u043els = 1", "a.n\u0430me", "({ \u0440ath: 1 })"],
};

for (const [rule, sources] of Object.entries(OBJECTIONS)) {
  for (const source of sources) {
    test(`${rule} objects to ${source}`, () => assert.deepEqual(rulesOf(source), [rule]));
  }
}

for (const source of [
  "const process = (x) => x; process(1)",
  "function f(document) { return document.title }",
  "'process.env'; // require('fs')",
  '`require("x")`',
  "obj.process.require.window",
  "({ process: 1, require: 2 })",
  "typeof process === 'undefined' ? 1 : process.pid",
  "if (typeof window !== 'undefined') window.x()",
  "globalThis.process?.env",
  "const { window } = settings; window.size",
  "class A {} A.prototype.x = 1",
  "const a = { __proto__: null }",
  "Object.setPrototypeOf(mine, base)",
  "Object.assign({}, defaults)",
  "Object.getPrototypeOf(a) === Object.prototype",
  "const p = Object.prototype.hasOwnProperty.call(a, 'b')",
  "await Promise.all(list.map(async (a) => f(a)))",
  "const promises = list.map(async (a) => f(a)); await Promise.allSettled(promises)",
  "return list.map(async (a) => f(a))",
  "for (const a of list) await f(a)",
  "list.forEach((a) => f(a))",
  "async function run() {} await run(); 1",
  "async function run() {} void run(); 1",
  "async function run() {} run()",
  "list.reduce(async (before, a) => { await before; return f(a) }, Promise.resolve())",
  "const имя = 1",
  "const π = 3; const Δx = 1",
  "'паsword'",
]) {
  test(`no rule objects to ${source}`, () => assert.deepEqual(rulesOf(source), []));
}

test("an upstream may have the name of a dangerous global", () => {
  assert.deepEqual(judge("await fs.readFile({ path: 'a' })", { namespaces: ["fs"] }), ["ran"]);
  assert.equal(judge("await fs.readFile({ path: 'a' })")[0], "PROGRAM_FORBIDDEN");
});
