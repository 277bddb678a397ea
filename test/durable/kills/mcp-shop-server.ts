/**
 * A real MCP server over HTTP that outlives the gateways. It records every request and notifies listeners. Each tool
 * has a different effect, so that programs read, change once, and repeat changes safely.
 */

import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

import { serve } from "@hono/node-server";
import { Server, createMcpHandler } from "@modelcontextprotocol/server";

const READ = { readOnlyHint: true };
const WRITE = { readOnlyHint: false, destructiveHint: false };
const AGAIN = { ...WRITE, idempotentHint: true };
/** `pay` and `peek` need approval; `fail` changes something and then fails, `miss` only fails. */
const TOOLS = { look: READ, peek: READ, miss: READ, put: WRITE, pay: WRITE, fail: WRITE, keep: AGAIN };
const FAILING = new Set(["fail", "miss"]);
/** A tool returns its argument times this factor. */
export const FACTOR = 7;
const SLOWEST_MS = 4;

/** Reads and idempotent calls may arrive twice. */
export function isUnrepeatable(request: string): boolean {
  return /^(put|pay|fail) /.test(request);
}

export interface ShopListeners {
  /** Called when a request has arrived and is not answered yet. */
  readonly onRequest: () => void;
  /** Called when a response is sent. */
  readonly onAnswer: () => void;
}

export interface McpShopServer extends AsyncDisposable {
  readonly url: string;
  /** The tool, the program and the number of every request, such as `put 3 10`, in order of arrival. */
  readonly received: readonly string[];
}

export async function openMcpShopServer(ears: ShopListeners): Promise<McpShopServer> {
  const received: string[] = [];
  const handler = createMcpHandler(() => createShopServer(received, ears));
  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const fetch = (request: Request): Promise<Response> => handler.fetch(request);
    // A connection that the server closes just when a slow gateway uses it would fail a call.
    const serverOptions = { keepAliveTimeout: 600_000 };
    const listening = serve({ fetch, port: 0, hostname: "127.0.0.1", serverOptions }, () => resolve(listening));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    received: received,
    async [Symbol.asyncDispose]() {
      await handler.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function createShopServer(received: string[], { onRequest, onAnswer }: ShopListeners): Server {
  const server = new Server({ name: "shop", version: "1" }, { capabilities: { tools: {} } });
  const properties = { p: { type: "integer" }, n: { type: "integer" } };
  const inputSchema = { type: "object" as const, properties, required: ["p", "n"] };
  server.setRequestHandler("tools/list", () => ({
    tools: Object.entries(TOOLS).map(([name, annotations]) => ({ name, inputSchema, annotations })),
  }));
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: args } }) => {
    const [p, n] = [Number(args?.["p"]), Number(args?.["n"])];
    received.push(`${name} ${p} ${n}`);
    onRequest();
    await wait(Math.random() * SLOWEST_MS);
    setImmediate(onAnswer);
    if (FAILING.has(name)) return { content: [{ type: "text", text: "It failed" }], isError: true };
    return { content: [], structuredContent: { n: n * FACTOR } };
  });
  return server;
}
