/** The demo upstream without a configuration: a server of this package that needs no network. */

import { extname } from "node:path";
import { fileURLToPath } from "node:url";

import { parseConnectorId } from "../../domain/index.ts";
import type { ConnectorId, ServerSettings } from "../../domain/index.ts";

const START_MS = 30_000;

/** Elsewhere the demo runs without confinement: it is a part of this package. */
function isConfinable(): boolean {
  return process.platform === "linux" && ["x64", "arm64"].includes(process.arch);
}

/** Lets a first program work without a configuration. `node` runs the server. */
export function findDemoUpstreams(node: string, cwd: string): ReadonlyMap<ConnectorId, ServerSettings> {
  const inventory = new URL(`./inventory${extname(import.meta.url)}`, import.meta.url);
  const id = parseConnectorId("inventory");
  if (!id) return new Map();
  const args = [fileURLToPath(inventory)];
  const confine = { level: "best", limits: {}, files: { read: [], write: [] } } as const;
  const server = { transport: "stdio", command: node, args, env: {}, cwd, startMs: START_MS, start: "eager" } as const;
  return new Map([[id, isConfinable() ? { ...server, confine } : server]]);
}
