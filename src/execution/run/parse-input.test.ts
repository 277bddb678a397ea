import assert from "node:assert/strict";
import { test } from "node:test";

import { AGENT } from "../../../test/fixtures/bridge/test-bridge.ts";
import { parseTextInput } from "./parse-input.ts";

const LIMITS = { depth: 3 };

/** The input that the program gets, and the rules of the findings. */
function taken(input: string, source = "return input.a", parsesInput = true): readonly unknown[] {
  const request = parseTextInput({ principal: AGENT, source, input, parsesInput }, LIMITS);
  assert.ok(!("parsesInput" in request));
  return [request.input, ...(request.notes ?? []).map(({ rule }) => rule)];
}

test("a string with a JSON object or array in it is parsed, with a finding", () => {
  assert.deepEqual(taken('{"a":1}'), [{ a: 1 }, "input"]);
  assert.deepEqual(taken(' [1, {"a":2}] '), [[1, { a: 2 }], "input"]);
});

test("any other string is passed as it is", () => {
  for (const text of ["", "{", "{a:1}", '"a"', "1", "null", "true", "text {}"]) assert.deepEqual(taken(text), [text]);
});

test("a string is passed as it is to a program that uses it as one, and by other surfaces", () => {
  assert.deepEqual(taken('{"a":1}', "return JSON.parse(input).a"), ['{"a":1}']);
  assert.deepEqual(taken('{"a":1}', "return input.a", false), ['{"a":1}']);
});

test("a string that nests deeper than programs may is passed as it is", () => {
  assert.deepEqual(taken("[[1]]"), [[[1]], "input"]);
  assert.deepEqual(taken("[[[1]]]"), [[[[1]]], "input"]);
  assert.deepEqual(taken("[[[[1]]]]"), ["[[[[1]]]]"]);
});
