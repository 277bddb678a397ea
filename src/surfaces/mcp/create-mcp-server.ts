/** One MCP server instance for one connection or session; it holds no state of its own between requests. */

import { Server } from "@modelcontextprotocol/server";

import { callTool } from "./call-tool.ts";
import type { McpDoor } from "./call-tool.ts";
import { INSTRUCTIONS, TOOL_DEFINITIONS } from "./definitions.ts";

/** The definitions change with a release only, so a client may keep them for an hour (2026-07-28 cache fields). */
const LIST_TTL_MS = 3_600_000;

/** Serves both protocol eras; which one is decided by the transport that it is connected to. */
export function createMcpServer(door: McpDoor): Server {
  const server = new Server(
    { name: "glovebox", title: "Glovebox", version: door.gateway.health().version },
    {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      cacheHints: { "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "public" } },
    },
  );
  server.setRequestHandler("tools/list", () => ({ tools: [...TOOL_DEFINITIONS] }));
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) =>
    callTool(door, { name: params.name, rawArguments: params.arguments, signal: mcpReq.signal }),
  );
  return server;
}
