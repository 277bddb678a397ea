/** The steps of a crossing on real rooms: their order, what they refuse, and what they record. */

import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";

import { digestOf } from "../text/index.ts";
import { GloveboxError, parseRuleId } from "../domain/index.ts";
import type { Decision, Json, PolicyRule } from "../domain/index.ts";
import {
  AGENT,
  EXECUTION,
  TOOLS,
  createTool,
  known,
  openTestBridge,
  traceOf,
} from "../../test/fixtures/bridge/test-bridge.ts";
import { STEPS } from "./steps/step-list.ts";

const [READ_TOOL = createTool("files.read")] = TOOLS;

function rule(decision: Decision["kind"], tool: string): PolicyRule {
  return { id: known(parseRuleId(`${decision}-it`)), decision, tools: [tool], effects: [], reason: "so it is" };
}

function intentOf(tool: string, more: Readonly<Record<string, Json>>): Json {
  const [server = ""] = tool.split(".");
  const detail = {
    execution: EXECUTION,
    seq: 1,
    server,
    definition: digestOf(tool),
    arguments: digestOf("{}"),
    ...more,
  };
  return { actor: AGENT.id, action: "call.intended", subject: tool, detail };
}

function endOf(tool: string, more: Readonly<Record<string, Json>>): Json {
  return { actor: AGENT.id, action: "call.ended", subject: tool, detail: { execution: EXECUTION, seq: 1, ...more } };
}

describe("the list of steps", () => {
  it("has these steps in this order", () => {
    assert.deepEqual(
      STEPS.map(({ name, phase }) => `${name} (${phase})`),
      [
        "track (always)",
        "digest request (until replied)",
        "notice tokens (until replied)",
        "count (until replied)",
        "admit (until replied)",
        "name (until replied)",
        "plan (until replied)",
        "parse (until replied)",
        "decide (until replied)",
        "check types (until replied)",
        "record intent (until replied)",
        "dry run (until replied)",
        "approve (if made)",
        "charge (if made)",
        "trace (if made)",
        "invoke (if made)",
        "learn shape (if made)",
        "store attachments (if made)",
        "parse result (until replied)",
        "release (always)",
        "report (once replied)",
        "record end (once replied)",
        "deliver labels (once replied)",
        "journal (once replied)",
        "untrack (always)",
      ],
    );
  });
});

describe("the steps", () => {
  it("run in order, and record a write before it leaves", async () => {
    const { bridge, steps } = await openTestBridge();
    assert.deepEqual(await bridge.call("files.write", "{}"), { ok: true, json: '{"ok":true}' });
    await bridge.recorded();
    const written = ["write call.ended"];
    assert.deepEqual(steps, ["decide", "write call.intended", "wrote call.intended", "invoke", ...written]);
  });
  it("record a read before it leaves, and flush only calls that may change something", async () => {
    const { bridge, steps, store } = await openTestBridge();
    const append = mock.method(store.ledger, "append");
    await bridge.call("files.read", "{}");
    assert.deepEqual(steps.slice(0, 4), ["decide", "write call.intended", "wrote call.intended", "invoke"]);
    await bridge.call("files.write", "{}");
    await bridge.recorded();
    const intents = append.mock.calls.filter(({ arguments: [records] }) =>
      records.some(({ action }) => action === "call.intended"),
    );
    assert.deepEqual(
      intents.map(({ arguments: [, isFlushed] }) => isFlushed),
      [false, true],
    );
  });
  it("reach neither policy nor upstream for a tool that does not exist", async () => {
    const { bridge, steps } = await openTestBridge();
    await bridge.call("files.nothing", "{}");
    await bridge.recorded();
    assert.deepEqual(steps, ["write call.ended"]);
  });
  it("reach neither policy nor upstream for arguments that do not fit", async () => {
    const { bridge, steps } = await openTestBridge();
    await bridge.call("github.listIssues", "{}");
    await bridge.recorded();
    assert.deepEqual(steps, ["write call.ended"]);
  });
  it("pass the parsed arguments to the named tool", async () => {
    const seen: unknown[] = [];
    const invoke = (tool: { readonly address: string }, args: Json): Promise<Json> => {
      seen.push([tool.address, args]);
      return Promise.resolve(null);
    };
    const { bridge } = await openTestBridge({ invoke });
    assert.deepEqual(await bridge.call("github.listIssues", '{"owner":"a","labels":["b"]}'), {
      ok: true,
      json: "null",
    });
    assert.deepEqual(seen, [["github.listIssues", { owner: "a", labels: ["b"] }]]);
  });
});

