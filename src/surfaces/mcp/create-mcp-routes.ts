/**
 * MCP over Streamable HTTP, both eras at one address: requests of 2026-07-28 are independent, older ones have sessions.
 * Host and Origin are checked before these routes, not here.
 */

import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant, Json, Principal } from "../../domain/index.ts";
import { readJson } from "../../text/index.ts";
import { runInSlices } from "../../timing/index.ts";
import type { McpCaller, McpHandler, SharedDoor } from "../gateway.ts";
import { toSessionDoor } from "./call-tool.ts";
import { announceChange, createMcpServer } from "./create-mcp-server.ts";
import { endWithCaller, isListening } from "./end-with-caller.ts";
import { findNeededScopes } from "./needed-scopes.ts";
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

export function createMcpRoutes(
  door: SharedDoor,
  { now, limits = MCP_HTTP_LIMITS }: { readonly now: () => Instant; readonly limits?: SessionLimits & BodyLimits },
): McpHandler {
  // A client can open another session at any time, and its model remembers what it has read.
  const createServer = (principal: Principal) =>
    createMcpServer(toSessionDoor({ ...door, principal }, { passesLabels: true }));
  const sessions = openSessions({ limits, now, createServer });
  const callers = new WeakMap<object, Principal>();
  const modern = createMcpHandler(
    ({ authInfo = {} }) => {
      const principal = callers.get(authInfo);
      if (!principal) throw new GloveboxError("INTERNAL_BUG", "A request to /mcp has no principal");
      return createMcpServer({ ...door, principal });
    },
    { legacy: "reject" },
  );
  const readBody = createBodyReader(limits);

  const stopListening = door.gateway.onToolsChanged(() => {
    for (const server of sessions.servers()) void announceChange(server, door);
    modern.notify.resourcesChanged();
    modern.notify.promptsChanged();
    if (door.gateway.expose !== "code") modern.notify.toolsChanged();
  });

  const route = async (request: Request, principal: Principal, parsedBody?: Json): Promise<Response> => {
    const isLegacy = await isLegacyRequest(request, parsedBody);
    if (isLegacy) return sessions.fetch(request, principal, parsedBody);
    const authInfo = { token: "", clientId: principal.id, scopes: [] };
    callers.set(authInfo, principal);
    return modern.fetch(request, { parsedBody, authInfo });
  };
  const follow = async (
    request: Request,
    principal: Principal,
    caller: McpCaller | undefined,
    parsedBody?: Json,
  ): Promise<Response> => {
    const response = await route(request, principal, parsedBody);
    return caller && isListening(request.method, parsedBody)
      ? endWithCaller(response, () => caller.isValid())
      : response;
  };
  return {
    async handle(request, principal, caller) {
      if (request.method !== "POST") return follow(request, principal, caller);
      const text = await readBody(request);
      if (text === undefined) return refuse(413, -32_000, `A request body has at most ${limits.requestBytes} bytes`);
      const parsedBody = await runInSlices(readJson(text));
      if (parsedBody === undefined) return refuse(400, -32_700, "Parse error: the request body is not JSON");
      caller?.admit(findNeededScopes(parsedBody));
      return follow(request, principal, caller, parsedBody);
    },
    async close(): Promise<void> {
      stopListening();
      await Promise.all([sessions.close(), modern.close()]);
    },
  };
}
