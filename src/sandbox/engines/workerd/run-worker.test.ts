/** Errors of a Worker that did not start, and the positions in all others. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { HEAD } from "./dynamic-worker.ts";
import { describeLoadFailure, splitFrames, withAuthorStack } from "./run-worker.ts";

test("workerd reports a program that does not compile as a syntax error with its position", () => {
  const column = HEAD.length + 7;
  const text = `Failed to start Worker:\nUncaught SyntaxError: Unexpected token '='\n  at program.ts:1:${column}`;
  assert.deepEqual(withAuthorStack(describeLoadFailure(new Error(text))), {
    kind: "syntax",
    name: "SyntaxError",
    message: "Unexpected token '='",
    stack: "SyntaxError: Unexpected token '='\n    at program.ts:1:7",
  });
});

test("workerd rethrows every other reason why a Worker does not start", () => {
  const fault = new Error("Failed to start Worker:\nUncaught ReferenceError: x is not defined");
  assert.throws(() => describeLoadFailure(fault), fault);
});

test("splitFrames splits messages by their length, whatever they contain", () => {
  assert.deepEqual(splitFrames("19 0 5\n1 2 321 0 0\n17 1 3\na\nb"), [
    { kind: 19, id: 0, text: "1 2 3" },
    { kind: 21, id: 0, text: "" },
    { kind: 17, id: 1, text: "a\nb" },
  ]);
  assert.deepEqual(splitFrames(""), []);
});
