import assert from "node:assert/strict";
import { test } from "node:test";

import { createLineReader, parseCheckerReply, parseCheckerRequest } from "./wire.ts";

const MISTAKE = { kind: "missing-await", start: 3, name: "n", detail: "d", doubtful: true, tool: "a.b" } as const;
const FIX = { start: 1, end: 2, text: "await" };

test("parseCheckerReply reads a complete reply and drops invalid mistakes", () => {
  const mistakes = [{ ...MISTAKE, fix: FIX, more: 1 }, { ...MISTAKE, fix: { start: 1 } }, { kind: "other" }, 7];
  assert.deepEqual(parseCheckerReply(JSON.stringify({ id: 1, kind: "checked", mistakes })), {
    id: 1,
    kind: "checked",
    mistakes: [{ ...MISTAKE, fix: FIX }, MISTAKE],
  });
  assert.deepEqual(parseCheckerReply('{"id":2,"kind":"failed","x":1}'), { id: 2, kind: "failed" });
});

for (const line of ["", "{", "[]", "null", '{"id":"1","kind":"failed"}', '{"id":1,"kind":"checked"}', '{"id":1}']) {
  test(`parseCheckerReply returns undefined for ${JSON.stringify(line)}`, () =>
    assert.equal(parseCheckerReply(line), undefined));
}

test("createLineReader splits at line feeds only, wherever the chunks end", () => {
  const lines: string[] = [];
  const read = createLineReader((line) => lines.push(line));
  for (const chunk of ["a\u2028b", "\r\nc", "\n", "\nd"]) read(chunk);
  assert.deepEqual(lines, ["a\u2028b\r", "c", ""]);
});

test("parseCheckerRequest reads a request with and without declarations", () => {
  const request = { id: 1, api: "a", text: "t" };
  assert.deepEqual(parseCheckerRequest(JSON.stringify({ ...request, more: 1 })), request);
  const full = { ...request, declarations: "d" };
  assert.deepEqual(parseCheckerRequest(JSON.stringify(full)), full);
});

test("parseCheckerRequest throws for a line that is not a request", () => {
  for (const line of [
    "",
    "7",
    "{}",
    '{"id":"1","api":"a","text":"t"}',
    '{"id":1,"api":"a","text":"t","declarations":1}',
  ]) {
    assert.throws(() => parseCheckerRequest(line), TypeError);
  }
});
