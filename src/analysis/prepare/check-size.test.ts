import assert from "node:assert/strict";
import { test } from "node:test";
import { GloveboxError } from "../../domain/index.ts";
import { MAX_DEPTH, MAX_TOKENS, checkSize } from "./check-size.ts";

const LIMITS = { sourceBytes: 256 * 1024 };

function codeOf(source: string, sourceBytes = LIMITS.sourceBytes): string {
  try {
    checkSize(source, { sourceBytes });
    return "accepted";
  } catch (thrown) {
    assert.ok(thrown instanceof GloveboxError);
    return `${thrown.code}: ${thrown.message}`;
  }
}

const visits = (source: string): number => checkSize(source, LIMITS).visits;

const tooLarge = "LIMIT_SIZE: The source is larger than 10 bytes";
const tooDeep = `PROGRAM_SYNTAX: Nested more than ${MAX_DEPTH} levels deep`;

test("accepts a source just below and at the size limit and refuses one just above it", () => {
  assert.equal(codeOf("a".repeat(9), 10), "accepted");
  assert.equal(codeOf("a".repeat(10), 10), "accepted");
  assert.equal(codeOf("a".repeat(11), 10), tooLarge);
});

test("counts bytes of UTF-8, not characters", () => {
  assert.equal(codeOf("'éééé'", 10), "accepted");
  assert.equal(codeOf("'éééé' ", 10), tooLarge);
  assert.equal(codeOf("'\ud800\ud800\ud800'", 10), tooLarge);
});

test("accepts a NUL byte, which only the parser may refuse", () => {
  assert.equal(codeOf("'\0'"), "accepted");
});

for (const [name, open, close] of [
  ["parentheses", "(", ")"],
  ["arrays", "[", "]"],
  ["blocks", "{", "}"],
  ["templates", "`${", "}`"],
] as const) {
  test(`accepts ${name} nested to just below and at the depth limit and refuses one level more`, () => {
    const depths = [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1];
    const codes = depths.map((depth) => codeOf(`${open.repeat(depth)}1${close.repeat(depth)}`));
    assert.deepEqual(codes, ["accepted", "accepted", tooDeep]);
  });
}

for (const unit of [
  "!",
  "- ",
  "typeof ",
  "a=>",
  "a=",
  "a**",
  "a?b:",
  "if(a)",
  "a:",
  "new ",
  "async(",
  "a?(b):c=>(",
  "A<",
]) {
  test(`accepts a run of 30 and refuses 256 kB of ${JSON.stringify(unit)} before any parser sees it`, () => {
    assert.equal(codeOf(`${unit.repeat(30)}a`), "accepted");
    assert.equal(codeOf(unit.repeat(Math.floor(LIMITS.sourceBytes / unit.length))), tooDeep);
  });
}

test("checkSize reports where the nesting is too deep", () => {
  assert.throws(
    () => checkSize(`const a = 1;\n  ${"[".repeat(300)}`, LIMITS),
    (thrown) => thrown instanceof GloveboxError && thrown.details.line === 2 && thrown.details.column === 203,
  );
});

test("accepts long flat sources", () => {
  const flat = {
    semicolons: ";".repeat(30_000),
    string: `"${"(".repeat(200_000)}"`,
    template: `\`${"[".repeat(200_000)}\``,
    comment: `/*${"{".repeat(100_000)}*/ //${"(".repeat(100_000)}`,
    sum: `${"a+".repeat(14_500)}a`,
    statements: "const a = b ? c : d\n".repeat(3_500),
    calls: "if (a) { b((c) => c.d[0]) }\n".repeat(1_500),
    patterns: "x = /[(]\\//.test(y)\n".repeat(3_000),
    comparisons: "if (a < b) c = -d\n".repeat(2_800),
    list: `[${"-1, ".repeat(9_500)}]`,
  };
  assert.deepEqual(
    Object.entries(flat).map(([name, source]) => [name, codeOf(source)]),
    Object.keys(flat).map((name) => [name, "accepted"]),
  );
});

test("accepts as many tokens as the limit allows, whatever their length, and refuses one more", () => {
  const tooMany = `LIMIT_SIZE: The source has more than ${MAX_TOKENS} names, numbers, strings and signs`;
  const codes = [MAX_TOKENS - 1, MAX_TOKENS, MAX_TOKENS + 1].map((count) => codeOf(";".repeat(count)));
  assert.deepEqual(codes, ["accepted", "accepted", tooMany]);
});

test("estimates many more visits for nested ambiguities and few more for statements in sequence", () => {
  assert.ok(visits("<T>(".repeat(20)) > visits("<T>(".repeat(10)) * 1_000);
  assert.ok(visits("f<T>(a);".repeat(20)) <= visits("f<T>(a);".repeat(10)) * 2);
});
