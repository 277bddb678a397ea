/** Objects at the end of a program that the language takes for blocks, and blocks that stay blocks. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import { DEFAULT_LIMITS } from "../../domain/index.ts";
import { analyze, toAuthorPosition } from "../index.ts";
import type { AnalysisResult } from "../index.ts";

const check = (source: string): AnalysisResult =>
  analyze(source, { namespaces: [] }, { limits: DEFAULT_LIMITS, enabled: true, blockOnError: true, rules: {} });

async function valueOf(source: string): Promise<unknown> {
  const analyzed = check(source);
  assert.ok(analyzed.ok, analyzed.ok ? "" : analyzed.error.message);
  const value = await runInNewContext(`(async () => {"use strict";\n${analyzed.program.javascript}\n})`)();
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

const MESSAGE = "The braces at the end were read as an object";

for (const [source, value] of [
  ["const n = 2\n{ total: n }", { total: 2 }],
  ["const n = 2; { n }", { n: 2 }],
  ["const a = 1, b = 2;\n{ a, b };", { a: 1, b: 2 }],
  ["const n = 2;\n{ total: n, half: n / 2 }", { total: 2, half: 1 }],
  [
    "const f = () => 3\nf()\n{ total: f(), list: [1], deep: { a: 1, b: 2 } }",
    { total: 3, list: [1], deep: { a: 1, b: 2 } },
  ],
  ['const n: number = 2;\n{ "total": n as number, [`k${n}`]: 1, ...{ x: 1 } };', { total: 2, k2: 1, x: 1 }],
  ["if (true) { 1 }\n{ a: 1, b: await 2 }", { a: 1, b: 2 }],
] as const) {
  test(`returns ${JSON.stringify(value)} for ${JSON.stringify(source)} and notes it`, async () => {
    assert.deepEqual(await valueOf(source), value);
    const analyzed = check(source);
    assert.deepEqual(analyzed.ok && analyzed.program.findings.map(({ message }) => message), [MESSAGE]);
  });
}

for (const [source, value] of [
  ["let a = 0; { a = 1; a + 1 }", 2],
  ["let a = 0; { a = 1 }", 1],
  ["let a = 1; {}", undefined],
  ["let a = 1; { let b = a; b }", 1],
  ["out: { if (true) break out }", undefined],
  ["const a = 1\nreturn { a, b: 2 }", { a: 1, b: 2 }],
] as const) {
  test(`leaves ${JSON.stringify(source)} unchanged`, async () => {
    assert.deepEqual(await valueOf(source), value);
    const analyzed = check(source);
    assert.deepEqual(analyzed.ok && analyzed.program.findings.map(({ message }) => message), []);
  });
}

for (const source of ["if (x)\n{ a: 1, b: 2 }", "{ a: 1, b: }", "const x = { a: 1, b }; }", "else { a: 1, b: 2 }"]) {
  test(`still refuses ${JSON.stringify(source)}`, () => {
    const analyzed = check(source);
    assert.equal(analyzed.ok ? "" : analyzed.error.code, "PROGRAM_SYNTAX");
  });
}

test("maps positions inside an object at the end to the author's source", () => {
  const analyzed = check("const n = 2\n{ a: 1, b: n.c.d }");
  assert.ok(analyzed.ok);
  const { program } = analyzed;
  const line = program.javascript.split("\n")[1] ?? "";
  assert.deepEqual(toAuthorPosition(program, 2, line.indexOf("n.c") + 1), { line: 2, column: 12 });
});
