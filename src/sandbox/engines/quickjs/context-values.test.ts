/** Positions of the author: lines as they are, columns of the first line without the wrapper's head. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { HEAD, withAuthorStack } from "./context-values.ts";

const stackOf = (stack: string): string =>
  withAuthorStack({ kind: "thrown", name: "TypeError", message: "wrong", stack }).stack;

test("the head has no line of its own", () => assert.equal(HEAD.includes("\n"), false));

test("columns of the first line lose the head and count from 1, others stay", () => {
  const stack = `    at f (program.ts:1:${HEAD.length + 4})\n    at <anonymous> (program.ts:2:40)\n    at program.ts:11:30\n`;
  assert.equal(
    stackOf(stack),
    "TypeError: wrong\n    at f (program.ts:1:5)\n    at <anonymous> (program.ts:2:40)\n    at program.ts:11:30\n",
  );
});

test("a position inside the head is the beginning", () => {
  assert.equal(stackOf("    at program.ts:1:3\n"), "TypeError: wrong\n    at program.ts:1:1\n");
});

test("another file keeps its columns", () => {
  assert.equal(stackOf("    at start (guest.js:1:90)\n"), "TypeError: wrong\n    at start (guest.js:1:90)\n");
});

test("a stack that has its head line already, or is empty, gets none", () => {
  assert.equal(stackOf("ToolError: no\n    at program.ts:2:1\n"), "ToolError: no\n    at program.ts:2:1\n");
  assert.equal(stackOf(""), "");
});
