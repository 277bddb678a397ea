/**
 * Executor: QuickJS in the product's own process, without confinement. Its tools need a database that must be filled by
 * hand.
 */

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { openMcpClient } from "./mcp-client.ts";
import { createPrograms, expectAnswer } from "./peer.ts";
import type { Peer } from "./peer.ts";

const PROGRAMS = createPrograms("");

export async function openExecutor(folder: string): Promise<Peer> {
  const home = join(folder, "executor-home");
  mkdirSync(home);
  writeFileSync(join(home, "executor.jsonc"), "{}");
  const binary = join(folder, "node_modules/executor-linux-x64/bin/executor");
  const client = await openMcpClient(
    spawn(binary, ["mcp", "--scope", home], {
      cwd: home,
      env: { ...process.env, HOME: home },
      stdio: ["pipe", "pipe", "ignore"],
    }),
  );
  return {
    name: "Executor (QuickJS in the product's process), over stdio",
    tasks: ["nothing"],
    run: async (task) => expectAnswer(task, (await client.call("execute", { code: PROGRAMS[task] }))["result"]),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
