/** Parsing JSON with comments: values, positions, and syntax errors. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createLocate, parseJsonc } from "./parse-jsonc.ts";

const PATH = "/c.json";

function parse(text: string): unknown {
  return parseJsonc(text, PATH);
}

test("parseJsonc accepts comments, trailing commas and a byte order mark", () => {
  const text = '\ufeff// one\n{ "a": [1, 2,], /* two */ "b": { "c": null, "d": true, }, "e": "x // y" }\n// three';
  assert.deepEqual(parse(text), { a: [1, 2], b: { c: null, d: true }, e: "x // y" });
});

test("parseJsonc refuses invalid JSON at its first error", () => {
  const cases: readonly (readonly [string, string])[] = [
    ['{\n  "a": 1\n  "b": 2\n}', "/c.json:3:3 is not valid JSON: comma expected"],
    ["{", "/c.json:1:2 is not valid JSON: close brace expected"],
    ['{ "a": }', "/c.json:1:8 is not valid JSON: value expected"],
    ["{ 'a': 1 }", "/c.json:1:3 is not valid JSON: invalid symbol"],
    ['{} "b"', "/c.json:1:4 is not valid JSON: end of file expected"],
    ["// nothing", "/c.json:1:11 is not valid JSON: value expected"],
    ["", "/c.json:1:1 the file is empty"],
    ["\ufeff \n", "/c.json:1:1 the file is empty"],
    ['{ "a": 1,\r\n  "a": 2 }', '/c.json:2:3 the key "a" is duplicated'],
    ['{ "x": { "__proto__": 1, "__proto__": 2 } }', '/c.json:1:26 the key "__proto__" is duplicated'],
  ];
  for (const [text, message] of cases) assert.throws(() => parse(text), { code: "CONFIG_INVALID", message }, text);
});

function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

test("parseJsonc accepts 32 levels and refuses deeper nesting before it recurses", () => {
  assert.ok(Array.isArray(parse(nested(31))));
  assert.ok(Array.isArray(parse(nested(32))));
  assert.throws(() => parse(nested(33)), { message: "/c.json:1:33 nested deeper than 32 levels" });
  assert.throws(() => parse("[".repeat(500_000)), { message: "/c.json:1:33 nested deeper than 32 levels" });
  assert.equal(createLocate("[".repeat(500_000))({ path: [], anchor: "value" }), undefined);
});

test("parseJsonc ignores brackets in strings and comments when it counts levels", () => {
  const brackets = "[".repeat(100);
  assert.deepEqual(parse(`{ "a": "${brackets}" /* ${brackets} */ }`), { a: brackets });
});

test("parseJsonc makes __proto__ an own key, not a prototype", () => {
  const value = parse('{ "__proto__": { "port": 1 }, "constructor": 2 }');
  assert.deepEqual(Object.keys(Object(value)), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

test("createLocate finds keys, values, and the parent of a missing key", () => {
  const locate = createLocate('{\r\n  "a": [\r    { "b": 1 }\n  ]\n}');
  const cases: readonly (readonly [readonly (string | number)[], "key" | "value", number, number])[] = [
    [[], "value", 1, 1],
    [["a"], "key", 2, 3],
    [["a"], "value", 2, 8],
    [["a", 0], "key", 3, 5],
    [["a", 0, "b"], "key", 3, 7],
    [["a", 0, "b"], "value", 3, 12],
    [["a", 0, "missing"], "value", 3, 5],
    [["a", 0, "missing"], "key", 3, 5],
    [["missing", "deep"], "key", 1, 1],
  ];
  for (const [path, anchor, line, column] of cases)
    assert.deepEqual(locate({ path, anchor }), { line, column }, path.join());
});
