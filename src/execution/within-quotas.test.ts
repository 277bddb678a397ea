/** What an execution was granted bounds its time, and what it used is settled however it ends. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { DEFAULT_LIMITS, GloveboxError, parsePrincipalId } from "../domain/index.ts";
import type { Limits } from "../domain/index.ts";
import { withinQuotas } from "./within-quotas.ts";

const id = parsePrincipalId("agent");
assert.ok(id);
const REQUEST = { principal: { id, kind: "agent", groups: [] }, limits: DEFAULT_LIMITS } as const;

function setUp(grantedMs: number) {
  const settled: number[] = [];
  const admit = async () => ({ wallMs: grantedMs, settle: async (usedMs: number) => void settled.push(usedMs) });
  return { settled, admit };
}

it("runs within what was granted, and settles what it says that it used", async () => {
  const { settled, admit } = setUp(50);
  const run = async (limits: Limits) => limits;
  const limits = await withinQuotas(REQUEST, admit, { run, wallMsOf: () => 7 });
  assert.deepEqual([limits, settled], [{ ...DEFAULT_LIMITS, wallMs: 50 }, [7]]);
});

it("keeps its own limit where more was granted", async () => {
  const { admit } = setUp(DEFAULT_LIMITS.wallMs + 1);
  const run = async (limits: Limits) => limits.wallMs;
  assert.equal(await withinQuotas(REQUEST, admit, { run, wallMsOf: () => 0 }), DEFAULT_LIMITS.wallMs);
});

it("is charged for the time that it took when it fails", async () => {
  const { settled, admit } = setUp(50);
  const run = async () => {
    throw new GloveboxError("SANDBOX_CRASHED", "gone");
  };
  await assert.rejects(withinQuotas(REQUEST, admit, { run, wallMsOf: () => 0 }), { code: "SANDBOX_CRASHED" });
  assert.equal(settled.length, 1);
  assert.ok((settled[0] ?? 0) > 0);
});

it("does not run when nothing was granted", async () => {
  const admit = async () => {
    throw new GloveboxError("LIMIT_QUOTA", "used up");
  };
  const run = () => assert.fail("it runs");
  await assert.rejects(withinQuotas(REQUEST, admit, { run, wallMsOf: () => 0 }), { code: "LIMIT_QUOTA" });
});
