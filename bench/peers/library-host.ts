/**
 * The process that holds a library: `library-host.ts FOLDER LIBRARY`. It reads one JSON line a program and writes one a
 * result. The tools are functions in this process; nothing is confined and nothing is recorded.
 */

import { writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

type RunCode = (code: string) => Promise<unknown>;

const [folder = "", library = ""] = process.argv.slice(2);
const open: Readonly<Record<string, () => Promise<RunCode>>> = { utcp: openUtcp, tanstack: openTanstack };

// The libraries print for every call; standard output belongs to the results.
console.log = console.info = console.warn = () => undefined;
const run = await open[library]?.();
if (!run) throw new Error(`${library} is not a known library.`);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, code } = JSON.parse(line) as { readonly id: number; readonly code: string };
  const answer = (fields: object): void => void writeSync(1, `${JSON.stringify({ id, ...fields })}\n`);
  if (code === "") answer({});
  else
    run(code).then(
      (value) => answer({ value }),
      (thrown: unknown) => answer({ error: String(thrown) }),
    );
});

async function openUtcp(): Promise<RunCode> {
  interface Client {
    registerManual(template: object): Promise<unknown>;
    callToolChain(code: string): Promise<{ readonly result: unknown }>;
  }
  const { CodeModeUtcpClient } = await load<{ CodeModeUtcpClient: { create(): Promise<Client> } }>("@utcp/code-mode");
  type AddTool = (name: string, tool: (...args: never[]) => Promise<unknown>) => unknown;
  const { addFunctionToUtcpDirectCall: add } = await load<{ addFunctionToUtcpDirectCall: AddTool }>(
    "@utcp/direct-call",
  );
  const tool = (name: string, properties: object): object => ({
    name,
    description: name,
    inputs: { type: "object", properties },
    outputs: { type: "object", properties: {} },
    tags: [],
    tool_call_template: { call_template_type: "direct-call", callable_name: name },
  });
  const tools = [tool("echo", { message: { type: "string" } }), tool("wait", { ms: { type: "integer" } })];
  add("manual", async () => ({ utcp_version: "1.0.0", manual_version: "1.0.0", tools }));
  add("echo", async (message: string) => ({ message }));
  add("wait", async (ms: number) => (await sleep(ms), { ms }));
  const client = await CodeModeUtcpClient.create();
  await client.registerManual({ name: "bench", call_template_type: "direct-call", callable_name: "manual" });
  return async (code) => (await client.callToolChain(code)).result;
}

async function openTanstack(): Promise<RunCode> {
  interface Tool {
    execute(input: object): Promise<{ readonly success: boolean; readonly result?: unknown; readonly error?: object }>;
  }
  interface Definition {
    server(run: (input: never) => Promise<unknown>): Tool;
  }
  const { toolDefinition } = await load<{ toolDefinition: (definition: object) => Definition }>("@tanstack/ai");
  const { createCodeModeTool } = await load<{ createCodeModeTool: (options: object) => Tool }>(
    "@tanstack/ai-code-mode",
  );
  const { createNodeIsolateDriver } = await load<{ createNodeIsolateDriver: () => object }>(
    "@tanstack/ai-isolate-node",
  );
  const input = (properties: object): object => ({
    type: "object",
    properties,
    required: Object.keys(properties),
  });
  const echo = { name: "echo", description: "Says it again", inputSchema: input({ message: { type: "string" } }) };
  const wait = { name: "wait", description: "Waits", inputSchema: input({ ms: { type: "integer" } }) };
  const tools = [
    toolDefinition(echo).server(async (args) => args),
    toolDefinition(wait).server(async ({ ms }: { readonly ms: number }) => (await sleep(ms), { ms })),
  ];
  const tool = createCodeModeTool({ driver: createNodeIsolateDriver(), tools });
  return async (typescriptCode) => {
    const { success, result, error } = await tool.execute({ typescriptCode });
    if (!success) throw new Error(JSON.stringify(error));
    return result;
  };
}

async function load<Exports>(name: string): Promise<Exports> {
  const { load: loadThere } = await import(pathToFileURL(join(folder, "load.mjs")).href);
  return loadThere(name);
}
