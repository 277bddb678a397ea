/** Reading parts of a kept value: paths, pages and literal search, and that pages together are the whole. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import * as fc from "fast-check";

import { GloveboxError } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";
import { readInSlices, readPart } from "./read-part.ts";

const VALUE = { issues: [{ title: "One", "odd key": { x: [1, 2, 3] } }, { title: "two" }], note: "a\nneedle\nc\nd" };

function refusal(value: Json, path: string): readonly unknown[] {
  try {
    return [readPart(value, { path })];
  } catch (error) {
    assert.ok(error instanceof GloveboxError);
    return [error.code, error.message, error.details.hint];
  }
}

describe("a path", () => {
  it("follows a path into objects and arrays, with quoted names", () => {
    assert.deepEqual(readPart(VALUE, { path: "issues[0].title" }).value, "One");
    assert.deepEqual(readPart(VALUE, { path: 'issues[0]["odd key"].x[2]' }).value, 3);
    assert.deepEqual(readPart(VALUE, { path: "" }).value, VALUE);
  });
  it("describes what exists when a path does not", () => {
    assert.deepEqual(refusal(VALUE, "issues[0].name"), [
      "REQUEST_INVALID",
      'issues[0] does not contain "name"',
      "It has title, odd key",
    ]);
    assert.deepEqual(refusal(VALUE, "issues[2]"), [
      "REQUEST_INVALID",
      "issues does not contain 2",
      "It is an array of 2 items",
    ]);
    assert.deepEqual(refusal(VALUE, "note.length"), [
      "REQUEST_INVALID",
      'note does not contain "length"',
      "It is a string",
    ]);
  });
  it("finds own fields only, never inherited ones", () => {
    for (const name of ["constructor", "__proto__", "toString"]) {
      assert.equal(refusal(VALUE, name)[0], "REQUEST_INVALID");
    }
    assert.equal(readPart({ constructor: 1 }, { path: "constructor" }).value, 1);
  });
  it("refuses an invalid path and one above the longest length", () => {
    for (const path of ["a..b", "a[", "a[-1]", "a[b]", "*", 'a["x]']) {
      assert.match(String(refusal(VALUE, path)[1]), /^The path is invalid: it is malformed/);
    }
    assert.match(String(refusal(VALUE, "a".repeat(1_000))[1]), /^The result does not contain/);
    assert.match(String(refusal(VALUE, "a".repeat(1_001))[1]), /longer than 1000/);
  });
});

describe("a page", () => {
  it("pages array items, characters of a string and object entries, and refuses other values", () => {
    assert.deepEqual(readPart([1, 2, 3], { offset: 1, limit: 1 }), { value: [2], total: 3, next: 2 });
    assert.deepEqual(readPart([1, 2, 3], { offset: 1, limit: 2 }), { value: [2, 3], total: 3 });
    assert.deepEqual(readPart("abc", { offset: 2, limit: 5 }), { value: "c", total: 3 });
    assert.deepEqual(readPart([1], { offset: 9 }), { value: [], total: 1 });
    const object = { a: 1, b: 2, c: 3 };
    assert.deepEqual(readPart(object, { offset: 1, limit: 1 }), { value: { b: 2 }, total: 3, next: 2 });
    assert.deepEqual(readPart(object, {}), { value: object });
    for (const value of [7, true, null]) {
      assert.deepEqual(readPart(value, {}), { value });
      assert.throws(() => readPart(value, { limit: 1 }), { code: "REQUEST_INVALID" });
      assert.throws(() => readPart(value, { offset: 0 }), { code: "REQUEST_INVALID" });
    }
  });
  it("never splits a surrogate pair, and all pages together are the string", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 5 }), (text, limit) => {
        let read = "";
        for (let next: number | undefined = 0; next !== undefined;) {
          const part = readPart(text, { offset: next, limit });
          assert.ok(typeof part.value === "string" && part.value.isWellFormed());
          read += part.value;
          next = part.next;
        }
        assert.equal(read, text);
      }),
    );
  });
});

describe("a page of one unit", () => {
  const pageAt = (offset: number) => readPart("a🧤b", { offset, limit: 1 });
  it("returns a surrogate pair whole for a page of one unit, also from its middle", () => {
    assert.deepEqual(pageAt(0), { value: "a", total: 4, next: 1 });
    assert.deepEqual(pageAt(1), { value: "🧤", total: 4, next: 3 });
    assert.deepEqual(pageAt(2), { value: "🧤", total: 4, next: 3 });
    assert.deepEqual(pageAt(3), { value: "b", total: 4 });
    assert.deepEqual(readPart("🧤", { limit: 1 }), { value: "🧤", total: 2 });
    assert.deepEqual(readPart("\ud83e!", { limit: 1 }), { value: "\ufffd", total: 2, next: 1 });
  });
});

describe("a search", () => {
  it("grep finds lines with their context, without regard to case", () => {
    assert.deepEqual(readPart(VALUE, { path: "note", grep: "NEEDLE" }), {
      value: [{ line: 2, text: "needle", before: ["a"], after: ["c", "d"] }],
      total: 1,
    });
  });
  it("grep finds array items and object entries", () => {
    assert.deepEqual(readPart(VALUE, { path: "issues", grep: "two" }).value, [{ index: 1, item: { title: "two" } }]);
    assert.deepEqual(readPart(VALUE, { grep: "NOTE" }).value, [{ key: "note", value: VALUE.note }]);
  });
  it("grep is literal: a pattern matches only itself", () => {
    assert.deepEqual(readPart(["aaa", "(a+)+$"], { grep: "(a+)+$" }).value, [{ index: 1, item: "(a+)+$" }]);
  });
  it("grep finds every line as splitting the text would", () => {
    const lines = fc.array(fc.constantFrom("", "a", "b", "ab"), { minLength: 1 });
    fc.assert(
      fc.property(lines, (all) => {
        const expected = all.flatMap((text, at) =>
          text.includes("a")
            ? [{ line: at + 1, text, before: all.slice(Math.max(0, at - 2), at), after: all.slice(at + 1, at + 3) }]
            : [],
        );
        assert.deepEqual(readPart(all.join("\n"), { grep: "A" }).value, expected);
      }),
    );
  });
  it("grep finds a text in every place of a long line and of a large item", () => {
    for (const at of [0, 65_000, 65_530, 65_535, 65_536, 131_070, 200_000 - 6]) {
      const line = `${"x".repeat(at)}NEEDLE`.padEnd(200_000, "x");
      assert.equal(readPart(line, { grep: "needle" }).total, 1, String(at));
      assert.equal(readPart([{ deep: [line] }, "x"], { grep: "needle" }).total, 1, String(at));
      assert.equal(readPart(line, { grep: "needles" }).total, 0, String(at));
    }
  });
  it("grep pauses in a long value and not in a short one", () => {
    const countPauses = (value: Json): number => {
      const work = readInSlices(value, { grep: "x" });
      let pauses = 0;
      while (work.next().done !== true) pauses += 1;
      return pauses;
    };
    assert.equal(countPauses(["a".repeat(1_000)]), 0);
    assert.ok(countPauses(Array.from({ length: 1_000 }, () => "a".repeat(1_000))) >= 10);
    assert.ok(countPauses("a\n".repeat(100_000)) >= 10);
  });
  it("grep refuses more than 100,000 matches in one page, and counts them all in pages", () => {
    const items = (count: number): Json => Array.from({ length: count }, () => "a");
    for (const count of [99_999, 100_000]) assert.equal(readPart(items(count), { grep: "a" }).total, count);
    assert.throws(() => readPart(items(100_001), { grep: "a" }), {
      code: "LIMIT_SIZE",
      message: "grep found more than 100000 matches",
    });
    assert.deepEqual(readPart(items(100_001), { grep: "a", offset: 100_000, limit: 5 }), {
      value: [{ index: 100_000, item: "a" }],
      total: 100_001,
    });
  });
  it("grep results have pages, too", () => {
    assert.deepEqual(readPart(["a1", "b", "a2"], { grep: "a", offset: 1, limit: 1 }), {
      value: [{ index: 2, item: "a2" }],
      total: 2,
    });
  });
});
