/** What reaches a terminal: nothing in it is obeyed, and JSON still parses to what it was. */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";

import { printJson, printLine } from "./print.ts";

const HOSTILE = 'a\u001b[31mb\u009b2J\u007fc\u202ed\u200be\u{e0041}f"é🧤';

function printed(print: (stream: PassThrough) => void): string {
  const stream = new PassThrough();
  print(stream);
  return String(stream.read());
}

test("printed JSON escapes terminal controls and invisible characters and parses to the same value", () => {
  const text = printed((stream) => printJson(stream, { [HOSTILE]: HOSTILE }));
  assert.match(text, /^[ -~é🧤]+\n$/u);
  assert.deepEqual(JSON.parse(text), { [HOSTILE]: HOSTILE });
});

test("a printed line has no terminal controls or invisible characters", () => {
  assert.equal(
    printed((stream) => printLine(stream, HOSTILE)),
    'abcdef"é🧤\n',
  );
});
