/** Executor: QuickJS in the product's own process, without confinement; tools in the same server as Glovebox's. */

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { SERVER } from "./glovebox.ts";
import { openMcpClient } from "./mcp-client.ts";
import type { McpClient } from "./mcp-client.ts";
import type { Product } from "./peer.ts";

const SET_UP = [
  `return await tools.executor.mcp.addServer({ transport: "stdio", name: "probe", slug: "probe", command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(SERVER)}] })`,
  'return await tools.executor.coreTools.connections.create({ owner: "user", name: "main", integration: "probe", template: "none", from: { provider: "file", id: "none" } })',
];

export const EXECUTOR: Product = {
  name: "Executor 1.5.9, tools in a server",
  dialect: { call: (tool, args) => `tools.probe.user.main.${tool}(${args})` },
  async prepare(folder) {
    const home = homeOf(folder);
    mkdirSync(home);
    writeFileSync(join(home, "executor.jsonc"), "{}");
    await using client = await start(folder);
    for (const code of SET_UP) await runApproved(client, code);
  },
  async open(folder) {
    const client = await start(folder);
    return {
      pid: client.pid,
      run: async (code) => (await client.call("execute", { code }))["result"],
      [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
    };
  },
};

function homeOf(folder: string): string {
  return join(folder, "executor-home");
}

function start(folder: string): Promise<McpClient> {
  const home = homeOf(folder);
  const binary = join(folder, "node_modules/executor-linux-x64/bin/executor");
  const env = { ...process.env, HOME: home };
  return openMcpClient(spawn(binary, ["mcp", "--scope", home], { cwd: home, env, stdio: ["pipe", "pipe", "ignore"] }));
}

/** Runs a program and accepts what it is asked to confirm. */
async function runApproved(client: McpClient, code: string): Promise<void> {
  let answer = await client.call("execute", { code });
  while (answer["status"] === "waiting_for_interaction") {
    const executionId = answer["executionId"];
    answer = await client.call("resume", { executionId, action: "accept", content: "{}" });
  }
  if (answer["status"] !== "completed") throw new Error(`Executor cannot be set up: ${JSON.stringify(answer)}`);
}
