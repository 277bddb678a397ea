/** Figures of skills from records of their calls, and when one is listed for retirement. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DAY_MS } from "../../timing/index.ts";
import { measureUsage } from "./measure-usage.ts";

const SKILL = { name: "one", address: "skills.one", approvedAt: 0, programChars: 400 };

function ended(outcome: string, { at = 1, ms = 10, subject = "skills.one" } = {}) {
  return { subject, at, detail: JSON.stringify({ outcome, ms }) };
}

const measure = (records: readonly ReturnType<typeof ended>[], now = 2) => measureUsage([SKILL], records, now)[0];

describe("usage of a skill", () => {
  it("counts its calls, successes, median time, last use and saved tokens, and nothing of others", () => {
    const records = [
      ended("ok", { at: 5, ms: 30 }),
      ended("ok", { at: 3, ms: 10 }),
      ended("ok", { at: 4, ms: 20 }),
      ended("error", { at: 9, ms: 500 }),
      ended("denied", { at: 99 }),
      { subject: "skills.one", at: 99, detail: '{"outcome":"error","code":"TOOL_ARGUMENTS_INVALID"}' },
      ended("ok", { at: 99, subject: "skills.other" }),
      { subject: "skills.one", at: 99, detail: "damaged" },
      { subject: "skills.one", at: 99, detail: '{"outcome":"ok","dryRun":true}' },
    ];
    assert.deepEqual(measure(records), {
      name: "one",
      address: "skills.one",
      approvedAt: 0,
      calls: 4,
      succeeded: 3,
      medianMs: 20,
      lastUsedAt: 9,
      savedTokens: 300,
    });
    assert.deepEqual(measure([])?.calls, 0);
  });
  it("lists it as unused from 30 days after its last call or its approval", () => {
    assert.equal(measure([], 30 * DAY_MS - 1)?.retire, undefined);
    assert.equal(measure([], 30 * DAY_MS)?.retire, "unused");
    assert.equal(measure([ended("ok", { at: DAY_MS })], 30 * DAY_MS)?.retire, undefined);
    assert.equal(measure([ended("ok", { at: DAY_MS })], 31 * DAY_MS)?.retire, "unused");
  });
  it("lists it as failing if more than half of at least five calls failed", () => {
    const calls = (failed: number, ok: number) => [
      ...Array.from({ length: failed }, () => ended("error")),
      ...Array.from({ length: ok }, () => ended("ok")),
    ];
    assert.equal(measure(calls(4, 0))?.retire, undefined);
    assert.equal(measure(calls(5, 0))?.retire, "failing");
    assert.equal(measure(calls(3, 3))?.retire, undefined);
    assert.equal(measure(calls(4, 3))?.retire, "failing");
  });
});
