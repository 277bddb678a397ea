import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS, parseConnectorId } from "../../domain/index.ts";
import { analyze } from "../analyze.ts";

const connector = parseConnectorId("files") ?? assert.fail();
const API = { namespaces: [{ name: "files", connector, summary: "", tools: ["read"] }] };

/** The likeliest text and the arguments of each call that may mean a tool. */
function spelledIn(source: string): readonly unknown[] {
  const options = { limits: DEFAULT_LIMITS, enabled: true, blockOnError: true, rules: {} };
  const analyzed = analyze(source, API, options);
  assert.ok(analyzed.ok, source);
  return (analyzed.program.spelled ?? []).map(({ texts, args = "" }) => [texts[0], args]);
}

describe("calls that name a tool in a string", () => {
  const cases: readonly (readonly [source: string, text: string, args: string])[] = [
    ['await mcp.callTool("files.read", { path: "a" })', "files.read", '{ path: "a" }'],
    ['await mcp.callTool("files", "read", { path: "a" })', "files.read", '{ path: "a" }'],
    ['await callTool({ name: "files.read", arguments: { path } })', "files.read", "{ path }"],
    ["await callTool(`files.read`, args)", "files.read", "args"],
    ['await tools["files.read"]({ path: 1 })', "tools.files.read", "{ path: 1 }"],
    ["await mcp__files__read({ path: 1 })", "mcp__files__read", "{ path: 1 }"],
    ['await client.request({ method: "tools/call", params: { name: "read", arguments: {} } })', "read", "{}"],
    ['await use_tool({ server_name: "files", tool_name: "read", arguments: {} })', "files.read", "{}"],
    ['await files.callTool("read", { path: 1 })', "files.read", "{ path: 1 }"],
    ['await files.call({ name: "read", arguments: { path } })', "files.read", "{ path }"],
    ['await glovebox.call("files.read", {})', "files.read", "{}"],
    ['({ "name": "files.read", "arguments": { "path": "a" } })', "files.read", '{ "path": "a" }'],
    ['[{ "type": "tool_use", "name": "read", "input": {} }]', "read", "{}"],
    ['({ function: { name: "read", arguments: "{\\"path\\": 1}" } })', "read", '{"path": 1}'],
  ];
  for (const [source, text, args] of cases) {
    it(`are found in ${source}`, () => assert.deepEqual(spelledIn(source), [[text, args]]));
  }
});

describe("programs without such calls", () => {
  for (const source of [
    'const callTool = (name) => name; return callTool("files.read")',
    'const tools = { "files.read": () => 1 }; return tools["files.read"]()',
    'if (typeof mcp !== "undefined") return mcp.callTool("files.read", {})',
    'globalThis.callTool = () => 1; return callTool("files.read")',
    'await files.read({ path: "files.read" })',
    'console.log("files.read")',
    'return { name: "files.read", arguments: { path: "a" } }',
    '({ name: "files.read" })',
    "({ total: 1, items: [] })",
    'await glovebox.search("files.read")',
    "await fils.read({ path: 1 })",
    "await files.call({ path: 1 })",
  ]) {
    it(`are left alone: ${source}`, () => assert.deepEqual(spelledIn(source), []));
  }
});
