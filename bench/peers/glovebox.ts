/** `glovebox mcp` with everything on: confinement, analysis, policy, the ledger on disk. */

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { openMcpClient } from "./mcp-client.ts";
import { createPrograms, expectAnswer } from "./peer.ts";
import type { Peer } from "./peer.ts";

const SERVER = resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");

const ADAPTER = `import { defineAdapter } from ${JSON.stringify(pathToFileURL(resolve("dist/main.js")).href)};
const input = { type: "object", properties: { message: { type: "string" } }, required: ["message"] };
const echo = { description: "Says it again", input, effect: "read", run: ({ message }) => ({ message }) };
export const bench = defineAdapter({ name: "bench", tools: { echo } });`;

/** Tools in the process that answers, as in the other products. */
export function openGloveboxWithAdapter(folder: string): Promise<Peer> {
  const cwd = join(folder, "glovebox-adapter");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "echo.mjs"), ADAPTER);
  const name = "Glovebox (isolate in a confined process, ledger on disk, tools in the product's process), over stdio";
  return open({ cwd, name, call: 'bench.echo({ message: "x" })', upstreams: { adapters: ["./echo.mjs"] } });
}

/** Tools in a real MCP server, one process further away. */
export function openGloveboxWithServer(folder: string): Promise<Peer> {
  const cwd = join(folder, "glovebox-server");
  mkdirSync(cwd);
  const everything = { command: process.execPath, args: [SERVER, "stdio"] };
  const name = "Glovebox (the same, tools in a server over stdio), over stdio";
  return open({ cwd, name, call: 'everything.echo({ message: "x" })', upstreams: { mcpServers: { everything } } });
}

interface Setup {
  readonly cwd: string;
  readonly name: string;
  readonly call: string;
  readonly upstreams: object;
}

async function open({ cwd, name, call, upstreams }: Setup): Promise<Peer> {
  const programs = createPrograms(call);
  const config = {
    ...upstreams,
    sandbox: { limits: { calls: 1_000 } },
    quotas: { executionsPerMinute: 1_000_000, executionMsPerHour: 1_000_000_000 },
    store: { url: "sqlite:glovebox.db" },
  };
  writeFileSync(join(cwd, "glovebox.config.json"), JSON.stringify(config));
  const client = await openMcpClient(
    spawn(process.execPath, [resolve("bin/glovebox.js"), "mcp", "--config", "glovebox.config.json"], {
      cwd,
      stdio: ["pipe", "pipe", "ignore"],
    }),
  );
  return {
    name,
    tasks: ["nothing", "ten", "hundred"],
    run: async (task) => expectAnswer(task, (await client.call("execute", { code: programs[task] }))["value"]),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
