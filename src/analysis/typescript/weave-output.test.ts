import assert from "node:assert/strict";
import { test } from "node:test";
import type { Token } from "acorn";
import { parseJavascript } from "../parse-javascript.ts";
import { weaveOutput } from "./transform-types.ts";

function weave(source: string, text: string, toSource: ReadonlyMap<number, number> = new Map()): string {
  const tokens = tokensOf(text);
  const { javascript, insertions } = weaveOutput(source, { text, tokens, toSource });
  assert.deepEqual(
    tokensOf(javascript).map(({ start, end }) => javascript.slice(start, end)),
    tokens.map(({ start, end }) => text.slice(start, end)),
  );
  let [shown, from] = ["", 0];
  for (const { offset, length } of insertions) {
    shown += `${javascript.slice(from, offset)}«${javascript.slice(offset, offset + length)}»`;
    from = offset + length;
  }
  return shown + javascript.slice(from);
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  assert.ok(parseJavascript(text, tokens).ok, text);
  return tokens.filter(({ start, end }) => end > start);
}

test("weaveOutput keeps tokens in place and blanks what the compiler dropped", () => {
  assert.equal(weave("let a: number = 1;\nlet b = a", "let a = 1;\nlet b = a;"), "let a         = 1;\nlet b = a«;»");
});

test("weaveOutput inserts tokens that the source does not have", () => {
  assert.equal(weave("f(x)", "f(1, x)"), "f(«1, »x)");
});

test("weaveOutput keeps an arrow on the line of its parameters if the type had line ends", () => {
  assert.equal(weave("(a): {\n} => a", "(a)=>a;"), "(a)«=>»   \n     a«;»");
});

test("weaveOutput keeps the operand of return on its line", () => {
  assert.equal(weave("return (\n1)", "return 1;"), "return« 1;»  \n  ");
});

test("weaveOutput never separates the text of a template from its quotes", () => {
  assert.equal(weave("`a${b as c}d`", "`a${b}d`;"), "`a${b     }d`«;»");
});

test("weaveOutput ignores source map entries of moved code", () => {
  const source = "f(a); g(a)";
  const output = "g(a); f(a);";
  const toSource = new Map([
    [0, 6],
    [6, 0],
  ]);
  assert.equal(weave(source, output, toSource).replace(/[«»\s]/gu, ""), "g(a);f(a);");
});
