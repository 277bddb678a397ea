/** Positions of the author: lines as they are, columns of the first line without the wrapper's head. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { HEAD, withAuthorStack } from "./context-values.ts";

const stackOf = (stack: string): string =>
  withAuthorStack({ kind: "thrown", name: "TypeError", message: "wrong", stack }).stack;

test("the head before a QuickJS program is not a separate line", () => assert.equal(HEAD.includes("\n"), false));

test("QuickJS stacks have the author's columns on the first line and keep the others", () => {
  const stack = `    at f (program.ts:1:${HEAD.length + 4})\n    at <anonymous> (program.ts:2:40)\n    at program.ts:11:30\n`;
  assert.equal(
    stackOf(stack),
    "TypeError: wrong\n    at f (program.ts:1:5)\n    at <anonymous> (program.ts:2:40)\n    at program.ts:11:30\n",
  );
});

test("QuickJS stacks show a position inside the head as the beginning", () => {
  assert.equal(stackOf("    at program.ts:1:3\n"), "TypeError: wrong\n    at program.ts:1:1\n");
});

test("QuickJS stacks keep the columns of other files", () => {
  assert.equal(stackOf("    at start (guest.js:1:90)\n"), "TypeError: wrong\n    at start (guest.js:1:90)\n");
});

test("QuickJS stacks get no second head line, and none if they are empty", () => {
  assert.equal(stackOf("ToolError: no\n    at program.ts:2:1\n"), "ToolError: no\n    at program.ts:2:1\n");
  assert.equal(stackOf(""), "");
});
