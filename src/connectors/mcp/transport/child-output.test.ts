/** Line splitting with its limit, the stderr tail, and the budget for notifications. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { createLineSplitter, createNoticeBudget, createStderrTail } from "./child-output.ts";

test("lines are whole wherever the bytes are cut", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.integer({ min: 1, max: 7 }), (texts, step) => {
      const lines = texts.map((text) => text.replaceAll("\n", ""));
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const splitter = createLineSplitter(10_000);
      const found: string[] = [];
      for (let at = 0; at < bytes.length; at += step) found.push(...splitter.push(bytes.subarray(at, at + step)));
      assert.deepEqual(found, lines);
      assert.equal(splitter.rest(), "");
    }),
  );
});

test("a line may be as long as the limit; a longer one ends the splitter", () => {
  for (const [length, overflows] of [
    [9, false],
    [10, false],
    [11, true],
  ] as const) {
    const splitter = createLineSplitter(10);
    assert.deepEqual(splitter.push(Buffer.from("ok\n")), ["ok"]);
    const lines = splitter.push(Buffer.from(`${"x".repeat(length)}\n`));
    assert.deepEqual([splitter.isOverflown(), lines.length], [overflows, overflows ? 0 : 1]);
  }
});

test("an endless line is detected without its newline, and nothing follows it", () => {
  const splitter = createLineSplitter(10);
  splitter.push(Buffer.from("123456"));
  assert.equal(splitter.rest(), "123456");
  assert.deepEqual(splitter.push(Buffer.from("789012")), []);
  assert.deepEqual([splitter.isOverflown(), splitter.rest(), splitter.push(Buffer.from("\nok\n"))], [true, "", []]);
});

test("the stderr tail keeps the last hundred lines, cleaned and cut, including an unfinished one", () => {
  const tail = createStderrTail((text) => text.replaceAll("\u001b", ""));
  for (let line = 0; line < 150; line += 1) tail.push(Buffer.from(`\u001bline ${line}\n\n`));
  tail.push(Buffer.from(`${"y".repeat(600)}\nand then`));
  const lines = tail.lines();
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [100, "line 52", "and then"]);
  assert.equal(lines.at(-2), "y".repeat(500));
});

test("the stderr tail survives an endless line", () => {
  const tail = createStderrTail((text) => text);
  for (let count = 0; count < 10; count += 1) tail.push(Buffer.alloc(50_000, "z"));
  tail.push(Buffer.from("\nrecovered\n"));
  assert.equal(tail.lines().at(-1), "recovered");
});

const PROGRESS = '{"jsonrpc":"2.0","method":"notifications/progress"}';
const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{}}';

function count(admit: (line: string) => boolean, line: string, times: number): number {
  return Array.from({ length: times }, () => admit(line)).filter(Boolean).length;
}

test("a hundred notifications per 100 ms are parsed, and answers always", () => {
  let time = 0;
  const admit = createNoticeBudget(() => time);
  assert.equal(count(admit, PROGRESS, 99), 99);
  assert.equal(count(admit, PROGRESS, 2), 1);
  assert.equal(count(admit, ANSWER, 1000), 1000);
  time = 99;
  assert.equal(count(admit, PROGRESS, 10), 0);
  time = 100;
  assert.equal(count(admit, PROGRESS, 101), 100);
});

test("a flood of notifications leaves a limited budget for changes of tools", () => {
  const admit = createNoticeBudget(() => 0);
  count(admit, PROGRESS, 1000);
  assert.equal(count(admit, CHANGED, 1000), 10);
});

test("a clock that is set back starts a new window", () => {
  let time = 1_000_000;
  const admit = createNoticeBudget(() => time);
  count(admit, PROGRESS, 1000);
  time = 5;
  assert.equal(count(admit, PROGRESS, 1000), 100);
});
