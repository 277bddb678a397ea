/** Large JSON in pieces: the same results as in one piece, and no piece is much larger than its limit. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { mapTexts, parseJson } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";
import { PIECE_CHARS, mapLargeTexts, readJson, writeJson } from "./large-json.ts";

/** Runs the work to its end; returns its result and the number of its pieces. */
function run<T>(work: Generator<undefined, T>): { readonly result: T; readonly pieces: number } {
  for (let pieces = 1; ; pieces += 1) {
    const next = work.next();
    if (next.done === true) return { result: next.value, pieces };
  }
}

const rows = (count: number): Json =>
  Array.from({ length: count }, (_, id) => ({ id, name: `"item" \\ ${id}`, tags: ["a", null, true], at: 1.5e300 }));

/** Larger than a piece at several levels. */
const LARGE: readonly Json[] = [
  rows(5_000),
  { items: rows(3_000), more: { items: [rows(2_000), "x".repeat(300_000)] }, "": null },
  Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`key ${at}`, { at }])),
  [[], {}, rows(4_000), "\ud83d\ude00\\".repeat(50_000)],
];

describe("large JSON in pieces", () => {
  for (const [index, value] of LARGE.entries()) {
    it(`writes, reads and maps a large value in pieces, as in one piece (${index + 1})`, () => {
      const text = JSON.stringify(value);
      const atLeast = index === 3 ? 3 : Math.floor(text.length / PIECE_CHARS / 4);
      const written = run(writeJson(value));
      assert.equal(written.result, text);
      const read = run(readJson(text));
      assert.deepEqual(read.result, value);
      const spaced = run(readJson(JSON.stringify(value, undefined, "\t")));
      assert.deepEqual(spaced.result, value);
      const change = (one: string): string => one.replaceAll("item", "thing");
      const mapped = run(mapLargeTexts(value, change));
      assert.deepEqual(mapped.result, mapTexts(value, change));
      for (const { pieces } of [written, read, spaced, mapped]) assert.ok(pieces > atLeast, `${pieces} pieces`);
    });
  }
  it("writes, reads and maps a small value in one piece", () => {
    const value = rows(3);
    const works = [writeJson(value), readJson(JSON.stringify(value)), mapLargeTexts(value, (text) => text)];
    assert.deepEqual(
      works.map((work) => run<unknown>(work).pieces),
      [1, 1, 1],
    );
  });
  it("replaces lone surrogates in strings and keys, also in a large value", () => {
    const value = [rows(3_000), { "\ud800": "\udc00x", pair: "\ud83d\ude00" }];
    const { result } = run(writeJson(value));
    assert.deepEqual(JSON.parse(result), [rows(3_000), { "\ufffd": "\ufffdx", pair: "\ud83d\ude00" }]);
  });
  it("keeps a key named __proto__ as an ordinary key of a large object", () => {
    const text = `{"__proto__":{"a":1},"rows":${JSON.stringify(rows(3_000))}}`;
    const { result } = run(readJson(text));
    assert.equal(JSON.stringify(result), text);
    assert.equal(run(writeJson(result ?? null)).result, text);
  });
  it("reads exactly what JSON.parse reads, also below a large array or object", () => {
    const pad = JSON.stringify("x".repeat(PIECE_CHARS));
    const texts = fc.oneof(
      fc.json(),
      fc.json().map((json) => json.slice(0, -1)),
      fc.stringMatching(/^[[\]{}",:\\0-9a-z \n-]{0,12}$/),
    );
    fc.assert(
      fc.property(texts, (text) => {
        for (const whole of [text, `[${text}]`, `[${pad},${text}]`, `[${text},${pad}]`, `{"a":${pad},"b":${text}}`]) {
          assert.deepEqual(run(readJson(whole)).result, parseJson(whole), whole.slice(0, 100));
        }
      }),
      { numRuns: 300 },
    );
  });
});
