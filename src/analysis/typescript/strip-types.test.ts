import assert from "node:assert/strict";
import { test } from "node:test";
import { GloveboxError, describeError } from "../../domain/index.ts";
import type { PublicError } from "../../domain/index.ts";
import type { Timebox } from "./erase-types.ts";
import { measureNesting } from "../prepare/check-size.ts";
import { timebox } from "../../sandbox/index.ts";
import { stripTypes } from "./strip-types.ts";

function strip(source: string, timebox?: Timebox): string {
  const { visits, tokens } = measureNesting(source, 200);
  return stripTypes(source, { visits, tokens, timebox }).text;
}

function refusalOf(source: string, timebox?: Timebox): PublicError {
  try {
    strip(source, timebox);
  } catch (thrown) {
    if (thrown instanceof GloveboxError) return describeError(thrown);
    throw thrown;
  }
  throw new assert.AssertionError({ message: `Accepted: ${source}` });
}

const nest = (unit: string, depth: number): string => `let a: number; ${unit.repeat(depth)}1${")".repeat(depth)}`;

test("stripTypes leaves plain JavaScript unchanged", () => {
  for (const source of ["a < b; c > (d)", "await x; return 1", "for (const a of b) { a?.c ?? d }", "using x = y"]) {
    assert.equal(strip(source), source);
  }
});

test("stripTypes blanks types and keeps every position", () => {
  assert.equal(strip("const x: number = 1; return x as any"), "const x         = 1; return x       ");
  assert.equal(strip("interface A { é: '😀' }\nlet a: A"), `${" ".repeat(23)}\nlet a   `);
  assert.equal(strip("import type { A } from 'a'\nlet a: A"), `${" ".repeat(26)}\nlet a   `);
});

test("stripTypes strips types from source that imports or exports and also returns", () => {
  for (const [source, text] of [
    [
      "import { z } from 'zod';\nconst x: number = 1;\nreturn x",
      "import { z } from 'zod';\nconst x         = 1;\nreturn x",
    ],
    ["import type { A } from 'a';\nreturn 1 as A", "                           \nreturn 1     "],
    [
      "export interface A { return(): 1 }\nreturn async () => 1",
      "                                  \nreturn async () => 1",
    ],
    [
      "export type A = 1\nif (f) return;\nreturn { return: 'return' as A }",
      "                 \nif (f) return;\nreturn { return: 'return'      }",
    ],
    ["export type A = 1\nif (f) { return }\nreturn\n", "                 \nif (f) { return }\nreturn\n"],
  ] as const) {
    assert.equal(strip(source), text);
  }
});

test("stripTypes reads a generic call as TypeScript does, not as two comparisons", () => {
  assert.equal(strip("f<string>(1)"), "f        (1)");
  assert.equal(strip("return f<A, B>(c).d"), "return f      (c).d");
  assert.equal(strip("g(f<A | B<C>>(c))"), "g(f          (c))");
  assert.equal(strip("f<A>`b`"), "f   `b`");
});

test("reports the line, the column and the code frame of a syntax error", () => {
  assert.deepEqual(refusalOf("const a = 1;\nconst x: number = ;\na"), {
    code: "PROGRAM_SYNTAX",
    message: "Expression expected",
    retry: false,
    hint: "Send one program in TypeScript or JavaScript, written as the body of an async function",
    line: 2,
    column: 19,
    frame: ["  1 | const a = 1;", "> 2 | const x: number = ;", "    |                   ^", "  3 | a"].join("\n"),
  });
});

test("reports the right column after tabs, wide and combining characters", () => {
  for (const lead of ["", "\t\t", "'中中';", "'😀';", "'e\u0301';", "a\r\n\t"]) {
    const source = `${lead}let b: =;`;
    const { line, column } = refusalOf(source);
    const [first = "", second] = source.split("\r\n");
    assert.deepEqual({ line, column }, { line: second ? 2 : 1, column: (second ?? first).indexOf("=;") + 1 });
  }
});

