/** The data-flow guard at the bridge: when a call counts as made, what its record says, and what brings labels. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { GloveboxError, parseRuleId } from "../../domain/index.ts";
import type { Json, Label, Tool } from "../../domain/index.ts";
import { openFlows } from "../../policy/index.ts";
import { openStore } from "../../store/index.ts";
import {
  AGENT,
  EXECUTION,
  createTool,
  known,
  openTestBridge,
  snapshotOf,
  traceOf,
} from "../../../test/fixtures/bridge/test-bridge.ts";
import type { TestBridgeOptions } from "../../../test/fixtures/bridge/test-bridge.ts";

const withLabels = (address: string, ...labels: Label[]): Tool => createTool(address, { labels });
const SECRET = withLabels("files.secret", "private");
const STRANGE = withLabels("files.strange", "untrusted");
const SEND = withLabels("github.send", "external");
const TOOLS = [SECRET, STRANGE, SEND];
const RULE = "flow:private+untrusted>external";
const FLOW = [
  { label: "private", tool: "files.secret", execution: EXECUTION, seq: 1 },
  { label: "untrusted", tool: "files.strange", execution: EXECUTION, seq: 2 },
];

async function open(mode: "ask" | "deny" | "allow", options: TestBridgeOptions = {}) {
  const store = await openStore({ path: ":memory:", now: () => 0 });
  const flows = await openFlows({ settings: { flows: mode, labelMs: 0 }, store, now: () => 0 });
  const flow = flows.open({ principal: AGENT, execution: EXECUTION, snapshot: snapshotOf(TOOLS) });
  return openTestBridge({ tools: TOOLS, flow, ...options });
}

test("a call that would complete a flow needs approval before anything is sent, and its record names the sources", async () => {
  const { bridge, steps, ledger } = await open("ask");
  for (const tool of [SECRET, STRANGE]) assert.equal((await bridge.call(tool.address, "{}")).ok, true);
  const reply = await bridge.call(SEND.address, '{"text":"x"}');
  const error = reply.ok ? undefined : reply.error;
  assert.deepEqual(
    [error?.code, error?.hint],
    [
      "POLICY_APPROVAL_PENDING",
      "An operator can change what counts as private, untrusted or external with policy.labels",
    ],
  );
  assert.match(error?.message ?? "", /files\.secret \(call 1 of ex_0+\) .* files\.strange \(call 2 of ex_0+\)/);
  await bridge.recorded();
  assert.equal(steps.filter((step) => step === "invoke").length, 2);
  const [intent] = (await ledger()).filter(
    ({ action, subject }) => action === "call.intended" && subject === SEND.address,
  );
  assert.ok(intent);
  const { decision, rule, flow } = intent["detail"] as Record<string, Json>;
  assert.deepEqual({ decision, rule, flow }, { decision: "ask", rule: RULE, flow: FLOW });
  assert.deepEqual(bridge.labels(), FLOW);
  assert.deepEqual(traceOf(bridge)[2], {
    seq: 3,
    tool: "github.send",
    effect: "read",
    decision: "ask",
    outcome: "pending",
  });
});

test("a call that completes a flow is denied where flows are denied, and sent and marked where they are allowed", async () => {
  for (const [mode, expected] of [
    ["deny", "POLICY_DENIED"],
    ["allow", "ok"],
  ] as const) {
    const { bridge, ledger } = await open(mode);
    for (const tool of [SECRET, STRANGE]) await bridge.call(tool.address, "{}");
    const reply = await bridge.call(SEND.address, "{}");
    assert.equal(reply.ok ? "ok" : reply.error.code, expected);
    await bridge.recorded();
    const intents = (await ledger()).filter(({ action }) => action === "call.intended");
    const rules = intents.map(({ detail }) => (detail as Record<string, Json>)["rule"]);
    assert.deepEqual(rules, ["profile:balanced", "profile:balanced", RULE]);
  }
});

test("a stricter rule applies to a flow, and a looser rule does not", async () => {
  const reason = "house rule";
  for (const [decision, expected] of [
    ["deny", "POLICY_DENIED"],
    ["allow", "POLICY_APPROVAL_PENDING"],
  ] as const) {
    const id = known(parseRuleId("house"));
    const { bridge } = await open("ask", { rules: [{ id, decision, tools: [SEND.address], effects: [], reason }] });
    for (const tool of [SECRET, STRANGE]) await bridge.call(tool.address, "{}");
    const reply = await bridge.call(SEND.address, "{}");
    assert.equal(reply.ok ? "ok" : reply.error.code, expected);
  }
});

test("a call with a slot of its own is made beside the reads, and one that waits for a slot needs approval", async () => {
  for (const [concurrentCalls, expected] of [
    [3, true],
    [1, false],
  ] as const) {
    const { bridge } = await open("ask", { limits: { concurrentCalls } });
    const calls = [SECRET, STRANGE, SEND].map(({ address }) => bridge.call(address, "{}"));
    assert.deepEqual(
      (await Promise.all(calls)).map(({ ok }) => ok),
      [true, true, expected],
    );
    assert.equal((await bridge.call(SEND.address, "{}")).ok, false);
  }
});

test("a reply with both labels is held until calls that left before are answered, so that nothing cancels them", async () => {
  const sent = Promise.withResolvers<null>();
  const invoke = (tool: Tool) => (tool.address === SEND.address ? sent.promise : Promise.resolve(null));
  const { bridge } = await open("ask", { invoke });
  const order: string[] = [];
  const note = (tool: Tool) => bridge.call(tool.address, "{}").then(() => order.push(tool.address));
  const calls = [SEND, SECRET, STRANGE].map(note);
  await calls[1];
  sent.resolve(null);
  await Promise.all(calls);
  assert.deepEqual(
    order,
    [SECRET, SEND, STRANGE].map(({ address }) => address),
  );
});

test("a failed call brings its labels, and a call with wrong arguments does not", async () => {
  const input = { type: "object", required: ["path"], properties: { path: { type: "string" } } } as const;
  for (const [args, expected] of [
    ['{"path":"a"}', "POLICY_APPROVAL_PENDING"],
    ["{}", "ok"],
  ] as const) {
    const { bridge } = await open("ask", {
      tools: [{ ...SECRET, input }, STRANGE, SEND],
      invoke: async (tool) => {
        if (tool.address === SECRET.address) throw new GloveboxError("UPSTREAM_FAILED", "the key is 7");
        return null;
      },
    });
    assert.equal((await bridge.call(SECRET.address, args)).ok, false);
    await bridge.call(STRANGE.address, "{}");
    const reply = await bridge.call(SEND.address, "{}");
    assert.equal(reply.ok ? "ok" : reply.error.code, expected);
  }
});

test("a call that a quota refused brings no labels, and a charged call does", async () => {
  for (const [isFull, expected] of [
    [true, "ok"],
    [false, "POLICY_APPROVAL_PENDING"],
  ] as const) {
    const take = async (tool: Tool): Promise<void> => {
      if (isFull && tool.address === SECRET.address) throw new GloveboxError("LIMIT_QUOTA", "no more today");
    };
    const { bridge } = await open("ask", { take });
    assert.equal((await bridge.call(SECRET.address, "{}")).ok, !isFull);
    await bridge.call(STRANGE.address, "{}");
    const reply = await bridge.call(SEND.address, "{}");
    assert.equal(reply.ok ? "ok" : reply.error.code, expected);
  }
});

test("a result is learned before the session has read labeled data, and neither with it nor after it", async () => {
  const echo = createTool("github.echo");
  for (const [calls, learned] of [
    [
      [echo, SEND],
      [echo, SEND],
    ],
    [[echo, SECRET, echo], [echo]],
    [[STRANGE, echo, SEND], []],
  ] as const) {
    const observed: Tool[] = [];
    const { bridge } = await open("ask", {
      tools: [...TOOLS, echo],
      learn: (tool) => void observed.push(tool),
    });
    for (const tool of calls) assert.equal((await bridge.call(tool.address, "{}")).ok, true);
    assert.deepEqual(observed, learned);
  }
});

test("a result is not learned if labeled data was delivered while its call was open", async () => {
  const echo = createTool("github.echo");
  const slow = Promise.withResolvers<null>();
  const observed: string[] = [];
  const { bridge } = await open("ask", {
    tools: [...TOOLS, echo],
    learn: (tool) => void observed.push(tool.address),
    invoke: async (tool) => (tool === echo ? slow.promise : null),
  });
  const waiting = bridge.call(echo.address, "{}");
  await bridge.call(SECRET.address, "{}");
  slow.resolve(null);
  await waiting;
  assert.deepEqual(observed, []);
});

test("a builtin is guarded by its labels like any tool", async () => {
  const fetch = withLabels("glovebox.fetch", "untrusted", "external");
  const builtins = new Map([[fetch.address, { tool: fetch, answer: async () => "page" }]]);
  const { bridge } = await open("ask", { builtins });
  const replies = [];
  for (const tool of [fetch, fetch, SECRET, fetch]) replies.push((await bridge.call(tool.address, "{}")).ok);
  assert.deepEqual(replies, [true, true, true, false]);
});
