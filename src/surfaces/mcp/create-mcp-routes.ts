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
const MCP_HTTP_LIMITS: SessionLimits = Object.freeze({
  sessions: 100,
  idleMs: 30 * 60_000,
  requestBytes: 4 * 1024 * 1024,
});

/** Answers `POST`, `GET` and `DELETE` on `/mcp`; other methods get 405. Closing ends all work behind the routes. */
export function createMcpRoutes(
  door: McpDoor,
  { now, limits = MCP_HTTP_LIMITS }: { readonly now: () => Instant; readonly limits?: SessionLimits },
) {
  const sessions = openSessions({ limits, now, createServer: () => createMcpServer(toSessionDoor(door)) });
  const bounds = { maxRequestBodySize: limits.requestBytes };
  const modern = createMcpHandler(() => createMcpServer(door), { legacy: "reject", ...bounds });

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
    async close(): Promise<void> {
      stopListening();
      await Promise.all([sessions.close(), modern.close()]);
    },
  };
}
