import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { createLocator, frameAt, toAuthorPosition } from "./locate.ts";

test("createLocator counts lines as the engine does", () => {
  const locate = createLocator("a\nb\r\nc\rd\u2028e\u2029f");
  assert.deepEqual([0, 1, 2, 5, 7, 9, 11].map(locate), [
    { line: 1, column: 1 },
    { line: 1, column: 2 },
    { line: 2, column: 1 },
    { line: 3, column: 1 },
    { line: 4, column: 1 },
    { line: 5, column: 1 },
    { line: 6, column: 1 },
  ]);
});

test("createLocator clamps an offset to the text", () => {
  const locate = createLocator("ab\nc");
  assert.deepEqual([-1, 4, 99].map(locate), [
    { line: 1, column: 1 },
    { line: 2, column: 2 },
    { line: 2, column: 2 },
  ]);
});

const program = {
  source: "let x = 1\n\tx + y // sum",
  javascript: "let x = 1\n\treturn (x + y) // sum",
  insertions: [
    { offset: 11, length: 8 },
    { offset: 24, length: 1 },
  ],
};

test("toAuthorPosition maps a position in the running text to the author's source", () => {
  assert.deepEqual(toAuthorPosition(program, 1, 5), { line: 1, column: 5 });
  assert.deepEqual(toAuthorPosition(program, 2, 1), { line: 2, column: 1 });
  assert.deepEqual(toAuthorPosition(program, 2, 10), { line: 2, column: 2 });
  assert.deepEqual(toAuthorPosition(program, 2, 14), { line: 2, column: 6 });
  assert.deepEqual(toAuthorPosition(program, 2, 17), { line: 2, column: 8 });
});

test("toAuthorPosition maps a position inside inserted text to the insertion", () => {
  assert.deepEqual(toAuthorPosition(program, 2, 2), { line: 2, column: 2 });
  assert.deepEqual(toAuthorPosition(program, 2, 9), { line: 2, column: 2 });
  assert.deepEqual(toAuthorPosition(program, 2, 15), { line: 2, column: 7 });
});

test("toAuthorPosition clamps positions beyond the text", () => {
  assert.deepEqual(toAuthorPosition(program, 9, 9), { line: 2, column: 14 });
  assert.deepEqual(toAuthorPosition(program, 0, 1), { line: 1, column: 1 });
});

test("toAuthorPosition maps the class after `new` to `new`, and nothing that only looks like it", () => {
  const at = (text: string) => {
    const javascript = text.replace("|", "");
    return toAuthorPosition({ source: javascript, javascript, insertions: [] }, 1, text.indexOf("|") + 1).column;
  };
  assert.deepEqual(
    [
      "throw new |Error()",
      "throw |new Error()",
      "throw new   |Error()",
      "renew |()",
      "a.new |()",
      "$new |()",
      "new|ish",
    ].map(at),
    [7, 7, 7, 7, 7, 6, 4],
  );
});

test("frameAt shows three lines with a caret and keeps tabs", () => {
  assert.equal(
    frameAt("one\n\ttwo three\nfour\nfive", 2, 6),
    ["  1 | one", "> 2 | \ttwo three", "    | \t    ^", "  3 | four"].join("\n"),
  );
});

test("frameAt shows the first and the last line with the neighbors that exist", () => {
  assert.equal(frameAt("one", 1, 4), ["> 1 | one", "    |    ^"].join("\n"));
  assert.equal(frameAt("one\ntwo", 2, 1), ["  1 | one", "> 2 | two", "    | ^"].join("\n"));
});

test("frameAt cuts long lines around the column and keeps the caret under it", () => {
  const [line, caret] = frameAt(`${"a".repeat(500)}X${"b".repeat(500)}`, 1, 501).split("\n");
  assert.equal(line, `> 1 | ${"a".repeat(60)}X${"b".repeat(59)}`);
  assert.equal(caret, `    | ${" ".repeat(60)}^`);
});

test("frameAt shows control and direction characters as spaces", () => {
  assert.equal(frameAt("a\u001b[31m\u202eb\0c", 1, 1), ["> 1 | a [31m b c", "    | ^"].join("\n"));
});

test("frameAt never exceeds its lines and columns", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 100 }), fc.nat(9), fc.nat(100), (source, line, column) => {
      const frame = frameAt(source, line + 1, column + 1);
      assert.ok(frame.split("\n").length <= 4 && frame.length < 4 * 540);
      assert.ok(frame.isWellFormed() && !/[\u0000-\u0008\u000b-\u001f\u202e]/u.test(frame));
    }),
  );
});
