/** Shortening, edit distance and wildcards. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { capText, countEdits, digestLarge, digestOf, matchWildcard } from "./index.ts";

test("capText keeps what fits and never splits a character", () => {
  assert.equal(capText("héllo", 6), "héllo");
  assert.equal(capText("héllo", 5), "héll");
  assert.equal(capText("héllo", 2), "h");
  assert.equal(capText("héllo", 0), "");
});

test("countEdits counts insertions, deletions and replacements up to its limit", () => {
  assert.equal(countEdits("kitten", "sitting"), 3);
  assert.equal(countEdits("kitten", "sitting", 3), 3);
  assert.equal(countEdits("kitten", "sitting", 2), Infinity);
  assert.equal(countEdits("", "abc"), 3);
});

test("matchWildcard matches any characters for a star and nothing else as a pattern", () => {
  const matching = ["a*c", "*", "abc", "a*b*c", "abc*", "*abc"].map((pattern) => matchWildcard(pattern, "abc"));
  assert.deepEqual(matching, [true, true, true, true, true, true]);
  const other = ["ab", "a.c", "a*bc*c", "abc*c", ""].map((pattern) => matchWildcard(pattern, "abc"));
  assert.deepEqual(other, [false, false, false, false, false]);
});

test("digestLarge of a value returns the digest of digestOf, with pauses for a large value", () => {
  const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, b: [id / 3, null], "10": "é\ud800", "9": true, a: {} }));
  const wide = Object.fromEntries(rows.map((row) => [`k${row.id}`, row]));
  for (const [value, isLarge] of [
    [{}, false],
    [{ b: [1, "x"], a: null, "10": 1, "9": 2 }, false],
    [{ rows, "10": "x".repeat(100_000), "9": [] }, true],
    [{ z: [[wide], []], wide, "": "" }, true],
  ] as const) {
    const work = digestLarge(value);
    let pauses = 0;
    let step = work.next();
    for (; step.done !== true; step = work.next()) pauses += 1;
    assert.deepEqual([step.value, pauses > 0], [digestOf(value), isLarge]);
  }
});

test("digestLarge returns the digest of digestOf, with pauses for a large text", () => {
  for (const [text, isLarge] of [
    ["", false],
    ["x".repeat(512 * 1024), false],
    [`x${"\u{1f600}".repeat(400_000)}\ud800`, true],
  ] as const) {
    const work = digestLarge(text);
    let pauses = 0;
    let step = work.next();
    for (; step.done !== true; step = work.next()) pauses += 1;
    assert.deepEqual([step.value, pauses > 0], [digestOf(text), isLarge]);
  }
});