describe("the name of a tool", () => {
  it("the name of a tool is found if it is exact", async () => {
    const { bridge } = await openTestBridge();
    assert.equal((await bridge.call("files.read", "{}")).ok, true);
  });
  it("the name of a tool is refused with the nearest names if it is misspelled", async () => {
    const { bridge } = await openTestBridge();
    assert.deepEqual(await bridge.call("github.list_issue", "{}"), {
      ok: false,
      error: {
        code: "TOOL_NOT_FOUND",
        message: 'Unknown tool "github.list_issue"',
        retry: false,
        hint: "Did you mean github.listIssues, github.countIssues?",
      },
    });
  });
  it("the name of a tool is refused with a hint to search if no name is near", async () => {
    const { bridge } = await openTestBridge();
    const reply = await bridge.call("zzzzzzzz.qqqqqqqq", "{}");
    assert.equal(reply.ok ? "" : reply.error.hint, "Look for it with search");
  });
  const hostile: readonly unknown[] = [
    "__proto__",
    "constructor",
    "files.__proto__",
    "files.constructor",
    "files.toString",
    "files.read ",
    " files.read",
    "files.read\n",
    "Files.read",
    "files.Read",
    "ｆiles.read",
    "files．read",
    "files.rеad", // a Cyrillic letter
    "",
    undefined,
    null,
    7,
    Symbol("files.read"),
    ["files.read"],
    Object.create(null),
    { toString: () => "files.read" },
  ];
  for (const raw of hostile) {
    it(`the name of a tool is refused if it is ${typeof raw === "string" ? JSON.stringify(raw) : `of type ${typeof raw}`}`, async () => {
      const { bridge, steps } = await openTestBridge();
      const reply = await bridge.call(raw, "{}");
      assert.equal(reply.ok ? "ok" : reply.error.code, "TOOL_NOT_FOUND");
      assert.equal(steps.includes("invoke"), false);
    });
  }
  it("the name of a tool is shown cut in the reply, the trace and the ledger if it has ten kilobytes", async () => {
    const { bridge, ledger } = await openTestBridge();
    const reply = await bridge.call(`files.${"x".repeat(10_240)}`, "{}");
    const shown = `files.${"x".repeat(122)}`;
    assert.equal(reply.ok ? "" : reply.error.message, `Unknown tool "${shown}"`);
    assert.equal(bridge.records()[0]?.tool, shown);
    await bridge.recorded();
    assert.deepEqual(await ledger(), [endOf(shown, { outcome: "error", code: "TOOL_NOT_FOUND" })]);
  });
  it("the name of a tool is shown without terminal escapes and line breaks", async () => {
    const { bridge } = await openTestBridge();
    const reply = await bridge.call("files.\u009b31mx\u001b[0m\u202ey\nz", "{}");
    assert.equal(reply.ok ? "" : reply.error.message, 'Unknown tool "files.xy z"');
    assert.equal(bridge.records()[0]?.tool, "files.xy z");
  });
});

