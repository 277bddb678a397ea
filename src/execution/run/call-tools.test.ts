/** Calls without a program: the same bridge and record as any execution, and one answer for each call. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { digestOf } from "../../text/index.ts";
import { AGENT, EXECUTION, TOOLS, openTestBridge, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import type { TestBridgeOptions } from "../../../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_LIMITS } from "../../domain/index.ts";
import type { ExecutionResult, JsonObject } from "../../domain/index.ts";
import type { ExecutionLog } from "../execution-log.ts";
import { NO_JOURNAL } from "../fixtures/durable.ts";
import { callTools, toCallSource } from "./call-tools.ts";

async function run(calls: readonly (readonly [string, JsonObject])[], options: TestBridgeOptions = {}) {
  const { bridge, ended } = await openTestBridge(options);
  const sources: string[] = [];
  const closed: ExecutionResult[] = [];
  const cancel = new AbortController();
  const unused = (): never => assert.fail("no program runs");
  const log: ExecutionLog = {
    openOnce: unused,
    refuse: unused,
    open: ({ source }) => {
      sources.push(source);
      const execution = { id: EXECUTION, principal: AGENT.id, source: digestOf(source), startedAt: 0 };
      return { execution, opened: Promise.resolve(), journal: NO_JOURNAL };
    },
    close: async (_execution, result) => void closed.push(result),
  };
  const deps: Parameters<typeof callTools>[2] = {
    engine: "isolate",
    isolation: "process",
    report: () => "in_1",
    hide: (text: string) => text,
    log,
    admit: async ({ wallMs }) => ({ wallMs, release: async () => undefined }),
    snapshot: async () => snapshotOf(TOOLS),
    keepValue: unused,
    analyze: unused,
    bridge: (_execution, _snapshot, _request, { signal }) => {
      signal.addEventListener("abort", () => ended.abort());
      return bridge;
    },
  };
  const plain = calls.map(([address, args]) => ({ address, args }));
  const request = { principal: AGENT, limits: DEFAULT_LIMITS, signal: cancel.signal, source: toCallSource(plain) };
  const called = callTools(log.open(request), { ...request, calls: plain }, deps);
  return { called, sources, closed, cancel };
}

describe("callTools", () => {
  it("records the calls as the program that would make them, and closes with their value", async () => {
    const { called, sources, closed } = await run([["files.read", { path: "a" }]]);
    const { result, replies } = await called;
    assert.deepEqual(sources, ['await files.read({"path":"a"});']);
    assert.deepEqual(replies, [{ ok: true, json: '{"ok":true}' }]);
    assert.deepEqual([result.state, result.value, result.stats.calls], ["completed", { ok: true }, 1]);
    assert.deepEqual(closed, [result]);
  });
  it("returns one reply for each call, and fails if one of them failed", async () => {
    const { called } = await run([
      ["files.read", {}],
      ["files.remove", {}],
    ]);
    const { result, replies } = await called;
    assert.deepEqual(
      replies.map((reply) => reply.ok),
      [true, false],
    );
    assert.deepEqual([result.state, result.error?.code], ["failed", "POLICY_APPROVAL_PENDING"]);
  });
  it("ends as cancelled when the client cancels", async () => {
    const { called, cancel } = await run([["files.read", {}]], { invoke: () => new Promise(() => undefined) });
    setImmediate(() => cancel.abort());
    assert.equal((await called).result.state, "cancelled");
  });
  it("fails as a whole above the limit of calls, and records it", async () => {
    const { called, closed } = await run(
      [
        ["files.read", {}],
        ["files.read", {}],
      ],
      { limits: { calls: 1 } },
    );
    const { result, replies } = await called;
    assert.deepEqual([result.state, result.error?.code, replies], ["failed", "LIMIT_CALLS", []]);
    assert.deepEqual(closed, [result]);
  });
  it("quotes an invalid address instead of writing it as code", async () => {
    const { called, sources } = await run([["x.y); evil(", {}]]);
    assert.equal((await called).result.error?.code, "TOOL_NOT_FOUND");
    assert.deepEqual(sources, ['await "x.y); evil("({});']);
  });
});
