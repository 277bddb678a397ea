/** Large JSON in pieces: the same results as in one piece, and no piece is much larger than its limit. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { depthOf, isJsonObject, mapTexts, parseJson } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";
import { MOST_KEYS, PIECE_CHARS, findExcess, mapLargeTexts, writeJson } from "./large-json.ts";
import { readJson } from "./read-json.ts";

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
      const same = run(mapLargeTexts(value, (one) => one));
      assert.equal(same.result, value, "the same value if nothing changes");
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
  it("reads strings, arrays and objects that are longer than a piece, in all places", () => {
    const long = fc.constantFrom(
      "\\u00e9\\n\\\\".repeat(PIECE_CHARS / 8),
      `${"x".repeat(PIECE_CHARS - 3)}\\ud83d\\ude00\\"`,
      `\\u0020${"\\\\".repeat(PIECE_CHARS)}`,
    );
    const part = fc.oneof(
      long.map((text) => `"${text}"`),
      fc.constantFrom(
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        '"a"',
        '"__proto__"',
        "1",
        " ",
        "\u00a0",
        `[${"1,".repeat(40_000)}2]`,
      ),
    );
    const text = fc.array(part, { minLength: 1, maxLength: 9 }).map((parts) => parts.join(""));
    const valid = fc
      .letrec((tie) => ({
        value: fc.oneof(
          { depthSize: "small" },
          long.map((one) => `"${one}"`),
          fc.constantFrom("1", '"a"', "[]", "{}", ` [ ${"[1],".repeat(20_000)}2 ] `),
          fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(" , ")}]`),
          fc
            .array(tie("value"), { maxLength: 3 })
            .map((items) => `{${items.map((item, at) => `"${at % 2}" : ${String(item)}`).join(",")}}`),
        ),
      }))
      .value.map(String);
    fc.assert(
      fc.property(fc.oneof(text, valid), (whole) => {
        assert.deepEqual(run(readJson(whole)).result, parseJson(whole), whole.slice(0, 100));
      }),
      { numRuns: 300 },
    );
  });
  it("leaves out what is nested deeper than any limit allows, and keeps the value too deep", () => {
    const deep = `{"id":7,"deep":${"[".repeat(200_000)}${"]".repeat(200_000)},"after":"}]"}`;
    const { result } = run(readJson(deep));
    assert.ok(isJsonObject(result));
    assert.deepEqual([result["id"], result["after"]], [7, "}]"]);
    assert.equal(run(findExcess(result, 512)).result?.of, "depth");
    assert.ok(depthOf(result, 2_000) < 1_100);
  });
  it("leaves out the fields of an object beyond the most keys and one more", () => {
    const fields = (count: number): string =>
      `{${Array.from({ length: count }, (_, at) => `"key ${at}":1`).join(",")},"key 0":2}`;
    const read = (count: number): Json => run(readJson(`[${fields(count)},7]`)).result ?? null;
    const keys = (value: Json): number => Object.keys(Array.isArray(value) ? value[0] : {}).length;
    assert.deepEqual(read(MOST_KEYS), parseJson(`[${fields(MOST_KEYS)},7]`));
    assert.equal(keys(read(MOST_KEYS + 1)), MOST_KEYS + 1);
    assert.equal(keys(read(MOST_KEYS + 5_000)), MOST_KEYS + 1);
    const found = [MOST_KEYS - 1, MOST_KEYS, MOST_KEYS + 1].map((count) => run(findExcess(read(count), 64)).result?.of);
    assert.deepEqual(found, [undefined, undefined, "keys"]);
  });
  it("finds a value that nests deeper than its limit, in pieces if it is large", () => {
    const nest = (levels: number): Json => Array.from({ length: levels - 1 }).reduce<Json>((value) => [value], []);
    for (const value of [nest(64), { a: [nest(62)] }, "text", null])
      assert.equal(run(findExcess(value, 64)).result, undefined);
    for (const value of [nest(65), { a: [nest(63)] }, [1, nest(64)], nest(100_000)])
      assert.deepEqual(run(findExcess(value, 64)).result, { of: "depth", most: 64 });
    assert.ok(run(findExcess(rows(50_000), 64)).pieces > 10);
  });
});

/** Processor time of this thread. */
function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** The longest piece, by the processor time of this thread. */
function longestMs(work: Generator<undefined, unknown>): number {
  let longest = 0;
  let next: IteratorResult<undefined, unknown>;
  do {
    const before = process.threadCpuUsage();
    next = work.next();
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
  } while (next.done !== true);
  return longest;
}

describe("the pieces of the largest values", () => {
  const BYTES = 4 * 1024 * 1024;
  const repeat = (text: string): string => `[${text}${`,${text}`.repeat(BYTES / (text.length + 1))}]`;
  const VALUES: Readonly<Record<string, string>> = {
    rows: repeat('{"id":12345,"name":"name","tags":["a","b"],"nested":{"x":1,"y":null}}'),
    numbers: repeat("1"),
    arrays: repeat("[]"),
    escapes: `"${'\\"'.repeat(BYTES / 2)}"`,
  };
  for (const [name, text] of Object.entries(VALUES)) {
    it(`reads, checks, maps and writes ${name} of four megabytes in pieces that take far less than the whole`, () => {
      const value = parseJson(text) ?? null;
      const whole = cpuMs(() => JSON.parse(text)) + cpuMs(() => JSON.stringify(value));
      const works = [
        () => longestMs(readJson(text)),
        () => longestMs(findExcess(value, 64)),
        () => longestMs(mapLargeTexts(value, String)),
        () => longestMs(writeJson(value)),
      ];
      // The best of several: a collection of garbage can fall into any piece.
      const longest = works.map((measure) => Math.min(...Array.from({ length: 5 }, measure)));
      for (const ms of longest) assert.ok(ms < whole / 2, `${longest.join(" ")} of ${whole}`);
    });
  }
});
