/** The pattern language: what matches, what is not a pattern, and that it agrees with a regular expression. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { pattern } from "./fixtures/decision-case.ts";
import { matchPattern } from "./match-pattern.ts";
import { parseTextPattern } from "../../config/schema/values/text-pattern.ts";

const fitting = (text: string, texts: readonly string[]): readonly string[] =>
  texts.filter((one) => matchPattern(pattern(text), one));

describe("matchPattern", () => {
  it("matches the whole string only", () => {
    assert.deepEqual(fitting("eu", ["eu", "eu2", "2eu", "EU", ""]), ["eu"]);
  });
  it("matches any run of characters with a star, including an empty one", () => {
    assert.deepEqual(fitting("*@us.example", ["a@us.example", "@us.example", "a@us.example.evil", "a\n@us.example"]), [
      "a@us.example",
      "@us.example",
      "a\n@us.example",
    ]);
    assert.deepEqual(fitting("a*b*c", ["abc", "a-b-c", "abcb", "acb", "ac"]), ["abc", "a-b-c"]);
    assert.deepEqual(fitting("*", ["", "anything"]), ["", "anything"]);
    assert.deepEqual(fitting("a*a", ["a", "aa", "aba"]), ["aa", "aba"]);
  });
  it("matches one character with a question mark, including one of two code units", () => {
    assert.deepEqual(fitting("?", ["", "a", "🧤", "ab"]), ["a", "🧤"]);
  });
  it("supports sets and negated sets", () => {
    assert.deepEqual(fitting("v[0-9a-c]", ["v1", "vb", "vd", "v"]), ["v1", "vb"]);
    assert.deepEqual(fitting("[!/]*", ["/x", "x/", ""]), ["x/"]);
    assert.deepEqual(fitting("[\\]a-]", ["]", "a", "-", "b"]), ["]", "a", "-"]);
  });
  it("matches a character after a backslash literally", () => {
    assert.deepEqual(fitting("\\*\\?\\[\\\\", ["*?[\\", "a?[\\"]), ["*?[\\"]);
  });
});

it("parseTextPattern refuses an empty string, an open set, an open escape and more than 200 characters", () => {
  const wrong = ["", "[", "[a", "[]", "[!]", "\\", "[b-a]", "x".repeat(201), 5, null];
  assert.deepEqual(
    wrong.filter((raw) => parseTextPattern(raw) !== undefined),
    [],
  );
  assert.ok(parseTextPattern("x".repeat(200)));
});

it("matchPattern agrees with a regular expression on small alphabets", () => {
  const parts = fc.constantFrom("a", "b", "*", "?", "[ab]", "[!a]");
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
  fc.assert(
    fc.property(fc.array(parts, { minLength: 1, maxLength: 6 }), texts, (pieces, text) => {
      const words: Readonly<Record<string, string>> = { "*": ".*", "?": ".", "[!a]": "[^a]" };
      const expected = new RegExp(`^${pieces.map((piece) => words[piece] ?? piece).join("")}$`, "s").test(text);
      const made = pattern(pieces.join(""));
      assert.equal(matchPattern(made, text), expected);
      assert.equal(matchPattern({ ...made, plain: null }, text), expected);
    }),
  );
});

it("matchPattern stays within the product of both lengths where other engines backtrack", () => {
  let reads = 0;
  const text = "a".repeat(16_000);
  const counted = pattern("a*a*a*a*a*a*a*a*a*a*b");
  const pieces = counted.pieces.map((piece) =>
    piece.map((part) => ({
      ...part,
      get kind() {
        reads += 1;
        return part.kind;
      },
    })),
  );
  assert.equal(matchPattern({ ...counted, plain: null, pieces: pieces as typeof counted.pieces }, text), false);
  assert.ok(reads <= 16_000 * 21, String(reads));
});
