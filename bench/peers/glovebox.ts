/** `glovebox mcp` with everything on: confinement, analysis, type check, policy, the ledger on disk. */

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { openMcpClient } from "./mcp-client.ts";
import type { Product } from "./peer.ts";

/** Answers MCP without a package, so that the figures are the gateway's and not the server's. */
export const SERVER = resolve("test/fixtures/servers/probe-server.mjs");

const ADAPTER = `import { defineAdapter } from ${JSON.stringify(pathToFileURL(resolve("dist/main.js")).href)};
const object = (properties) => ({ type: "object", properties, required: Object.keys(properties) });
const tools = {
  echo: { description: "Says it again", input: object({ message: { type: "string" } }), effect: "read", run: (args) => args },
  wait: {
    description: "Waits",
    input: object({ ms: { type: "integer" } }),
    effect: "read",
    run: ({ ms }) => new Promise((done) => setTimeout(done, ms, { ms })),
  },
};
export const probe = defineAdapter({ name: "probe", tools });`;

/** Tools in a real MCP server, one process further away. */
export const GLOVEBOX: Product = describe("Glovebox, tools in a server", {
  mcpServers: { probe: { command: process.execPath, args: [SERVER] } },
});

/** Tools in the process that answers, as in the other products. */
export const GLOVEBOX_NEAR: Product = describe("Glovebox, tools in its process", { adapters: ["./tools.mjs"] });

function describe(name: string, upstreams: object): Product {
  const placeOf = (folder: string): string => join(folder, name.replaceAll(/\W+/g, "-"));
  return {
    name,
    dialect: { call: (tool, args) => `probe.${tool}(${args})` },
    async prepare(folder) {
      const cwd = placeOf(folder);
      mkdirSync(cwd);
      writeFileSync(join(cwd, "tools.mjs"), ADAPTER);
      const config = {
        ...upstreams,
        sandbox: { limits: { calls: 1_000 } },
        quotas: { executionsPerMinute: 1_000_000, executionMsPerHour: 1_000_000_000 },
        store: { url: "sqlite:glovebox.db" },
      };
      writeFileSync(join(cwd, "glovebox.config.json"), JSON.stringify(config));
    },
    async open(folder) {
      const args = [resolve("bin/glovebox.js"), "mcp", "--config", "glovebox.config.json"];
      const client = await openMcpClient(
        spawn(process.execPath, args, { cwd: placeOf(folder), stdio: ["pipe", "pipe", "ignore"] }),
      );
      return {
        pid: client.pid,
        run: async (code) => (await client.call("execute", { code }))["value"],
        [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
      };
    },
  };
}
