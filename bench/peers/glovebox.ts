/** `glovebox mcp` with everything on: confinement, analysis, policy, the ledger on disk, a real server for the calls. */

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { openMcpClient } from "./mcp-client.ts";
import { createPrograms, expectAnswer } from "./peer.ts";
import type { Peer } from "./peer.ts";

const SERVER = resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const PROGRAMS = createPrograms('everything.echo({ message: "x" })');

export async function openGloveboxPeer(folder: string): Promise<Peer> {
  const cwd = join(folder, "glovebox");
  mkdirSync(cwd);
  const config = {
    mcpServers: { everything: { command: process.execPath, args: [SERVER, "stdio"] } },
    sandbox: { limits: { calls: 1_000 } },
    quotas: { executionsPerMinute: 1_000_000, executionMsPerHour: 1_000_000_000 },
    store: { url: "sqlite:glovebox.db" },
  };
  writeFileSync(join(cwd, "glovebox.config.json"), JSON.stringify(config));
  const client = await openMcpClient(
    spawn(process.execPath, [resolve("bin/glovebox.js"), "mcp"], { cwd, stdio: ["pipe", "pipe", "ignore"] }),
  );
  return {
    name: "Glovebox (isolate in a confined process, ledger on disk, tools in a server over stdio), over stdio",
    tasks: ["nothing", "ten", "hundred"],
    run: async (task) => expectAnswer(task, (await client.call("execute", { code: PROGRAMS[task] }))["value"]),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
