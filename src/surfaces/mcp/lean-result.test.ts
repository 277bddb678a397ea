/** What clients get as `structuredContent` of an execution, lean and full. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { Client, InMemoryTransport } from "@modelcontextprotocol/client";

import { parseApprovalId, parseResultId, parseToolAddress } from "../../domain/index.ts";
import type { CallRecord, ExecutionView } from "../../domain/index.ts";
import { createMcpServer } from "./create-mcp-server.ts";
import { AGENT, EXECUTION, createMemoryGateway, createResult } from "./fixtures/memory-gateway.ts";
import { known } from "./fixtures/approval.ts";
import { MAX_FAILED_CALLS, toLeanResult } from "./lean-result.ts";

const READ = { tool: "a.b", effect: "read", decision: "allow", ms: 1 } as const;
const call = (seq: number, outcome: CallRecord["outcome"]): CallRecord => ({ ...READ, seq, outcome });

test("a completed execution is its id, state, value and the number of its calls", () => {
  const stats = { ...createResult().stats, calls: 2 };
  const result = createResult({ value: 42, calls: [call(1, "ok"), call(2, "ok")], stats });
  assert.deepEqual(toLeanResult(result), { execution: EXECUTION, state: "completed", value: 42, callCount: 2 });
  assert.deepEqual(toLeanResult(createResult({ value: null })), {
    execution: EXECUTION,
    state: "completed",
    value: null,
    callCount: 0,
  });
});

test("everything that a model needs for its next step stays", () => {
  const [approval, tool] = [known(parseApprovalId(`ap_${"0".repeat(24)}`)), known(parseToolAddress("shop.pay"))];
  const handle = known(parseResultId(`rs_${"0".repeat(24)}`));
  const kept = {
    value: [1],
    error: { code: "PROGRAM_THREW", message: "it threw", retry: false, line: 3, column: 1 },
    logs: [{ level: "log", text: "one", atMs: 1 }],
    findings: [{ rule: "no-infinite-loop", severity: "warn", message: "never ends", line: 1, column: 2 }],
    approvals: [approval],
    questions: [{ approval, seq: 2, tool, reason: "money leaves", expiresAt: 9 }],
    truncated: { handle, bytes: 9, shape: "Array<number> (4)" },
    dryRun: { writes: [] },
  } as const;
  const read = { label: "private", tool } as const;
  const labels = [{ ...read, execution: EXECUTION, seq: 1 }];
  const view: ExecutionView = { ...createResult({ ...kept, labels }), state: "paused" };
  assert.deepEqual(toLeanResult(view), {
    execution: EXECUTION,
    state: "paused",
    callCount: 0,
    ...kept,
    labels: [read],
  });
});

test("only calls that failed, were refused, wait or are unknown are listed", () => {
  const outcomes = ["ok", "error", "denied", "pending", "unknown", "ok"] as const;
  const calls = outcomes.map((outcome, at) => call(at + 1, outcome));
  assert.deepEqual(toLeanResult(createResult({ calls })).calls, calls.slice(1, 5));
});

for (const [count, omitted] of [
  [MAX_FAILED_CALLS - 1, undefined],
  [MAX_FAILED_CALLS, undefined],
  [MAX_FAILED_CALLS + 1, 1],
] as const) {
  test(`of ${count} failed calls ${omitted ?? "none"} is left out, and no unknown or waiting one`, () => {
    const failed = Array.from({ length: count }, (_, at) => call(at + 1, at % 2 === 0 ? "error" : "denied"));
    const last = [call(count + 1, "unknown"), call(count + 2, "pending")];
    const lean = toLeanResult(createResult({ calls: [...failed, ...last] }));
    assert.deepEqual(lean.calls, [...failed.slice(0, MAX_FAILED_CALLS), ...last]);
    assert.equal(lean.callsOmitted, omitted);
  });
}

async function connect(t: TestContext): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const gateway = createMemoryGateway();
  await createMcpServer({ gateway, principal: AGENT, report: () => "in_1" }).connect(far);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(near);
  t.after(() => client.close());
  return client;
}

test("execute and resume answer the whole object for detail full, and the lean one otherwise", async (t) => {
  const client = await connect(t);
  const ask = async (name: string, args: object): Promise<unknown> =>
    (await client.callTool({ name, arguments: { ...args } })).structuredContent;
  const result = createResult({ value: { code: "1", input: null } });
  assert.deepEqual(await ask("execute", { code: "1", detail: "full" }), result);
  assert.deepEqual(await ask("execute", { code: "1" }), toLeanResult(result));
  const running: ExecutionView = { ...createResult(), state: "running" };
  assert.deepEqual(await ask("resume", { execution: EXECUTION, detail: "full" }), running);
  assert.deepEqual(await ask("resume", { execution: EXECUTION }), toLeanResult(running));
});
