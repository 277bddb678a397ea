/** The reasons why a replay may differ on another engine: each applies only to its own case. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { EXECUTION } from "../fixtures/bridge/test-bridge.ts";
import type { EngineName, ErrorCode, ExecutionResult } from "../../src/domain/index.ts";
import { findDifference } from "../../src/execution/replay/find-difference.ts";
import { emptyResult } from "../../src/execution/settle.ts";
import { REASONS, explain } from "./difference-reasons.ts";
import type { Reason } from "./difference-reasons.ts";

type Outcome = readonly [code: ErrorCode | undefined, message: string, ...lines: readonly string[]];

function resultOf(engine: EngineName, [code, message, ...lines]: Outcome): ExecutionResult {
  const empty = emptyResult({ id: EXECUTION }, code ? "failed" : "completed", { engine, isolation: "process" });
  const logs = lines.map((text) => ({ level: "log", text, atMs: 0 }) as const);
  return { ...empty, logs, ...(code ? { error: { code, message, retry: false } } : { value: message }) };
}

/** For results that were recorded on `isolate`. */
function reasonOn(engine: EngineName, before: Outcome, now: Outcome): Reason | undefined {
  const [first, again] = [resultOf("isolate", before), resultOf(engine, now)];
  const difference = findDifference(first, again);
  assert.ok(difference);
  return explain({ first, again, difference, engine });
}

test("an engine's own error message explains a difference between engines, but an error of the program does not", () => {
  const [one, other] = ["TypeError: Cannot read properties of null", "TypeError: cannot read property 'b' of null"];
  const before: Outcome = ["PROGRAM_THREW", one];
  assert.equal(reasonOn("quickjs", before, ["PROGRAM_THREW", other]), REASONS.engineWords);
  assert.equal(reasonOn("isolate", before, ["PROGRAM_THREW", other]), undefined);
  assert.equal(reasonOn("quickjs", ["PROGRAM_THREW", "Error: a"], ["PROGRAM_THREW", "Error: b"]), undefined);
  assert.equal(reasonOn("quickjs", before, ["UPSTREAM_FAILED", other]), undefined);
  assert.equal(reasonOn("quickjs", before, [undefined, "well"]), undefined);
});

test("too little time or memory on another engine explains missing output, but not different output", () => {
  for (const code of ["LIMIT_TIME", "LIMIT_MEMORY"] as const) {
    assert.equal(reasonOn("quickjs", [undefined, "1"], [code, "too much"]), REASONS.slower);
    assert.equal(reasonOn("quickjs", [undefined, "1", "a"], [code, "too much"]), REASONS.slower);
    assert.equal(reasonOn("quickjs", [undefined, "1", "a"], [code, "too much", "b"]), undefined);
    assert.equal(reasonOn("isolate", [undefined, "1"], [code, "too much"]), undefined);
  }
  assert.equal(reasonOn("quickjs", [undefined, "1"], ["LIMIT_CALLS", "too many"]), undefined);
});

test("lines before a cut-off may be missing on workerd only, and only while the program computes", () => {
  const before: Outcome = ["REQUEST_CANCELLED", "cancelled", "begun"];
  assert.equal(reasonOn("workerd", before, ["LIMIT_TIME", "too long"]), REASONS.lateLines);
  assert.equal(reasonOn("quickjs", before, ["LIMIT_TIME", "too long"]), undefined);
  assert.equal(reasonOn("workerd", before, [undefined, "well"]), undefined);
  assert.equal(reasonOn("workerd", before, ["LIMIT_TIME", "too long", "other"]), undefined);
});
