/** The outcome of a call whose answer was lost: unknown where it may have taken effect, and nowhere else. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { GloveboxError } from "../../domain/index.ts";
import type { ErrorCode, Tool } from "../../domain/index.ts";
import { createTool, openTestBridge, traceOf } from "../../../test/fixtures/bridge/test-bridge.ts";

interface Lost {
  readonly code?: ErrorCode;
  readonly details?: GloveboxError["details"];
  readonly tool?: Partial<Tool>;
}

/** One call of `files.write` that fails as said; its outcome, and what the program reads. */
async function lose({ code = "UPSTREAM_UNREACHABLE", details = { hint: "Call again" }, tool }: Lost) {
  const tools = [createTool("files.write", { effect: "write", ...tool })];
  const invoke = () => Promise.reject(new GloveboxError(code, "gone", details));
  const { bridge, ledger } = await openTestBridge({ tools, invoke });
  const reply = await bridge.call("files.write", "{}");
  const written = (await ledger()).at(-1)?.["detail"];
  const outcome = traceOf(bridge)[0]?.outcome;
  assert.deepEqual(written, { execution: `ex_${"0".repeat(24)}`, seq: 1, outcome, code });
  return [outcome, reply.ok ? reply : [reply.error.retry, reply.error.hint]];
}

const LOOK = "It is not known whether it took effect: look before you call it again";

describe("a lost answer", () => {
  for (const code of ["UPSTREAM_UNREACHABLE", "UPSTREAM_TIMEOUT"] as const) {
    it(`of a write (${code}) leaves the outcome unknown and warns against a retry`, async () => {
      assert.deepEqual(await lose({ code }), ["unknown", [false, LOOK]]);
    });
  }
  it("of a destructive tool, or of one with unknown effect, leaves the outcome unknown", async () => {
    assert.deepEqual(await lose({ tool: { effect: "unknown" } }), ["unknown", [false, LOOK]]);
  });
  it("of an idempotent tool leaves the outcome unknown and allows a retry", async () => {
    assert.deepEqual(await lose({ tool: { idempotent: true } }), ["unknown", [true, "Call again"]]);
  });
  it("of a read is an error, because it changed nothing", async () => {
    assert.deepEqual(await lose({ tool: { effect: "read" } }), ["error", [true, "Call again"]]);
  });
  it("a lost answer is an ordinary error if the request never left", async () => {
    assert.deepEqual(await lose({ details: { unsent: true } }), ["error", [true, undefined]]);
  });
  it("a lost answer is an ordinary error if the upstream answered with an error", async () => {
    assert.deepEqual(await lose({ code: "UPSTREAM_FAILED" }), ["error", [false, "Call again"]]);
  });
});
