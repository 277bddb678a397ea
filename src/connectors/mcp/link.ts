/** One open connection: the handshake is done and the tools have been listed once. */

import { Client, isInputRequiredResult } from "@modelcontextprotocol/client";
import type { StandardSchemaV1 } from "@modelcontextprotocol/client";

import { isJsonObject } from "../../domain/index.ts";
import type { JsonObject, TraceContext } from "../../domain/index.ts";

import type { RemoteTool } from "../connector.ts";
import type { ServerTransport } from "./transport/server-transport.ts";
import type { Era, Handshake } from "./era.ts";
import { followChanges } from "./follow-changes.ts";
import { listTools } from "./messages/parse-tools.ts";
import { findParamHeaders, toParamHeaders } from "./messages/param-headers.ts";
import type { ParamHeader } from "./messages/param-headers.ts";
import type { RawProgress } from "./messages/progress.ts";
import { defineSynthetic } from "./messages/synthetic.ts";

const CLIENT = { name: "glovebox", version: "1" };
const MODERN = "2026-07-28";
/** The longest delay of a timer, about 24 days: the only time limit of a request is its signal. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Accepts every result as it is. The client would otherwise check results with schemas of the server, and a hostile
 * `pattern` can block the gateway's only thread for minutes. Our own parsers check results instead.
 */
const AS_IT_CAME: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "glovebox", validate: (value) => ({ value }) },
};

/** The server answered with a request for input (2026-07-28, multi round-trip requests). */
export class InputRequired extends Error {}

export interface LinkOptions {
  readonly handshake: Handshake;
  /** How long a server may take to answer the probe for its era. */
  readonly probeMs: number;
  /** Called when the server announces other tools. */
  readonly onToolsChanged: () => void;
  /**
   * Called when the connection has ended; requests in progress fail right after. Never called before the link is open.
   */
  readonly onEnd: (link: Link) => void;
  readonly signal: AbortSignal;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (raw: RawProgress) => void;
  /** Sent in `_meta` of a tool call. */
  readonly trace?: TraceContext;
}

export interface Link {
  readonly transport: ServerTransport;
  readonly era: Era;
  /** The negotiated revision of the protocol, such as `2025-11-25`. */
  readonly revision: string;
  readonly tools: readonly RemoteTool[];
  listTools(signal: AbortSignal): Promise<readonly RemoteTool[]>;
  /** Resolves with the result as the server sent it. Rejects with `InputRequired` if that is a request for input. */
  ask(method: string, params: JsonObject, options: AskOptions): Promise<unknown>;
  callTool(name: string, args: JsonObject, options: AskOptions): Promise<unknown>;
  /** Resolves when no request is in progress. */
  untilIdle(): Promise<void>;
}

/** Starts the transport, does the handshake and lists the tools. On failure the caller must close the transport. */
export async function openLink(transport: ServerTransport, options: LinkOptions): Promise<Link> {
  const { signal, onEnd, onToolsChanged } = options;
  const client = createClient(options);
  client.setNotificationHandler("notifications/tools/list_changed", () => onToolsChanged());
  await client.connect(transport, { signal, timeout: NO_TIMEOUT_MS });
  const ended = new AbortController();
  await watchTools(client, options, ended.signal);
  const headers = new Map<string, readonly ParamHeader[]>();
  const list = (listSignal: AbortSignal): Promise<readonly RemoteTool[]> => listOver(client, headers, listSignal);
  const link = createLink(client, { transport, tools: await list(signal), list, headers });
  const onclose = (): void => {
    ended.abort();
    onEnd(link);
  };
  Object.assign(client, { onclose });
  if (!client.transport) throw new Error("The connection ended while it was opened");
  return link;
}

function createClient({ handshake, probeMs }: LinkOptions): Client {
  const mode = { ask: "auto", legacy: "legacy", modern: { pin: MODERN } } as const;
  return new Client(CLIENT, {
    capabilities: {},
    versionNegotiation: { mode: mode[handshake], probe: { timeoutMs: probeMs } },
  });
}

