/** The demo upstreams without a configuration: two servers that need no network. */

import { createRequire } from "node:module";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

import { parseConnectorId } from "../../domain/index.ts";
import type { ConnectorId, ServerSettings } from "../../domain/index.ts";

const START_MS = 30_000;

/** Lets a first program work without a configuration. `node` runs the servers. */
export function findDemoUpstreams(node: string, cwd: string): ReadonlyMap<ConnectorId, ServerSettings> {
  const inventory = new URL(`./inventory${extname(import.meta.url)}`, import.meta.url);
  const servers = new Map([["inventory", [fileURLToPath(inventory)]]]);
  const everything = findEverything();
  if (everything !== undefined) servers.set("everything", [everything, "stdio"]);
  const upstreams = new Map<ConnectorId, ServerSettings>();
  for (const [name, args] of servers) {
    const id = parseConnectorId(name);
    if (!id) continue;
    upstreams.set(id, { transport: "stdio", command: node, args, env: {}, cwd, startMs: START_MS, start: "eager" });
  }
  return upstreams;
}

/** The reference server of MCP, if it is installed; production installs do not have it. */
function findEverything(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
  } catch {
    return undefined;
  }
}
