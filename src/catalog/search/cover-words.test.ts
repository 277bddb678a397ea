/** The first tools of a long query match different words; those of a short one, and scores, keep their order. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { coverWords } from "./cover-words.ts";

const SORTED = [
  { place: 0, score: 10 },
  { place: 1, score: 9 },
  { place: 2, score: 8 },
  { place: 3, score: 5 },
];

test("a tool for another word comes before more tools for the same word", () => {
  const sheet = new Map([
    [0, 6],
    [1, 6],
    [2, 6],
  ]);
  const chart = new Map([[3, 5]]);
  const ordered = coverWords(SORTED, [sheet, chart]);
  assert.deepEqual(
    ordered.map(({ place }) => place),
    [0, 3, 1, 2],
  );
  assert.deepEqual(
    ordered.map(({ score }) => score),
    [10, 9, 8, 5],
  );
});

test("tools that match the same words keep their order", () => {
  const both = new Map(SORTED.map(({ place }) => [place, 3]));
  assert.deepEqual(coverWords(SORTED, [both, both]), SORTED);
  assert.deepEqual(coverWords(SORTED, []), SORTED);
});

test("a much weaker match of another word does not come first", () => {
  const [sheet, chart] = [
    new Map([
      [0, 6],
      [1, 6],
      [2, 6],
    ]),
    new Map([[3, 5]]),
  ];
  const weak = SORTED.map((one) => (one.place === 3 ? { ...one, score: 2 } : one));
  assert.deepEqual(
    coverWords(weak, [sheet, chart]).map(({ place }) => place),
    [0, 1, 2, 3],
  );
});
