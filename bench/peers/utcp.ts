/** UTCP's code mode: isolated-vm in the caller's own process, tools there too, no ledger. */

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { createPrograms, expectAnswer } from "./peer.ts";
import type { Peer } from "./peer.ts";

interface CodeMode {
  readonly CodeModeUtcpClient: {
    create(): Promise<{
      registerManual(template: object): Promise<unknown>;
      callToolChain(code: string): Promise<{ readonly result: unknown }>;
      close(): Promise<void>;
    }>;
  };
}

interface DirectCall {
  readonly addFunctionToUtcpDirectCall: (name: string, tool: (...args: unknown[]) => Promise<unknown>) => unknown;
}

const MANUAL = {
  utcp_version: "1.0.0",
  manual_version: "1.0.0",
  tools: [
    {
      name: "echo",
      description: "Says it again",
      inputs: { type: "object", properties: { message: { type: "string" } } },
      outputs: { type: "object", properties: {} },
      tags: [],
      tool_call_template: { call_template_type: "direct-call", callable_name: "benchEcho" },
    },
  ],
};
const PROGRAMS = createPrograms('bench.echo({ message: "x" })');

export async function openUtcp(folder: string): Promise<Peer> {
  const { CodeModeUtcpClient } = await load<CodeMode>(folder, "@utcp/code-mode");
  const { addFunctionToUtcpDirectCall } = await load<DirectCall>(folder, "@utcp/direct-call");
  addFunctionToUtcpDirectCall("benchManual", async () => MANUAL);
  addFunctionToUtcpDirectCall("benchEcho", async (message) => ({ message }));
  const client = await CodeModeUtcpClient.create();
  const registered = { name: "bench", call_template_type: "direct-call", callable_name: "benchManual" };
  await client.registerManual(registered);
  return {
    name: "@utcp/code-mode (isolate and tools in the caller's process), as a library",
    tasks: ["nothing", "ten", "hundred"],
    run: async (task) => expectAnswer(task, (await unheard(() => client.callToolChain(PROGRAMS[task]))).result),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const { log } = console;
let running = 0;

/** Suppresses the lines that it prints for every call. */
async function unheard<Result>(work: () => Promise<Result>): Promise<Result> {
  running += 1;
  console.log = () => undefined;
  try {
    return await work();
  } finally {
    running -= 1;
    if (running === 0) console.log = log;
  }
}

async function load<Exports>(folder: string, name: string): Promise<Exports> {
  const file = createRequire(join(folder, "package.json")).resolve(name);
  return (await import(pathToFileURL(file).href)) as Exports;
}
