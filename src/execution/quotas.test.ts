/** What an execution was granted bounds its time, and what it used is settled however it ends. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { DEFAULT_LIMITS, GloveboxError, parseExecutionId, parsePrincipalId } from "../domain/index.ts";
import type { ErrorCode, ExecutionResult, Limits } from "../domain/index.ts";
import { attributeToQuota, runWithinQuotas } from "./quotas.ts";

const id = parsePrincipalId("agent");
assert.ok(id);
const execution = parseExecutionId(`ex_${"0".repeat(24)}`);
assert.ok(execution);
const REQUEST = { execution, principal: { id, kind: "agent", groups: [] }, limits: DEFAULT_LIMITS } as const;

function setUp(grantedMs: number) {
  const settled: number[] = [];
  const admit = async () => ({ wallMs: grantedMs, release: async (usedMs: number) => void settled.push(usedMs) });
  return { settled, admit };
}

it("runWithinQuotas runs within the granted time and releases the rest", async () => {
  const { settled, admit } = setUp(50);
  const run = async (limits: Limits) => limits;
  const limits = await runWithinQuotas(REQUEST, admit, { run, wallMsOf: () => 7 });
  assert.deepEqual([limits, settled], [{ ...DEFAULT_LIMITS, wallMs: 50 }, [7]]);
});

it("runWithinQuotas passes the quota that shortened the time", async () => {
  const { admit } = setUp(50);
  const admitShort = async () => ({ ...(await admit()), shortenedBy: "quotas.executionMsPerHour" });
  const run = async (_limits: Limits, shortenedBy?: string) => shortenedBy;
  assert.equal(await runWithinQuotas(REQUEST, admitShort, { run, wallMsOf: () => 0 }), "quotas.executionMsPerHour");
  assert.equal(await runWithinQuotas(REQUEST, admit, { run, wallMsOf: () => 0 }), undefined);
});

it("attributeToQuota names the quota instead of the limit of the program", () => {
  const setting = "quotas.executionMsPerHour";
  const limits = { ...DEFAULT_LIMITS, wallMs: 50 };
  const stats = { queueMs: 0, wallMs: 50, cpuMs: 1, peakMemoryBytes: 1, calls: 0, outputBytes: 0 };
  const whole = { execution, state: "failed", logs: [], calls: [], findings: [], stats } as const;
  const ended = (code: ErrorCode, message: string): ExecutionResult => ({
    ...whole,
    engine: "isolate",
    isolation: "process",
    error: { code, message, retry: false },
  });
  const late = ended("LIMIT_TIME", "The program ran longer than its limit of 50 ms (wallMs)");
  assert.deepEqual(attributeToQuota(late, limits, setting), {
    ...late,
    error: {
      code: "LIMIT_QUOTA",
      message: "The program was ended after 50 ms because the quota quotas.executionMsPerHour is used up",
      retry: false,
      hint: "Check what it changed; then wait until the quota resets, or ask the operator to raise quotas.executionMsPerHour",
    },
  });
  assert.equal(attributeToQuota(late, limits), late);
  const busy = ended("LIMIT_TIME", "The program used 9 ms of processor time; its limit is 8 ms (cpuMs)");
  assert.equal(attributeToQuota(busy, limits, setting), busy);
});

it("runWithinQuotas keeps a lower limit of the program", async () => {
  const { admit } = setUp(DEFAULT_LIMITS.wallMs + 1);
  const run = async (limits: Limits) => limits.wallMs;
  assert.equal(await runWithinQuotas(REQUEST, admit, { run, wallMsOf: () => 0 }), DEFAULT_LIMITS.wallMs);
});

it("runWithinQuotas charges failed work for the time that it took", async () => {
  const { settled, admit } = setUp(50);
  const run = async () => {
    throw new GloveboxError("SANDBOX_CRASHED", "gone");
  };
  await assert.rejects(runWithinQuotas(REQUEST, admit, { run, wallMsOf: () => 0 }), { code: "SANDBOX_CRASHED" });
  assert.equal(settled.length, 1);
  assert.ok((settled[0] ?? 0) > 0);
});

it("runWithinQuotas does not run without a grant", async () => {
  const admit = async () => {
    throw new GloveboxError("LIMIT_QUOTA", "used up");
  };
  const run = () => assert.fail("it runs");
  await assert.rejects(runWithinQuotas(REQUEST, admit, { run, wallMsOf: () => 0 }), { code: "LIMIT_QUOTA" });
});
