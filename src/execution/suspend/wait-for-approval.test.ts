/** A question of a server whose call cannot be repeated: its program stays, and the question ends with its call. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { ApprovalRequests, Tool, ToolCall } from "../../domain/index.ts";
import { APPROVAL } from "../../surfaces/mcp/fixtures/approval.ts";
import { NEVER, untilAborted } from "../../timing/index.ts";
import { createSuspensionDetector } from "./detect-suspension.ts";
import { createInputWaits } from "../input-waits.ts";
import { createApprovalWait } from "./wait-for-approval.ts";

const QUESTION = { mode: "form", server: "shop", message: "Who?", schema: {} } as const;
const ACCEPT = { action: "accept", content: { name: "Ada" } } as const;

function open() {
  const decided = Promise.withResolvers<typeof APPROVAL>();
  const withdrawn: unknown[] = [];
  const approvals: ApprovalRequests = {
    request: async () => APPROVAL,
    takeAnswer: async () => ACCEPT,
    whenDecided: (_, signal) => untilAborted(decided.promise, signal),
    find: async () => APPROVAL,
    list: async () => [APPROVAL],
    withdraw: async (...which) => void withdrawn.push(which),
  };
  const [ended, over] = [new AbortController(), new AbortController()];
  const signals = { leaving: NEVER, ended: ended.signal };
  const suspension = createSuspensionDetector({
    graceMs: 0,
    limits: { wallMs: 60_000 },
    canSuspend: () => true,
    ...signals,
  });
  const inputs = createInputWaits((approval) => approval);
  const wait = createApprovalWait({
    approvals,
    suspension,
    inputs,
    ended: ended.signal,
    labels: () => [],
    plan: () => undefined,
    findEvidence: () => undefined,
    unattendedMs: () => 1,
  });
  const { execution, seq, principal, tool: address, args } = APPROVAL;
  const call = { execution, seq, principal, address, args } as ToolCall;
  const tool = { address, effect: "write", digest: APPROVAL.definition } as Tool;
  suspension.onCalls(1);
  const asked = wait.askInput(call, tool, QUESTION, { canRepeat: false, over: over.signal });
  return { asked, over, ended, inputs, withdrawn, suspension, answer: () => decided.resolve(APPROVAL) };
}

describe("a question that its program waits for in memory", () => {
  it("is answered, and its client is told of it meanwhile", async () => {
    const { asked, inputs, withdrawn, answer, suspension } = open();
    await new Promise((due) => inputs.due().addEventListener("abort", due));
    assert.deepEqual([inputs.list().length, suspension.waiting(), suspension.signal.aborted], [1, 1, false]);
    answer();
    assert.deepEqual([await asked, withdrawn, suspension.waiting()], [ACCEPT, [], 0]);
  });
  it("is withdrawn when its call is over before", async () => {
    const { asked, over, withdrawn, inputs, suspension } = open();
    over.abort();
    await assert.rejects(asked);
    assert.deepEqual([withdrawn, inputs.list(), suspension.waiting()], [[[APPROVAL.execution, APPROVAL.id]], [], 0]);
  });
  it("is left to the end of its execution when its program has ended", async () => {
    const { asked, ended, withdrawn } = open();
    ended.abort();
    await assert.rejects(asked);
    assert.deepEqual(withdrawn, []);
  });
});
