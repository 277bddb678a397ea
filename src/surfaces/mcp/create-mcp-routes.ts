/**
 * MCP over Streamable HTTP, both eras at one address: requests of 2026-07-28 are independent, older ones have sessions.
 * Host and Origin are checked before these routes, not here.
 */

import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";
import { Hono } from "hono";

import { parseJson } from "../../domain/index.ts";
import type { Instant, Json } from "../../domain/index.ts";
import type { McpDoor } from "../gateway.ts";
import { toSessionDoor } from "./call-tool.ts";
import { announceChange, createMcpServer } from "./create-mcp-server.ts";
import { openSessions, refuse } from "./open-sessions.ts";
import type { SessionLimits } from "./open-sessions.ts";
import { createBodyReader } from "./read-body.ts";
import type { BodyLimits } from "./read-body.ts";

/** The same for every era, so that no era bypasses a limit. */
const MCP_HTTP_LIMITS: SessionLimits & BodyLimits = Object.freeze({
  sessions: 100,
  idleMs: 30 * 60_000,
  requestBytes: 4 * 1024 * 1024,
  unfinishedBytes: 64 * 1024 * 1024,
});

/** Answers `POST`, `GET` and `DELETE` on `/mcp`; other methods get 405. Closing ends all work behind the routes. */
export function createMcpRoutes(
  door: McpDoor,
  { now, limits = MCP_HTTP_LIMITS }: { readonly now: () => Instant; readonly limits?: SessionLimits & BodyLimits },
) {
  // A client can open another session at any time, and its model remembers what it has read.
  const createServer = () => createMcpServer(toSessionDoor(door, { passesLabels: true }));
  const sessions = openSessions({ limits, now, createServer });
  const modern = createMcpHandler(() => createMcpServer(door), { legacy: "reject" });
  const readBody = createBodyReader(limits);

  const stopListening = door.gateway.onToolsChanged(() => {
    for (const server of sessions.servers()) void announceChange(server, door);
    modern.notify.resourcesChanged();
    modern.notify.promptsChanged();
    if (door.gateway.expose !== "code") modern.notify.toolsChanged();
  });

  const route = async (request: Request, parsedBody?: Json): Promise<Response> => {
    const isLegacy = await isLegacyRequest(request, parsedBody);
    return isLegacy ? sessions.fetch(request, parsedBody) : modern.fetch(request, { parsedBody });
  };
  const routes = new Hono();
  routes.post("/mcp", async ({ req: { raw } }) => {
    const text = await readBody(raw);
    if (text === undefined) return refuse(413, -32_000, `A request body has at most ${limits.requestBytes} bytes`);
    const parsedBody = parseJson(text);
    if (parsedBody === undefined) return refuse(400, -32_700, "Parse error: the request body is not JSON");
    return route(raw, parsedBody);
  });
  routes.all("/mcp", ({ req: { raw } }) => route(raw));
  return {
    routes,
    async close(): Promise<void> {
      stopListening();
      await Promise.all([sessions.close(), modern.close()]);
    },
  };
}
