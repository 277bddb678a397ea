/** Which lines of a child are parsed when it sends too many. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createNoticeBudget } from "./notice-budget.ts";

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
