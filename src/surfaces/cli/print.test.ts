/** What reaches a terminal: nothing in it is obeyed, and JSON still parses to what it was. */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";

import { printJson, printLine, printPlan } from "./print.ts";

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

test("a finding that the error repeats is printed once, and other findings are printed", () => {
  const finding = { rule: "types", severity: "error", message: "a.b: wrong", line: 1, column: 5 } as const;
  const error = { code: "PROGRAM_TYPES", message: "a.b: wrong", retry: false, line: 1, column: 5 } as const;
  const findings = [finding, { ...finding, line: 2 }];
  const text = printed((stream) => printPlan({ ok: false, findings, error }, new PassThrough(), stream));
  assert.deepEqual(text.split("\n"), [
    "error: a.b: wrong (types, line 2, column 5)",
    "error: a.b: wrong (line 1, column 5) [PROGRAM_TYPES]",
    "",
  ]);
});
