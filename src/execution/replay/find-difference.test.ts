/** What counts as the same when an execution is shown again, and what does not. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { EXECUTION } from "../../../test/fixtures/bridge/test-bridge.ts";
import type { ExecutionResult, PublicError } from "../../domain/index.ts";
import { emptyResult } from "../settle.ts";

import { findDifference } from "./find-difference.ts";

const CALL = { seq: 1, tool: "files.read", effect: "read", decision: "allow", outcome: "ok", ms: 1 } as const;
const THROWN: PublicError = { code: "PROGRAM_THREW", message: "no", retry: false, line: 1, column: 2, frame: "^" };

function resultOf(changes: Partial<ExecutionResult>): ExecutionResult {
  return { ...emptyResult({ id: EXECUTION }, "completed", { engine: "isolate", isolation: "process" }), ...changes };
}

const compare = (first: Partial<ExecutionResult>, again: Partial<ExecutionResult>): string | undefined =>
  findDifference(resultOf(first), resultOf(again));

test("findDifference ignores times", () => {
  const first = { value: { a: 1 }, calls: [CALL], logs: [{ level: "log", text: "x", atMs: 1 }] } as const;
  const again = { value: { a: 1 }, calls: [{ ...CALL, ms: 9 }], logs: [{ level: "log", text: "x", atMs: 9 }] } as const;
  assert.equal(compare(first, again), undefined);
});

test("findDifference compares values byte by byte, with the order of keys", () => {
  const said = compare({ value: { a: 1, b: 2 } }, { value: { b: 2, a: 1 } });
  assert.equal(said, 'The value was {"a":1,"b":2} and is {"b":2,"a":1}');
});

test("findDifference reports a call that is missing or has another outcome", () => {
  assert.equal(compare({ calls: [CALL] }, {}), 'The list of calls was ["1 files.read ok"] and is []');
  const again = { calls: [{ ...CALL, outcome: "unknown" }] } as const;
  assert.match(compare({ calls: [CALL] }, again) ?? "", /and is \["1 files.read unknown"\]$/);
});

test("findDifference compares a suspended execution whole and a cancelled one as far as it got", () => {
  assert.equal(compare({ state: "paused", calls: [CALL] }, { state: "paused", calls: [CALL] }), undefined);
  assert.equal(compare({ state: "paused" }, {}), 'The state was "paused" and is "completed"');
  const error: PublicError = { code: "LIMIT_TIME", message: "too long", retry: false };
  assert.equal(compare({ state: "failed", error }, { state: "paused", calls: [CALL] }), undefined);
});

test("findDifference compares the column of an error on one engine, and line and message across engines", () => {
  const first = { state: "failed", error: THROWN } as const;
  const moved = { state: "failed", error: { ...THROWN, column: 9, frame: " ^" } } as const;
  assert.match(compare(first, moved) ?? "", /^The error was /);
  assert.equal(compare(first, { ...moved, engine: "quickjs" }), undefined);
  for (const change of [{ line: 2 }, { message: "yes" }])
    assert.match(
      compare(first, { ...first, engine: "quickjs", error: { ...THROWN, ...change } }) ?? "",
      /^The error was /,
    );
});