describe("the policy", () => {
  it("lets an allowed call through, as trace and ledger show", async () => {
    const { bridge, ledger } = await openTestBridge({ rules: [rule("allow", "files.remove")] });
    assert.deepEqual(await bridge.call("files.remove", "{}"), { ok: true, json: '{"ok":true}' });
    await bridge.recorded();
    const trace = { seq: 1, tool: "files.remove", effect: "destroy", decision: "allow", outcome: "ok" };
    assert.deepEqual(traceOf(bridge), [trace]);
    assert.deepEqual(await ledger(), [
      intentOf("files.remove", { effect: "destroy", decision: "allow", rule: "allow-it" }),
      endOf("files.remove", { outcome: "ok", result: digestOf('{"ok":true}'), size: 11 }),
    ]);
  });
  it("stops a denied call before the upstream, as trace and ledger show", async () => {
    const { bridge, ledger, steps } = await openTestBridge({ rules: [rule("deny", "files.read")] });
    assert.deepEqual(await bridge.call("files.read", "{}"), {
      ok: false,
      error: {
        code: "POLICY_DENIED",
        message: "files.read (effect: read) is denied, rule deny-it: so it is; use another tool, or ask the operator",
        retry: false,
      },
    });
    await bridge.recorded();
    assert.equal(steps.includes("invoke"), false);
    const trace = { seq: 1, tool: "files.read", effect: "read", decision: "deny", outcome: "denied" };
    assert.deepEqual(traceOf(bridge), [trace]);
    assert.deepEqual(await ledger(), [
      intentOf("files.read", { effect: "read", decision: "deny", rule: "deny-it" }),
      endOf("files.read", { outcome: "denied", code: "POLICY_DENIED" }),
    ]);
  });
  it("stops a call that needs approval as pending, as trace and ledger show", async () => {
    const { bridge, ledger, steps } = await openTestBridge();
    const reply = await bridge.call("files.remove", "{}");
    assert.equal(reply.ok ? "" : reply.error.code, "POLICY_APPROVAL_PENDING");
    assert.equal(reply.ok ? "" : reply.error.hint, "An operator can allow it with a policy rule for files.remove");
    await bridge.recorded();
    assert.equal(steps.includes("invoke"), false);
    const trace = { seq: 1, tool: "files.remove", effect: "destroy", decision: "ask", outcome: "pending" };
    assert.deepEqual(traceOf(bridge), [trace]);
    assert.deepEqual(await ledger(), [
      intentOf("files.remove", { effect: "destroy", decision: "ask", rule: "profile:balanced" }),
      endOf("files.remove", { outcome: "pending", code: "POLICY_APPROVAL_PENDING" }),
    ]);
  });
});

describe("an upstream", () => {
  it("keeps its code, message and hint when it fails", async () => {
    const thrown = new GloveboxError("UPSTREAM_FAILED", "github: no such repository", { hint: "Check the name" });
    const { bridge, reported } = await openTestBridge({ invoke: () => Promise.reject(thrown) });
    const error = {
      code: "UPSTREAM_FAILED",
      message: "github: no such repository",
      retry: false,
      hint: "Check the name",
    } as const;
    assert.deepEqual(await bridge.call("files.read", "{}"), { ok: false, error });
    assert.deepEqual(bridge.failureOf(1), error);
    assert.deepEqual(reported, []);
    assert.equal(bridge.records()[0]?.outcome, "error");
  });
  it("shows no details of an unexpected error, which is reported", async () => {
    const thrown = new Error("password is hunter2");
    const { bridge, reported } = await openTestBridge({ invoke: () => Promise.reject(thrown) });
    assert.deepEqual(await bridge.call("files.read", "{}"), {
      ok: false,
      error: { code: "INTERNAL_BUG", message: "Internal error", retry: false, incident: "in_1" },
    });
    assert.deepEqual(reported, [thrown]);
  });
  it("an upstream may throw synchronously, which is an error as well", async () => {
    const thrown = new GloveboxError("UPSTREAM_UNREACHABLE", "files: gone");
    const invoke = (): never => {
      throw thrown;
    };
    const { bridge } = await openTestBridge({ invoke });
    const error = { code: "UPSTREAM_UNREACHABLE", message: "files: gone", retry: true } as const;
    assert.deepEqual(await bridge.call("files.read", "{}"), { ok: false, error });
  });
  it("leaves no failure when it answers", async () => {
    const { bridge } = await openTestBridge();
    await bridge.call(READ_TOOL.address, "{}");
    assert.deepEqual(
      [bridge.failureOf(1), bridge.failureOf(2), bridge.failureOf(-1)],
      [undefined, undefined, undefined],
    );
  });
});

describe("a call of an execution whose opening is not on disk", () => {
  it("waits until the opening is on disk, and leaves then", async () => {
    const opening = Promise.withResolvers<void>();
    const { bridge, steps } = await openTestBridge({ opened: opening.promise });
    const called = bridge.call("files.read", "{}");
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(steps.includes("invoke"), false);
    opening.resolve();
    assert.deepEqual(await called, { ok: true, json: '{"ok":true}' });
  });
  it("never leaves if the opening cannot be written, and ends the execution", async () => {
    const thrown = new GloveboxError("STORE_UNAVAILABLE", "Full");
    const opened = Promise.reject(thrown);
    opened.catch(() => undefined);
    const { bridge, steps } = await openTestBridge({ opened });
    await assert.rejects(bridge.call("files.read", "{}"), thrown);
    assert.equal(steps.includes("invoke"), false);
  });
});