/** Subscribes before the first listing, so that no change is missed in between. */
async function watchTools(client: Client, options: LinkOptions, signal: AbortSignal): Promise<void> {
  const isAnnouncing = client.getServerCapabilities()?.tools?.listChanged === true;
  if (client.getProtocolEra() !== "modern" || !isAnnouncing) return;
  await followChanges(client, { signal, ackMs: options.probeMs, onGap: options.onToolsChanged });
}

interface LinkParts {
  readonly transport: ServerTransport;
  readonly tools: readonly RemoteTool[];
  readonly list: Link["listTools"];
  readonly headers: ReadonlyMap<string, readonly ParamHeader[]>;
}

function createLink(client: Client, { transport, tools, list, headers }: LinkParts): Link {
  const requests = new Set<Promise<unknown>>();
  const track = (request: Promise<unknown>): Promise<unknown> => {
    const settled = request.catch(() => undefined).finally(() => requests.delete(settled));
    requests.add(settled);
    return request;
  };
  return {
    transport,
    tools,
    era: client.getProtocolEra() ?? "legacy",
    revision: client.getNegotiatedProtocolVersion() ?? "",
    listTools: list,
    ask: (method, params, options) => track(ask(client, { method, params }, options)),
    callTool: (name, args, options) => {
      const extra = toParamHeaders(headers.get(name) ?? [], args);
      const meta = options.trace && { _meta: { ...options.trace } };
      const request = { method: "tools/call", params: { name, arguments: args, ...meta } };
      return track(ask(client, request, { ...options, headers: extra }));
    },
    async untilIdle() {
      await Promise.all(requests);
    },
  };
}

/** A server without the tools capability has none; listing would be an error. */
async function listOver(
  client: Client,
  headers: Map<string, readonly ParamHeader[]>,
  signal: AbortSignal,
): Promise<readonly RemoteTool[]> {
  const offered = client.getServerCapabilities();
  const offers = { resources: isJsonObject(offered?.resources), prompts: isJsonObject(offered?.prompts) };
  if (!isJsonObject(offered?.tools)) return defineSynthetic(offers, []);
  const listed = await listTools((params) => ask(client, { method: "tools/list", params }, { signal }));
  const usable = carriesHeaders(client) ? listed.filter((tool) => learnHeaders(tool, headers)) : listed;
  return [...usable, ...defineSynthetic(offers, listed)];
}

function carriesHeaders(client: Client): boolean {
  return client.getProtocolEra() === "modern" && client.transport?.hasPerRequestStream === true;
}

/** False for a tool that must not be offered over HTTP, because its header marks are invalid (2026-07-28). */
function learnHeaders({ name, input }: RemoteTool, headers: Map<string, readonly ParamHeader[]>): boolean {
  const found = findParamHeaders(input);
  headers.set(name, found ?? []);
  return found !== undefined;
}

interface LinkRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** Cancels by the means of the protocol when the signal fires. The reason of the signal stays in the gateway. */
async function ask(
  client: Client,
  { method, params }: LinkRequest,
  options: AskOptions & { readonly headers?: Readonly<Record<string, string>> },
): Promise<unknown> {
  const { signal, onProgress, headers = {} } = options;
  const cancelling = new AbortController();
  const cancel = (): void => cancelling.abort("cancelled");
  signal.throwIfAborted();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const result = await client.request({ method, params: { ...params } }, AS_IT_CAME, {
      signal: cancelling.signal,
      timeout: NO_TIMEOUT_MS,
      allowInputRequired: true,
      ...(onProgress && { onprogress: onProgress }),
      ...(Object.keys(headers).length > 0 && { headers: { ...headers } }),
    });
    if (isInputRequiredResult(result)) throw new InputRequired();
    return result;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
