/** One established connection: the handshake is done and the tools have been listed once. */

import { Client } from "@modelcontextprotocol/client";
import type { StandardSchemaV1 } from "@modelcontextprotocol/client";

import { isJsonObject } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";

import type { RemoteTool } from "../connector.ts";
import { listTools } from "./list-tools.ts";
import type { Wire } from "../wire/wire.ts";

const CLIENT = { name: "glovebox", version: "1" };
/** The longest that a timer can wait, about 24 days: the only time limit of a request is its signal. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Lets every result pass as it came. The client would otherwise check results with schemas that the server wrote, and
 * a hostile `pattern` in one can hold the gateway's only thread for minutes; our own parsers look at them instead.
 */
const AS_IT_CAME: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "glovebox", validate: (value) => ({ value }) },
};

export interface LinkEvents {
  /** The server says that its tools are others now. */
  readonly onToolsChanged: () => void;
  /** The connection has ended; requests under way fail right after. Not called before the link is open. */
  readonly onEnd: (link: Link) => void;
}

export interface Link {
  readonly wire: Wire;
  readonly tools: readonly RemoteTool[];
  listTools(signal: AbortSignal): Promise<readonly RemoteTool[]>;
  /** Resolves with whatever the server sent as the result. */
  callTool(name: string, args: JsonObject, signal: AbortSignal): Promise<unknown>;
  /** Resolves when no call is under way any more. */
  untilIdle(): Promise<void>;
}

/** Starts the wire, shakes hands and lists the tools. On failure the wire may still be open: its owner closes it. */
export async function openLink(wire: Wire, events: LinkEvents, signal: AbortSignal): Promise<Link> {
  const client = new Client(CLIENT, { capabilities: {} });
  client.setNotificationHandler("notifications/tools/list_changed", () => events.onToolsChanged());
  await client.connect(wire, { signal, timeout: NO_TIMEOUT_MS });
  const tools = await listOver(client, signal);
  const calls = new Set<Promise<unknown>>();
  const link: Link = {
    wire,
    tools,
    listTools: (listSignal) => listOver(client, listSignal),
    callTool(name, args, callSignal) {
      const call = ask(client, "tools/call", { name, arguments: args }, callSignal);
      const settled = call.catch(() => undefined).finally(() => calls.delete(settled));
      calls.add(settled);
      return call;
    },
    async untilIdle() {
      await Promise.all(calls);
    },
  };
  Object.assign(client, { onclose: () => events.onEnd(link) });
  if (!client.transport) throw new Error("The connection ended while it was opened");
  return link;
}

/** A server that does not offer tools has none; asking it would be an error. */
async function listOver(client: Client, signal: AbortSignal): Promise<readonly RemoteTool[]> {
  if (!isJsonObject(client.getServerCapabilities()?.tools)) return [];
  return listTools((params) => ask(client, "tools/list", params, signal));
}

/**
 * The server learns that the request was cancelled, by the protocol's own notification, but not why: the reason of a
 * signal belongs to the gateway.
 */
async function ask(client: Client, method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> {
  const cancelling = new AbortController();
  const cancel = (): void => cancelling.abort("cancelled");
  signal.throwIfAborted();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const options = { signal: cancelling.signal, timeout: NO_TIMEOUT_MS };
    return await client.request({ method, params: { ...params } }, AS_IT_CAME, options);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
