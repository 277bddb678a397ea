import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { insert, joinInsertions, withoutInsertions } from "./edit-text.ts";
import type { Edit } from "./edit-text.ts";

test("remembers each insertion at its offset in the longer text", () => {
  const edits = [
    { at: 1, text: "xx" },
    { at: 3, text: "y" },
  ];
  assert.deepEqual(insert("abcd", edits), {
    javascript: "axxbcyd",
    insertions: [
      { offset: 1, length: 2 },
      { offset: 5, length: 1 },
    ],
  });
});

const MARK = "#";
const edits = (most: number): fc.Arbitrary<readonly Edit[]> =>
  fc
    .array(fc.record({ at: fc.nat(most), text: fc.integer({ min: 1, max: 4 }).map((size) => MARK.repeat(size)) }), {
      maxLength: 5,
    })
    .map((list) => list.toSorted((a, b) => a.at - b.at));

test("maps every character back through two rounds of insertions", () => {
  const text = "abcdefghij";
  fc.assert(
    fc.property(edits(text.length), edits(text.length), (first, second) => {
      const once = insert(text, first);
      const twice = insert(once.javascript, second);
      const insertions = joinInsertions(once.insertions, twice.insertions);
      for (const [at, char] of twice.javascript.split("").entries()) {
        if (char !== MARK) assert.equal(text[withoutInsertions(insertions, at)], char);
      }
    }),
  );
});
