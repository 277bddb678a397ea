/** Valid JSON paths and their steps, and invalid ones. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { parseJsonPath } from "./json-path.ts";

const key = (name: string) => ({ kind: "key", key: name });
const index = (at: number) => ({ kind: "index", index: at });
const each = { kind: "each" };

it("parses keys, indexes, wildcards and quoted keys of a JSON path", () => {
  const paths = {
    $: [],
    amount: [key("amount")],
    "$.amount": [key("amount")],
    "to[0].name": [key("to"), index(0), key("name")],
    "$[0][*]": [index(0), each],
    "items[*].price-list": [key("items"), each, key("price-list")],
    '["odd key"].b': [key("odd key"), key("b")],
    '$["a\\"b"]["__proto__"]': [key('a"b'), key("__proto__")],
    $ref: [key("$ref")],
  };
  for (const [text, steps] of Object.entries(paths)) assert.deepEqual(parseJsonPath(text), { text, steps });
});

it("refuses invalid JSON paths", () => {
  const wrong = [
    "",
    "$.",
    ".a",
    "a.",
    "a..b",
    "a.[0]",
    "a[",
    "a[-1]",
    "a[b]",
    "a[0]b",
    'a["b]',
    "a b",
    "$..a",
    "a[*",
    5,
  ];
  assert.deepEqual(
    wrong.filter((raw) => parseJsonPath(raw) !== undefined),
    [],
  );
});

it("accepts JSON paths of up to 32 steps and 500 characters", () => {
  assert.equal(parseJsonPath("a[0]".repeat(1) + "[0]".repeat(30))?.steps.length, 32);
  assert.equal(parseJsonPath("a[0]" + "[0]".repeat(31)), undefined);
  assert.ok(parseJsonPath("a".repeat(500)));
  assert.equal(parseJsonPath("a".repeat(501)), undefined);
});
