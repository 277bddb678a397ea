/** One pass finds what a search for each needle would find. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { createNeedleIndex } from "./needle-index.ts";

const few = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom("a", "b", "ÿ"), minLength, maxLength });
const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");

test("matches cover every byte of every needle, and no other byte", () => {
  fc.assert(
    fc.property(fc.array(few(4, 8), { maxLength: 5 }), few(0, 60), (needles, text) => {
      const expected = new Set<number>();
      for (const needle of needles) {
        for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) {
          for (let i = at; i < at + needle.length; i += 1) expected.add(i);
        }
      }
      const places = createNeedleIndex(needles.map(bytesOf)).find(bytesOf(text));
      const found = places.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i));
      assert.deepEqual(
        found,
        [...expected].toSorted((a, b) => a - b),
      );
    }),
  );
});

test("adjacent matches stay separate, overlapping ones are joined, and both ends are found", () => {
  const index = createNeedleIndex([bytesOf("abcd"), bytesOf("cdef")]);
  assert.equal(index.longest, 4);
  assert.deepEqual(index.find(bytesOf("abcdabcd-abcdef-abc")), [
    { start: 0, end: 4 },
    { start: 4, end: 8 },
    { start: 9, end: 15 },
  ]);
  assert.deepEqual(index.find(bytesOf("bcd-cde")), []);
});
