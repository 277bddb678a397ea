/** Suggestions for a mistyped key. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { countEdits } from "../../text/index.ts";
import { findNearest } from "./report-issues.ts";

test("countEdits counts insertions, deletions and replacements", () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ["", "", 0],
    ["", "abc", 3],
    ["comand", "command", 1],
    ["kitten", "sitting", 3],
    ["wallTime", "wallMs", 4],
  ];
  for (const [from, to, edits] of cases) assert.equal(countEdits(from, to), edits, `${from} ${to}`);
});

test("countEdits is a metric: symmetric, zero only for equal words, and with the triangle inequality", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
  fc.assert(
    fc.property(word, word, word, (a, b, c) => {
      assert.equal(countEdits(a, b), countEdits(b, a));
      assert.equal(countEdits(a, b) === 0, a === b);
      assert.ok(countEdits(a, c) <= countEdits(a, b) + countEdits(b, c));
    }),
  );
});

test("findNearest returns the nearest word if at most half of it differs", () => {
  const known = ["command", "args", "env", "cwd"];
  assert.equal(findNearest("COMMAND", known), "command");
  assert.equal(findNearest("comand", known), "command");
  assert.equal(findNearest("arguments", known), undefined);
  assert.equal(findNearest("argx", known), "args");
  assert.equal(findNearest("xx", known), undefined);
  assert.equal(findNearest("x", []), undefined);
  assert.equal(findNearest("x".repeat(1_000_000), known), undefined);
});
