/**
 * MCP over Streamable HTTP, both eras at one address: requests of 2026-07-28 are independent, older ones have sessions.
 * Host and Origin are checked before these routes, not here.
 */

import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";
import { Hono } from "hono";

import type { Instant } from "../../domain/index.ts";
import type { McpDoor } from "../gateway.ts";
import { toSessionDoor } from "./call-tool.ts";
import { announceChange, createMcpServer } from "./create-mcp-server.ts";
import { openSessions } from "./open-sessions.ts";
import type { SessionLimits } from "./open-sessions.ts";

/** The same for every era, so that no era bypasses the limit. */
export const MCP_HTTP_LIMITS: SessionLimits = Object.freeze({
  sessions: 100,
  idleMs: 30 * 60_000,
  requestBytes: 4 * 1024 * 1024,
});

/** Options that tests set to other values than the product. */
export interface McpRoutesOptions {
  readonly now: () => Instant;
  readonly limits?: SessionLimits;
}

/** Routes to mount, and the function that ends all work behind them. */
export interface McpRoutes {
  readonly routes: Hono;
  close(): Promise<void>;
}

/** Answers `POST`, `GET` and `DELETE` on `/mcp`; other methods get 405. */
export function createMcpRoutes(door: McpDoor, { now, limits = MCP_HTTP_LIMITS }: McpRoutesOptions): McpRoutes {
  const createServer = (): ReturnType<typeof createMcpServer> => createMcpServer(door);
  const createSessionServer = (): ReturnType<typeof createMcpServer> => createMcpServer(toSessionDoor(door));
  const sessions = openSessions({ limits, now, createServer: createSessionServer });
  const bounds = { maxRequestBodySize: limits.requestBytes };
  const modern = createMcpHandler(createServer, { legacy: "reject", ...bounds });

  const stopListening = door.gateway.onToolsChanged(() => {
    for (const server of sessions.servers()) void announceChange(server, door);
    modern.notify.resourcesChanged();
    modern.notify.promptsChanged();
    if (door.gateway.expose !== "code") modern.notify.toolsChanged();
  });

  const routes = new Hono();
  routes.all("/mcp", async ({ req: { raw } }) => {
    const isLegacy = await isLegacyRequest(raw, undefined, bounds);
    return isLegacy ? sessions.fetch(raw) : modern.fetch(raw);
  });
  return {
    routes,
    async close() {
      stopListening();
      await Promise.all([sessions.close(), modern.close()]);
    },
  };
}