test("shortens and cleans a message that quotes the source", () => {
  const { message } = refusalOf(`let ${"a".repeat(9_000)}; let ${"a".repeat(9_000)}`);
  assert.ok(message.length <= 240 && message.endsWith("…"));
  assert.ok(!refusalOf("let a = \u202e 1").message.includes("\u202e"));
});

for (const [source, hint] of [
  ["return <any>b", "Write `value as Type` instead of `<Type>value`"],
  ["import a = require('b')", "Leave imports and exports out: tools are globals here, and `return` gives the result"],
  [
    "export namespace N { export const a = 1 }",
    "Write the namespace without `export` before it, or as a constant object",
  ],
  [
    "import a = require('a'); let b: number; return b",
    "Leave imports and exports out: tools are globals here, and `return` gives the result",
  ],
] as const) {
  test(`gives a hint for ${source}`, () => {
    const { code, hint: given } = refusalOf(source);
    assert.deepEqual({ code, hint: given }, { code: "PROGRAM_SYNTAX", hint });
  });
}

test("refuses source that closes the function around it, with and without types", () => {
  for (const source of ["}); hack(); (async () => {", "}); let a: number; (async () => {"]) {
    assert.equal(refusalOf(source).code, "PROGRAM_SYNTAX");
  }
});

test("refuses an HTML-like comment, which only a module reads as an expression", () => {
  assert.deepEqual(
    { ...refusalOf("a\nb <!-- c"), frame: "", hint: "" },
    {
      code: "PROGRAM_SYNTAX",
      message: "HTML-like comments are not allowed",
      retry: false,
      line: 2,
      column: 3,
      frame: "",
      hint: "",
    },
  );
  for (const source of ["a < ! --b", "'<!-- a'", "a <<! --b", "// <!-- a"]) assert.equal(strip(source), source);
});

test("refuses nesting that exhausts the parser with a syntax error", () => {
  const { code, message } = refusalOf(`${"a+".repeat(100_000)}a`);
  assert.deepEqual({ code, message }, { code: "PROGRAM_SYNTAX", message: "The program is too deeply nested to parse" });
});

test("still strips types after the stripper failed", () => {
  const unwatched: Timebox = (work) => ({ value: work() });
  assert.equal(refusalOf(`let a: number; ${"[".repeat(20_000)}`, unwatched).code, "PROGRAM_SYNTAX");
  assert.equal(strip("let a: number"), "let a        ");
});

test("does not run the stripper for errors that no type can explain", () => {
  let asked = 0;
  const counting: Timebox = (work) => {
    asked += 1;
    return { value: work() };
  };
  assert.equal(refusalOf("if (a) continue; let b: number", counting).message, "Unsyntactic continue");
  assert.equal(asked, 0);
  assert.equal(strip("let b: number", counting), "let b        ");
  assert.equal(asked, 1);
});

test("says that a program took too long instead of an error in its syntax, and strips it when there is time", () => {
  const late: Timebox = () => undefined;
  assert.match(refusalOf("let a: number", late).message, /^It takes too long/u);
  const interrupted: Timebox = (work) => {
    work();
    return { value: work() };
  };
  assert.equal(strip("let a: number", interrupted), "let a        ");
});

test("refuses deeply nested ambiguities without a time limit, and accepts a few", () => {
  assert.equal(strip(nest("f<T>(", 3)).replaceAll(" ", ""), "leta;f(f(f(1)))");
  assert.match(refusalOf(nest("f<T>(", 30)).message, /nested too deeply to distinguish types from values$/u);
});

test("stops the stripper at its time limit and strips the next source", () => {
  assert.match(refusalOf(nest("<T>(", 4), timebox).message, /angle-bracket/u);
  const unestimated = { visits: 0, tokens: 0, timebox };
  assert.throws(() => stripTypes(nest("<T>(", 60), unestimated), { message: /^It takes too long/u });
  assert.equal(strip("let a: number", timebox), "let a        ");
});
