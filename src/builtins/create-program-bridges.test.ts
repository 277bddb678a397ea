/** The bridge of an execution reaches its own connector, quotas, secrets and builtins. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { AGENT, EXECUTION, TOOLS, createTool, known, snapshotOf } from "../../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_LIMITS, parseRuleId } from "../domain/index.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import { openFlows } from "../policy/index.ts";
import { openStore } from "../store/index.ts";
import { digestOf } from "../text/index.ts";

import { createProgramBridges } from "./create-program-bridges.ts";
import { createProgramNetwork } from "./program-network.ts";

const OPENING = {
  execution: { id: EXECUTION, principal: AGENT.id, source: digestOf("1"), startedAt: 0 },
  opened: Promise.resolve(),
};

/** A search that takes so much processor time of this thread. */
function searchFor(cpuMs: number) {
  const search = () => {
    const from = process.threadCpuUsage();
    const usedMs = (): number => {
      const { user, system } = process.threadCpuUsage(from);
      return (user + system) / 1_000;
    };
    while (usedMs() < cpuMs);
    return { tools: [] };
  };
  return Object.assign(search, { *prepare() {} });
}

async function open(dryRun: boolean, { hostMs = 2_000, searchMs = 0 } = {}) {
  const store = await openStore({ path: ":memory:", now: () => 0 });
  const events: unknown[] = [];
  const unused = (): never => assert.fail("not used");
  const createBridge = createProgramBridges({
    ledger: await openLedger({ store, now: () => 0 }),
    report: () => "in_1",
    hide: (text) => text.replaceAll("s3cret", "[hidden]"),
    catalog: {
      connectorOf: () => ({
        call: async (name, args) => {
          events.push(["called", name, args]);
          return { value: { ok: true }, attachments: [] };
        },
      }),
    },
    policy: { decide: () => ({ kind: "allow", rule: known(parseRuleId("all")) }) },
    flows: await openFlows({ settings: { flows: "allow", labelMs: 0 }, store, now: () => 0 }),
    quotas: { takeCall: async (_principal, tool) => void events.push(["charged", tool.address]) },
    results: {
      keepFile: unused,
      summarize: async () => ({ labels: [] }),
      read: async (_principal, handle, query) => ({ value: [String(handle), query.limit ?? 0] }),
    },
    network: createProgramNetwork({ egress: { fetchFor: unused, checkFor: unused }, policy: { mode: "blocked" } }),
    secrets: {
      openFor: () => undefined,
      open: () => ({
        check: unused,
        fill: unused,
        notice: async (text, place, { tool }) => void events.push([place, tool, text]),
      }),
      guard: (send) => send,
    },
    planCalls: () => undefined,
    search: searchFor(searchMs),
    describe: async (_principal, names) => ({ declarations: names.join(), tools: [], unknown: [] }),
    stateTool: (tool) => tool,
    skills: {
      door: {
        drafts: {
          fromProgram: async ({ name }, program, { id }) => {
            events.push(["drafted", name, program, id]);
            return { name, version: 1, state: "pending_review", parameters: [{ name: "owner", value: "acme" }] };
          },
        },
      },
    },
  });
  const request = { principal: AGENT, limits: { ...DEFAULT_LIMITS, hostMs }, dryRun };
  const run = { signal: new AbortController().signal };
  return {
    bridge: createBridge(OPENING, snapshotOf([...TOOLS, createTool("files.send", { effect: "write" })]), request, run),
    events,
  };
}

test("createProgramBridges notices tokens, charges quotas and calls the connector of a tool", async () => {
  const { bridge, events } = await open(false);
  assert.deepEqual(await bridge.call("files.read", '{"path":"a"}'), { ok: true, json: '{"ok":true}' });
  assert.deepEqual(events, [
    ["argument", "files.read", '{"path":"a"}'],
    ["charged", "files.read"],
    ["called", "read", { path: "a" }],
  ]);
});

test("createProgramBridges passes on the draft of a program with its execution, and stores none in a dry run", async () => {
  const { bridge, events } = await open(false);
  const draft = JSON.stringify({ name: "a", description: "Does a.", from: "ex_1" });
  const reply = await bridge.call("glovebox.skills.draft", draft);
  assert.match(reply.ok ? reply.json : "", /"skill":"a","version":1,.*"parameters":\{"owner":"acme"\}/);
  assert.deepEqual(events.at(-1), ["drafted", "a", { execution: OPENING.execution.id, labels: [] }, AGENT.id]);
  const dry = await open(true);
  assert.match(JSON.stringify(await dry.bridge.call("glovebox.skills.draft", draft)), /dry run/);
  assert.deepEqual(
    dry.events.filter((event) => String(event).startsWith("drafted")),
    [],
  );
  const wrong = await bridge.call("glovebox.skills.draft", '{"name":"a"}');
  assert.equal(wrong.ok ? "" : wrong.error.code, "TOOL_ARGUMENTS_INVALID");
});

test("createProgramBridges gives every program the builtins of its principal", async () => {
  const { bridge } = await open(false);
  const read = await bridge.call("glovebox.results.read", '{"handle":"rs_1","limit":2}');
  assert.deepEqual(read, { ok: true, json: '["rs_1",2]' });
  assert.deepEqual(await bridge.call("glovebox.describe", '{"names":["a","b"]}'), { ok: true, json: '"a,b"' });
});

test("createProgramBridges counts the time of searches against hostMs", async () => {
  const hostMs = 200;
  const { bridge: slow } = await open(false, { hostMs, searchMs: 250 });
  const search = (bridge: typeof slow) => bridge.call("glovebox.search", '{"query":"a"}');
  await assert.rejects(search(slow), { code: "LIMIT_TIME" });
  const { bridge: fast } = await open(false, { hostMs, searchMs: 1 });
  for (let count = 0; count < 3; count += 1) assert.equal((await search(fast)).ok, true);
});

test("createProgramBridges lists the calls of a dry run without secrets, and makes none of them", async () => {
  const { bridge, events } = await open(true);
  assert.equal((await bridge.call("files.send", '{"to":"s3cret"}')).ok, true);
  assert.deepEqual(bridge.dryRun()?.writes[0]?.args, { to: "[hidden]" });
  assert.deepEqual(events, [["argument", "files.send", '{"to":"s3cret"}']]);
});
