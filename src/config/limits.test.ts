/** Every bounded setting, just below, at and just above its bounds. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULT_LIMITS } from "../domain/index.ts";
import { parseSettings } from "./index.ts";

const MIB = 1024 * 1024;
const BOUNDS: readonly (readonly [path: string, least: number, most: number])[] = [
  ["sandbox.limits.wallMs", 1, 3_600_000],
  ["sandbox.limits.cpuMs", 1, 3_600_000],
  ["sandbox.limits.hostMs", 1, 3_600_000],
  ["sandbox.limits.memoryBytes", 8 * MIB, 4096 * MIB],
  ["sandbox.limits.calls", 1, 100_000],
  ["sandbox.limits.concurrentCalls", 1, 1000],
  ["sandbox.limits.callMs", 1, 3_600_000],
  ["sandbox.limits.sourceBytes", 1, MIB],
  ["sandbox.limits.outputBytes", 1, 64 * MIB],
  ["sandbox.limits.argumentBytes", 1, 64 * MIB],
  ["sandbox.limits.resultBytes", 1, 64 * MIB],
  ["sandbox.limits.depth", 1, 512],
  ["sandbox.concurrency", 1, 256],
  ["sandbox.queue", 0, 10_000],
  ["results.keepMs", 1, 2_592_000_000],
  ["results.totalBytes", 1, 65_536 * MIB],
  ["approvals.expiryMs", 1, 31_536_000_000],
  ["approvals.evidenceMs", 0, 10_000],
  ["approvals.evidenceRounds", 0, 20],
  ["approvals.graceMs", 0, 3_600_000],
  ["journal.keepMs", 0, 31_536_000_000],
  ["journal.totalBytes", 1, 65_536 * MIB],
  ["journal.executionBytes", 1, 4_096 * MIB],
  ["server.port", 0, 65_535],
];

function nest(path: string, value: unknown): unknown {
  return path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

function read(path: string, settings: unknown): unknown {
  return path.split(".").reduce<unknown>((value, key) => Object(value)[key], settings);
}

function parseAt(path: string, value: unknown): unknown {
  return read(path, parseSettings(nest(path, value), { folder: "/" }, {}));
}

test("the table of bounded settings contains every limit", () => {
  const tested = BOUNDS.map(([path]) => path.replace("sandbox.limits.", "")).filter((name) => name in DEFAULT_LIMITS);
  assert.deepEqual(tested.toSorted(), Object.keys(DEFAULT_LIMITS).toSorted());
});

for (const [path, least, most] of BOUNDS) {
  test(`${path} is an integer from ${least} to ${most}`, () => {
    for (const value of [least, least + 1, most - 1, most]) assert.equal(parseAt(path, value), value);
    for (const value of [least - 1, most + 1, least + 0.5, Number.NaN, Infinity, String(least), null, true]) {
      assert.throws(() => parseAt(path, value), {
        code: "CONFIG_INVALID",
        message: new RegExp(`^configuration ${path}: expected an integer from ${least} to ${most}; found `),
      });
    }
  });
}

function parseStartup(startupTimeoutMs: number): number[] {
  const { upstreams } = parseSettings({ mcpServers: { a: { command: "a", startupTimeoutMs } } }, { folder: "/" }, {});
  return [...upstreams.values()].map((upstream) => upstream.startMs);
}

test("startupTimeoutMs is bounded", () => {
  for (const value of [1, 2, 599_999, 600_000]) assert.deepEqual(parseStartup(value), [value]);
  for (const value of [0, 600_001]) assert.throws(() => parseStartup(value), { code: "CONFIG_INVALID" });
});

function countRules(rule: object, count = 1): number {
  const rules = Array.from({ length: count }, () => ({ decision: "deny", ...rule }));
  return parseSettings({ policy: { rules } }, { folder: "/" }, {}).policy.rules.length;
}

test("strings and arrays of rules are bounded", () => {
  for (const length of [1, 63, 64]) assert.equal(countRules({ id: "x".repeat(length) }), 1);
  for (const length of [1, 499, 500]) assert.equal(countRules({ reason: "x".repeat(length) }), 1);
  for (const count of [999, 1000]) assert.equal(countRules({}, count), count);
  for (const length of [0, 65]) {
    assert.throws(() => countRules({ id: "x".repeat(length) }), /expected a string of 1 to 64 characters/);
  }
  for (const length of [0, 501]) {
    assert.throws(() => countRules({ reason: "x".repeat(length) }), /expected a string of 1 to 500 characters/);
  }
  assert.throws(() => countRules({}, 1001), /policy\.rules: expected an array of 1000 or fewer entries/);
});
