/** Which upstreams a program waits for. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { AGENT, TOOLS, createTool, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_RULES, analyze } from "../../analysis/index.ts";
import type { NeededServers } from "../../catalog/index.ts";
import { DEFAULT_LIMITS, parseConnectorId } from "../../domain/index.ts";
import type { Effect } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";
import { declareApi } from "../../typegen/index.ts";
import { analyzeProgram } from "./analyze-program.ts";

const EMPTY = snapshotOf(TOOLS);
const namespaces = ["good", "hanging"].map((name) => {
  const connector = parseConnectorId(name) ?? assert.fail();
  return { name, connector, summary: "", tools: [] };
});

/** What the snapshots of a program needed, in order. */
async function needsOf(source: string): Promise<readonly NeededServers[]> {
  const needs: NeededServers[] = [];
  const request = { principal: AGENT, source, limits: DEFAULT_LIMITS, signal: new AbortController().signal };
  const { analyzed } = await analyzeProgram(request, {
    snapshot: async (_principal, needed = "all") => {
      needs.push(needed);
      return { ...EMPTY, namespaces };
    },
    declare: (snapshot) => declareApi(snapshot, { hasNetwork: false }),
    analyze: ({ source: text, limits }, surface) =>
      analyze(text, surface, {
        rules: DEFAULT_RULES,
        limits,
        enabled: true,
        blockOnError: true,
        timebox: (run) => ({ value: run() }),
      }),
  });
  assert.ok(analyzed.ok || source.includes("%"));
  return needs;
}

const CASES: readonly (readonly [title: string, source: string, needs: readonly NeededServers[]])[] = [
  ["without calls waits for no server", "return 1 + 1", []],
  ["waits for the server that it calls only", "return await good.read({})", [["good"]]],
  [
    "waits for a server that it reaches through a variable",
    "const tools = hanging; return tools.read({})",
    [["hanging"]],
  ],
  ["with a computed tool waits for its server only", "return await good[input.name]({})", [["good"]]],
  ["with a computed server waits for all", "return await globalThis[input.name].read({})", ["all"]],
  ["that lists the tools of a server waits for it", "return Object.keys(good)", [["good"]]],
  ["that searches waits for some servers", 'return await glovebox.search({ query: "x" })', ["some"]],
  [
    "that searches and calls waits for some servers and for the called one",
    'await glovebox.search({ query: "x" }); return good.read({})',
    ["some", ["good"]],
  ],
  [
    "waits for no server whose name is only a part of a word",
    'return await good.read({ text: "unhanging" })',
    [["good"]],
  ],
  ["that cannot run waits for no server", "return % good", []],
  ["with a variable of a server's name waits for no server", "const hanging = 'hanging'; return { hanging }", []],
  ["with a parameter of a server's name waits for no server", "return [1].map((hanging) => hanging + 1)", []],
  ["with a field of a server's name waits for the called one", "return (await good.read({})).hanging", [["good"]]],
  [
    "with a variable in one block and the server in another waits for it",
    "{ const good = 1 } return good.read({})",
    [["good"]],
  ],
  [
    "that names a server as text on the global object waits for it",
    'return Object.keys(globalThis["hanging"])',
    [["hanging"]],
  ],
  ["that looks for a server on the global object waits for all", 'return "hanging" in globalThis', ["all"]],
];

for (const [title, source, needs] of CASES) {
  test(`a program ${title}`, async () => {
    assert.deepEqual(await needsOf(source), [[], ...needs]);
  });
}

/** The rules that object to a loop over a tool of this effect, whose server is not ready when the program arrives. */
async function loopRules(effect: Effect, severity: "warn" | "error"): Promise<readonly string[]> {
  const [good] = namespaces;
  const waiting = { ...EMPTY, digest: digestOf("waiting"), namespaces: [good ?? assert.fail()] };
  const tool = createTool("good.call", { effect });
  const listed = waiting.namespaces.map((one) => ({ ...one, tools: ["call"] }));
  const ready = { ...snapshotOf([tool]), digest: digestOf(effect), namespaces: listed };
  const source = "for (const id of input.ids) await good.call({ id })";
  const request = { principal: AGENT, source, limits: DEFAULT_LIMITS, signal: new AbortController().signal };
  const options = { limits: DEFAULT_LIMITS, enabled: true, blockOnError: true };
  const { analyzed } = await analyzeProgram(request, {
    snapshot: async (_principal, needed = "all") => (needed.includes("good") ? ready : waiting),
    declare: (snapshot) => declareApi(snapshot, { hasNetwork: false }),
    analyze: ({ source: text }, surface) =>
      analyze(text, surface, { ...options, rules: { ...DEFAULT_RULES, "no-tool-in-loop": severity } }),
  });
  const { findings } = analyzed.ok ? analyzed.program : analyzed;
  return [analyzed.ok ? "runs" : analyzed.error.code, ...findings.map(({ rule }) => rule)];
}

test("a loop is judged by the effect of its tool once the server is ready", async () => {
  assert.deepEqual(await loopRules("read", "warn"), ["runs", "no-tool-in-loop"]);
  assert.deepEqual(await loopRules("write", "warn"), ["runs"]);
  assert.deepEqual(await loopRules("read", "error"), ["PROGRAM_FORBIDDEN", "no-tool-in-loop"]);
  assert.deepEqual(await loopRules("unknown", "error"), ["runs"]);
});
