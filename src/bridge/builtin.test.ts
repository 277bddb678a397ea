/** Calls that Glovebox itself answers take the same steps as others, and events report every call. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { isJsonObject, parseRuleId } from "../domain/index.ts";
import type { ExecutionEvent, Json, PolicyRule } from "../domain/index.ts";
import { createTool, known, openTestBridge, traceOf } from "../../test/fixtures/bridge/test-bridge.ts";

const DENY_ALL: PolicyRule = {
  id: known(parseRuleId("deny-all")),
  decision: "deny",
  tools: [],
  effects: [],
  reason: "no",
};

function builtinsOf(answer: Json) {
  const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  const tool = createTool("glovebox.echo", { input });
  return new Map([[tool.address, { tool, answer: () => Promise.resolve(answer) }]]);
}

describe("a builtin", () => {
  it("a builtin is answered without policy or upstream, and is recorded", async () => {
    const test = await openTestBridge({ builtins: builtinsOf({ a: 1 }), rules: [DENY_ALL] });
    assert.deepEqual(await test.bridge.call("glovebox.echo", '{"text":"x"}'), { ok: true, json: '{"a":1}' });
    assert.ok(!test.steps.includes("decide") && !test.steps.includes("invoke"));
    assert.deepEqual(traceOf(test.bridge), [
      { seq: 1, tool: "glovebox.echo", effect: "read", decision: "allow", outcome: "ok" },
    ]);
    test.ended.abort();
    await test.bridge.recorded();
    assert.deepEqual(
      (await test.ledger()).map(({ action, subject }) => [action, subject]),
      [
        ["call.intended", "glovebox.echo"],
        ["call.ended", "glovebox.echo"],
      ],
    );
  });
  it("with `judge` is decided by rules and the effect of the call, and is recorded with its notes", async () => {
    const tool = createTool("glovebox.send", { effect: "write" });
    const builtin = {
      tool,
      judge: () => ({ ...tool, effect: "read" as const }),
      noteCall: () => ({ host: "a.example" }),
      noteResult: () => ({ status: 200 }),
      answer: () => Promise.resolve(1),
    };
    const outcomeWith = async (effects: PolicyRule["effects"]): Promise<unknown> => {
      const rules = [{ ...DENY_ALL, effects }];
      const test = await openTestBridge({ builtins: new Map([[tool.address, builtin]]), rules });
      const reply = await test.bridge.call("glovebox.send", "{}");
      test.ended.abort();
      await test.bridge.recorded();
      const notes = (await test.ledger()).map(({ detail }) => {
        const { host, status, effect } = isJsonObject(detail) ? detail : {};
        return [host, status, effect];
      });
      return [reply.ok || reply.error.code, notes];
    };
    const intended = ["a.example", undefined, "read"];
    assert.deepEqual(await outcomeWith(["read"]), ["POLICY_DENIED", [intended, [undefined, undefined, undefined]]]);
    assert.deepEqual(await outcomeWith(["write"]), [true, [intended, [undefined, 200, undefined]]]);
  });
  it("a builtin counts as a call, has its arguments checked and its result measured", async () => {
    const test = await openTestBridge({ builtins: builtinsOf("x".repeat(20)), limits: { calls: 2, resultBytes: 10 } });
    const codeOf = async (args: string): Promise<string> => {
      const reply = await test.bridge.call("glovebox.echo", args);
      return reply.ok ? "ok" : reply.error.code;
    };
    assert.deepEqual([await codeOf("{}"), await codeOf('{"text":"x"}')], ["TOOL_ARGUMENTS_INVALID", "LIMIT_SIZE"]);
    await assert.rejects(test.bridge.call("glovebox.echo", '{"text":"x"}'), { code: "LIMIT_CALLS" });
  });
});

describe("an event", () => {
  it("reports each call, its progress and its answer, and no call event for a refused call", async () => {
    const events: ExecutionEvent[] = [];
    const progress = { done: 1, total: 2, message: "half" };
    const test = await openTestBridge({ onEvent: (event) => events.push(event), progress });
    await test.bridge.call("files.read", "{}");
    await test.bridge.call("files.nothing", "{}");
    const shown = events.map((event) =>
      event.kind === "answered" ? [event.kind, event.record.tool, event.record.outcome] : event,
    );
    assert.deepEqual(shown, [
      { kind: "called", seq: 1, tool: "files.read" },
      { kind: "progress", seq: 1, tool: "files.read", progress },
      ["answered", "files.read", "ok"],
      ["answered", "files.nothing", "error"],
    ]);
  });
});
