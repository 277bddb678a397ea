import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { DEFAULT_LIMITS } from "../../domain/index.ts";
import { analyze, toAuthorPosition } from "../index.ts";
import type { AnalysisResult } from "../index.ts";

const check = (source: string): AnalysisResult =>
  analyze(source, { namespaces: [] }, { limits: DEFAULT_LIMITS, enabled: true, blockOnError: true, rules: {} });

/** Runs a source as the sandbox would, after analysis. */
async function valueOf(source: string): Promise<unknown> {
  const analyzed = check(source);
  assert.ok(analyzed.ok, analyzed.ok ? "" : analyzed.error.message);
  const wrapped = `(async () => {"use strict";\n${analyzed.program.javascript}\n})`;
  return JSON.parse(JSON.stringify(await runInNewContext(wrapped)()));
}

const VALUES: readonly (readonly [source: string, value: unknown])[] = [
  [
    "enum Color { Red, Green = 'g', Blue = 4, Next }\nreturn [Color.Red, Color.Green, Color.Next, Color[4]]",
    [0, "g", 5, "Blue"],
  ],
  ["const enum Level { Low = 1, High = Low << 3 }\nreturn Level.High", 8],
  ["enum A { X = 1 }\nenum B { Y = A.X }\nreturn [A.X, B.Y]", [1, 1]],
  ["enum A { X = 1 }\nenum A { Y = 2 }\nreturn A.X + A.Y", 3],
  ["function f() { enum A { X = 'x' } return A.X }\nf()", "x"],
  [
    "function f() { enum A { X = 1 } return A.X }\nfunction g() { enum A { X = 'x', Z = 3 } return [A.X, A.Z] }\nreturn [f(), g()]",
    [1, ["x", 3]],
  ],
  ["enum A { X = 1 }\nfunction f() { enum A { X = 2 } return A.X }\nreturn [f(), A.X]", [2, 1]],
  ["function f() { enum A { X = 1 }\nenum A { Y = 2 } return A.X + A.Y }\nreturn f()", 3],
  ["enum A { 'a b' = 1 } A['a b']", 1],
  [
    "class P { constructor(private a: string, readonly b = 2, c: number = 3) {} get() { return [this.a, this.b] } }\nreturn new P('x').get()",
    ["x", 2],
  ],
  [
    "class Q { z = 1 } class P extends Q { constructor(public a: number) { super(); this.a += this.z; } }\nreturn new P(1).a",
    2,
  ],
  [
    "class P { constructor(\n  protected readonly a: Map<string, number>,\n  public b: string,\n) { this.b += '!' } }\nreturn new P(new Map(), 'y').b",
    "y!",
  ],
  [
    "class P { constructor(public a: number) {} } class R { constructor(public b: number) {} }\nreturn [new P(1).a, new R(2).b]",
    [1, 2],
  ],
];

for (const [source, value] of VALUES) {
  test(`gives ${JSON.stringify(value)} for ${JSON.stringify(source)}`, async () =>
    assert.deepEqual(await valueOf(source), value));
}

test("maps positions after inserted code to the author's source", () => {
  const source = "enum A { X }\nclass P { constructor(private a: number) { throw new Error('x') } }\nnew P(A.X)";
  const analyzed = check(source);
  assert.ok(analyzed.ok);
  const { program } = analyzed;
  const placeOf = (text: string): unknown => {
    const before = program.javascript.slice(0, program.javascript.lastIndexOf(text)).split("\n");
    return toAuthorPosition(program, before.length, (before.at(-1)?.length ?? 0) + 1);
  };
  assert.deepEqual(placeOf("throw"), { line: 2, column: 44 });
  assert.deepEqual(placeOf("new P"), { line: 3, column: 1 });
  assert.equal(program.checkable, source);
});

test("reports findings after an enum at the author's positions", () => {
  const refused = check("enum A { X }\n  eval('1')");
  assert.ok(!refused.ok);
  assert.deepEqual([refused.error.line, refused.error.column], [2, 3]);
});

test("translates twenty enums and refuses twenty-one", async () => {
  const enums = (count: number): string =>
    Array.from({ length: count }, (_, at) => `enum E${at} { X = ${at} }`).join("\n");
  assert.deepEqual(await valueOf(`${enums(19)}\nreturn E18.X`), 18);
  assert.deepEqual(await valueOf(`${enums(20)}\nreturn E19.X`), 19);
  const refused = check(`${enums(21)}\nreturn E20.X`);
  assert.equal(
    refused.ok ? "" : refused.error.message,
    "There are more than 20 enums, namespaces and constructors with parameter properties",
  );
});

test("maps positions inside a namespace to the author's source", () => {
  const source = "namespace N.M {\n  export let a = 1;\n  export function f() { a++; throw new Error(a) }\n}\nN.M.f()";
  const analyzed = check(source);
  assert.ok(analyzed.ok);
  const { program } = analyzed;
  const placeOf = (text: string): unknown => {
    const before = program.javascript.slice(0, program.javascript.lastIndexOf(text)).split("\n");
    return toAuthorPosition(program, before.length, (before.at(-1)?.length ?? 0) + 1);
  };
  assert.deepEqual(placeOf("throw"), { line: 3, column: 30 });
  assert.deepEqual(placeOf("a++"), { line: 3, column: 25 });
  assert.deepEqual(placeOf("N.M.f"), { line: 5, column: 1 });
  assert.equal(program.checkable, source);
});

test("reports the position of an await inside a namespace", () => {
  const refused = check("let b = 1\nnamespace N { export const a = await b }\nreturn N.a");
  assert.deepEqual(refused.ok ? [] : [refused.error.line, refused.error.column], [2, 32]);
});

test("accepts namespaces in a program of twelve thousand tokens and refuses them in a longer one", () => {
  const fill = (tokens: number): string => `namespace N { export const a = 1 }${";".repeat(tokens - 9)}`;
  assert.deepEqual(
    [11_999, 12_000, 12_001].map((tokens) => check(fill(tokens)).ok),
    [true, true, false],
  );
});

test("leaves a string that looks like an alias unchanged", async () => {
  assert.equal(await valueOf("const a: string = 'import x = N.y'\nreturn a"), "import x = N.y");
});

test("runs an enum beside a type import and a top-level return, with every return in place", async () => {
  const source = [
    'import type { A } from "a";',
    "enum E { X = 1 }",
    "const o = { return: 'return;', f() { return } };",
    "return [E.X, o.return, `return ${typeof o.f()}`, (/return a/u).source];",
  ].join("\n");
  assert.deepEqual(await valueOf(source), [1, "return;", "return undefined", "return a"]);
  const refused = check(`${source}\nreturn x(`);
  assert.deepEqual(refused.ok ? [] : [refused.error.code, refused.error.line], ["PROGRAM_SYNTAX", 5]);
});
