/** The default limits. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS } from "./limits.ts";

describe("the default limits", () => {
  it("has the default limits of the contract", () => {
    assert.deepEqual(DEFAULT_LIMITS, {
      wallMs: 30_000,
      cpuMs: 10_000,
      hostMs: 2_000,
      memoryBytes: 134_217_728,
      calls: 100,
      concurrentCalls: 16,
      callMs: 30_000,
      sourceBytes: 262_144,
      outputBytes: 1_048_576,
      argumentBytes: 1_048_576,
      resultBytes: 10_485_760,
      depth: 64,
    });
  });
  it("freezes the default limits", () => {
    assert.throws(() => Object.assign(DEFAULT_LIMITS, { calls: 1 }), TypeError);
    assert.equal(DEFAULT_LIMITS.calls, 100);
  });
});
