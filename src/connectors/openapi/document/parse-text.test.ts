/** Documents that are made to cost more than their size, and honest ones beside them. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { GloveboxError } from "../../../domain/index.ts";
import { MAX_DOCUMENT_DEPTH, MAX_DOCUMENT_VALUES, MAX_YAML_CHARACTERS, parseText } from "./parse-text.ts";

function refuses(text: string, why: string): void {
  assert.throws(
    () => parseText(text),
    (thrown) =>
      thrown instanceof GloveboxError &&
      thrown.code === "UPSTREAM_RESULT_INVALID" &&
      thrown.message === `The OpenAPI document cannot be used: ${why}`,
    why,
  );
}

test("JSON and YAML give the same object", () => {
  const expected = { openapi: "3.1.0", paths: { "/a": { get: {} } }, list: [1, null, true] };
  assert.deepEqual(parseText(JSON.stringify(expected)), expected);
  assert.deepEqual(
    parseText('openapi: "3.1.0"\npaths: { /a: { get: {} } }\nlist:\n  - 1\n  - ~\n  - true\n'),
    expected,
  );
  assert.deepEqual(parseText('{ openapi: "3.1.0", paths: {/a: {get: {}}}, list: [1, null, true], }'), expected);
});

test("aliases and merge keys work, and words of YAML 1.1 stay strings", () => {
  assert.deepEqual(parseText("a: &x { k: 1 }\nb: *x\nc: { <<: *x, l: yes }\nd: 2024-01-01\n"), {
    a: { k: 1 },
    b: { k: 1 },
    c: { k: 1, l: "yes" },
    d: "2024-01-01",
  });
});

test("multiplying aliases are refused, by their number and by their total", () => {
  const level = (depth: number): string =>
    `a${depth}: &a${depth} [${Array(9)
      .fill(`*a${depth - 1}`)
      .join(", ")}]\n`;
  const laughs = `a0: &a0 [x, x, x]\n${Array.from({ length: 9 }, (_, index) => level(index + 1)).join("")}`;
  refuses(laughs, "it has too many aliases, or an undefined one");
  const wide = `a: &a [${Array(9000).fill(1).join(", ")}]\nb: [${Array(900).fill("*a").join(", ")}]\n`;
  refuses(wide, `it has more than ${MAX_DOCUMENT_VALUES} values`);
  const allowed = `a: &a [1, 2]\nb: [${Array(900).fill("*a").join(", ")}]\n`;
  assert.equal(Object(parseText(allowed)["b"]).length, 900);
});

test("an alias of itself is refused", () => {
  refuses("a: &a { b: *a }\n", `it nests deeper than ${MAX_DOCUMENT_DEPTH} levels`);
  refuses("a: *nowhere\n", "it has too many aliases, or an undefined one");
});

test("tags of other languages are refused and those of YAML's core are accepted", () => {
  refuses("a: 1\nb: !!js/function 'x'\n", "it uses a tag outside of YAML's core schema in line 2");
  refuses("a: !custom 1\n", "it uses a tag outside of YAML's core schema in line 1");
  assert.deepEqual(parseText("a: !!str 1\n"), { a: "1" });
});

test("nesting is accepted up to the limit and refused one level deeper", () => {
  const json = (depth: number): string => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  assert.ok(parseText(json(MAX_DOCUMENT_DEPTH)));
  refuses(json(MAX_DOCUMENT_DEPTH + 1), `it nests deeper than ${MAX_DOCUMENT_DEPTH} levels`);
  assert.throws(() => parseText(`a: ${"[".repeat(50_000)}`), { code: "UPSTREAM_RESULT_INVALID" });
  assert.throws(() => parseText(json(100_000)), { code: "UPSTREAM_RESULT_INVALID" });
});

test("anything but an object is refused without repeating its text", () => {
  refuses("[1]", "it is not an object");
  refuses("", "it is not an object");
  refuses("<!doctype html><p>token: abc: def</p>", "it is neither JSON nor YAML (BLOCK_AS_IMPLICIT_KEY in line 1)");
  refuses(
    "x".repeat(MAX_YAML_CHARACTERS + 1),
    `it is YAML of more than ${MAX_YAML_CHARACTERS} characters; convert it to JSON`,
  );
});

test("a key called __proto__ is an ordinary key", () => {
  const value = parseText('__proto__: { polluted: true }\na: { "__proto__": 1 }\n');
  assert.deepEqual(Object.keys(value), ["__proto__", "a"]);
  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});
