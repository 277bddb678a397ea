/** One MCP server instance for one connection or session. It holds no state between requests. */

import { Server } from "@modelcontextprotocol/server";
import type { ResultTypeMap, ServerContext, Tool } from "@modelcontextprotocol/server";

import { defined, isJsonObject, parseTraceContext } from "../../domain/index.ts";
import type { McpDoor } from "../gateway.ts";
import { callTool } from "./call-tool.ts";
import { INSTRUCTIONS, RESUME, TOOL_DEFINITIONS } from "./definitions.ts";
import { findPerson, findRetry } from "./elicitation/person.ts";
import { getPrompt, listPrompts, listResources, listTemplates, readResource } from "./pass-through.ts";
import { definePlainTool, namePlainTools } from "./plain-tools.ts";
import { createReporter } from "./report-progress.ts";

/** The definitions of Glovebox change only with a release, so clients may cache them for an hour (2026-07-28 cache fields). */
const STABLE_MS = 3_600_000;
/** Tools of upstreams may change at any time; connected clients are notified. */
const CHANGING_MS = 60_000;

/**
 * Serves both protocol eras; the transport decides which one. All executions of the client are cancelled when `gone`
 * fires, also those of requests that are read later.
 */
export function createMcpServer(door: McpDoor, gone?: AbortSignal): Server {
  const isStable = door.gateway.expose === "code";
  const changing = { ttlMs: CHANGING_MS, cacheScope: "private" } as const;
  const server = new Server(
    { name: "glovebox", title: "Glovebox", version: door.gateway.health().version },
    {
      capabilities: {
        tools: isStable ? {} : { listChanged: true },
        resources: { listChanged: true },
        prompts: { listChanged: true },
      },
      ...defined({ instructions: door.gateway.expose === "tools" ? undefined : INSTRUCTIONS }),
      cacheHints: {
        "tools/list": isStable ? { ttlMs: STABLE_MS, cacheScope: "public" } : changing,
        "resources/list": changing,
        "resources/templates/list": changing,
        "prompts/list": changing,
      },
    },
  );
  server.setRequestHandler("tools/list", async () => ({ tools: await listTools(door) }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const { mcpReq } = context;
    return callTool(door, {
      name: params.name,
      rawArguments: params.arguments,
      signal: gone ? AbortSignal.any([mcpReq.signal, gone]) : mcpReq.signal,
      ...defined({
        onEvent: watchProgress(mcpReq),
        // The keys that the protocol reserves for W3C Trace Context.
        trace: parseTraceContext(mcpReq._meta),
        person: findPerson(server, context),
        retry: findRetry(context),
      }),
    });
  });
  passThrough(server, door);
  return server;
}

/** Notifies a connected client that lists have changed. Ignores a client that is gone. */
export async function announceChange(server: Server, { gateway }: McpDoor): Promise<void> {
  const sent = [server.sendResourceListChanged(), server.sendPromptListChanged()];
  if (gateway.expose !== "code") sent.push(server.sendToolListChanged());
  await Promise.allSettled(sent);
}

async function listTools({ gateway, principal }: McpDoor): Promise<Tool[]> {
  const own = gateway.expose === "tools" ? [RESUME] : TOOL_DEFINITIONS;
  if (gateway.expose === "code") return [...own];
  const plain = namePlainTools(await gateway.takeSnapshot(principal, "some"));
  return [...own, ...[...plain].map(([name, tool]) => definePlainTool(name, tool))];
}

function watchProgress({ _meta, notify }: ServerContext["mcpReq"]) {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return createReporter({
    progressToken,
    now: () => performance.now(),
    send: (params) => notify({ method: "notifications/progress", params: { ...params } }),
  });
}

/** The bridge has parsed what servers answered; this only builds the results of the protocol. */
function passThrough(server: Server, door: McpDoor): void {
  server.setRequestHandler("resources/list", async (_, { mcpReq }) =>
    trustResult("resources/list", { resources: await listResources(door, mcpReq.signal) }),
  );
  server.setRequestHandler("resources/templates/list", async (_, { mcpReq }) =>
    trustResult("resources/templates/list", { resourceTemplates: await listTemplates(door, mcpReq.signal) }),
  );
  server.setRequestHandler("resources/read", async ({ params }, { mcpReq }) =>
    trustResult("resources/read", await readResource(door, params.uri, mcpReq.signal)),
  );
  server.setRequestHandler("prompts/list", async (_, { mcpReq }) =>
    trustResult("prompts/list", { prompts: await listPrompts(door, mcpReq.signal) }),
  );
  server.setRequestHandler("prompts/get", async ({ params }, { mcpReq }) => {
    const args = isJsonObject(params.arguments) ? params.arguments : {};
    return trustResult("prompts/get", await getPrompt(door, { name: params.name, args }, mcpReq.signal));
  });
}

/** `pass-through.ts` built these objects field by field; the client checks the content of a server. */
function trustResult<Method extends keyof ResultTypeMap>(_method: Method, built: object): ResultTypeMap[Method] {
  return built as ResultTypeMap[Method];
}
