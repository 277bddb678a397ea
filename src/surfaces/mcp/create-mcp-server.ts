/** One MCP server instance for one connection or session. It holds no state between requests. */

import { Server } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Implementation, ResultTypeMap, Tool } from "@modelcontextprotocol/server";

import { nameNamespaces } from "../../catalog/index.ts";
import { defined, isJsonObject, parseTraceContext } from "../../domain/index.ts";
import type { McpDoor } from "../gateway.ts";
import { callTool } from "./call-tool.ts";
import type { ToolAnswer } from "./call-tool.ts";
import { RESUME, TOOL_DEFINITIONS, writeInstructions } from "./definitions.ts";
import { findPerson, findRetry } from "./elicitation/person.ts";
import type { Retry, SendElicitation } from "./elicitation/person.ts";
import { getPrompt, listPrompts, listResources, listTemplates, readResource } from "./pass-through.ts";
import { definePlainTool, namePlainTools } from "./plain-tools.ts";
import { SKILLS_EXTENSION, getSkill, listSkills } from "./serve-skills.ts";
import { createReporter } from "./report-progress.ts";
import type { ProgressParams } from "./report-progress.ts";

/** The definitions of Glovebox change only with a release, so clients may cache them for an hour (2026-07-28 cache fields). */
const STABLE_MS = 3_600_000;
/** Tools of upstreams may change at any time; connected clients are notified. */
const CHANGING_MS = 60_000;
const MAX_URI = 8_192;

/** How Glovebox names itself to clients. */
export function describeServer({ gateway }: McpDoor): Implementation {
  return { name: "glovebox", title: "Glovebox", version: gateway.health().version };
}

/** The names of all configured servers as programs write them, connected or not: the same for the same configuration. */
function instruct({ gateway, principal: { access } }: McpDoor): string {
  const names = [...nameNamespaces(gateway.health().upstreams.map(({ name }) => name))];
  return writeInstructions(
    names.flatMap(([server, name]) => ((access?.servers?.includes(server) ?? true) ? [name] : [])),
  );
}

interface ServerOptions {
  /** All executions of the client are cancelled when it fires, also those of requests that are read later. */
  readonly gone?: AbortSignal;
  /** Called when a call was answered, with the envelope of its request (2026-07-28), which the SDK has checked. */
  readonly onAnswered?: (server: Server, envelope: unknown) => void;
}

/** Serves both protocol eras; the transport decides which one. */
export function createMcpServer(door: McpDoor, { gone, onAnswered }: ServerOptions = {}): Server {
  const isStable = door.gateway.expose === "code";
  const changing = { ttlMs: CHANGING_MS, cacheScope: "private" } as const;
  const server = new Server(describeServer(door), {
    capabilities: {
      tools: isStable ? {} : { listChanged: true },
      resources: { listChanged: true },
      prompts: { listChanged: true },
      ...(door.gateway.skillFiles && { extensions: { [SKILLS_EXTENSION]: {} } }),
    },
    ...defined({ instructions: door.gateway.expose === "tools" ? undefined : instruct(door) }),
    cacheHints: {
      "tools/list": isStable ? { ttlMs: STABLE_MS, cacheScope: "public" } : changing,
      "resources/list": changing,
      "resources/templates/list": changing,
      "prompts/list": changing,
    },
  });
  server.setRequestHandler("tools/list", async () => ({ tools: await listTools(door) }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const { mcpReq } = context;
    const answer = await answerCall(door, server, params, {
      rawEnvelope: mcpReq.envelope,
      signal: gone ? AbortSignal.any([mcpReq.signal, gone]) : mcpReq.signal,
      report: (progress) => mcpReq.notify({ method: "notifications/progress", params: { ...progress } }),
      send: (request, options) => mcpReq.send(request, options),
      ...defined({ retry: findRetry(context) }),
    });
    onAnswered?.(server, mcpReq.envelope);
    return answer;
  });
  passThrough(server, door);
  if (door.gateway.skillFiles) serveSkills(server, door);
  return server;
}

/** The parameters of a `tools/call`. The arguments are unchecked. */
export interface CallParams {
  readonly name: string;
  readonly arguments?: unknown;
  readonly _meta?: { readonly progressToken?: string | number | undefined } | undefined;
}

/** What a call needs of its connection. */
interface CallConnection {
  readonly rawEnvelope: unknown;
  readonly signal: AbortSignal;
  readonly report: (progress: ProgressParams) => Promise<void>;
  readonly send: SendElicitation;
  readonly retry?: Retry;
}

/** Answers one `tools/call`, whichever way it came. */
export function answerCall(
  door: McpDoor,
  server: Server,
  { name, arguments: rawArguments, _meta }: CallParams,
  { rawEnvelope, signal, report, send, retry }: CallConnection,
): Promise<ToolAnswer> {
  const progressToken = _meta?.progressToken;
  const isWatched = progressToken !== undefined;
  return callTool(door, {
    name,
    rawArguments,
    signal,
    ...defined({
      onEvent: isWatched ? createReporter({ progressToken, now: () => performance.now(), send: report }) : undefined,
      // The keys that the protocol reserves for W3C Trace Context.
      trace: parseTraceContext(_meta),
      person: findPerson(server, rawEnvelope, send),
      retry,
    }),
  });
}

/** Notifies a connected client that lists have changed. Ignores a client that is gone. */
export async function announceChange(server: Server, { gateway }: Pick<McpDoor, "gateway">): Promise<void> {
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

/** The extension is not part of the SDK, so its handlers have schemas of their own. */
function serveSkills(server: Server, door: McpDoor): void {
  const complete = { resultType: "complete", ttlMs: CHANGING_MS, cacheScope: "private" } as const;
  const params = z.looseObject({ cursor: z.string().max(MAX_URI).optional() }).default({});
  server.setRequestHandler("skills/list", { params }, async ({ cursor }, { mcpReq }) => ({
    ...(await listSkills(door, cursor, mcpReq.signal)),
    ...complete,
  }));
  const named = z.looseObject({ uri: z.string().max(MAX_URI) });
  server.setRequestHandler("skills/get", { params: named }, async ({ uri }, { mcpReq }) => ({
    ...(await getSkill(door, uri, mcpReq.signal)),
    ...complete,
  }));
}

/** `pass-through.ts` built these objects field by field; the client checks the content of a server. */
function trustResult<Method extends keyof ResultTypeMap>(_method: Method, built: object): ResultTypeMap[Method] {
  return built as ResultTypeMap[Method];
}
