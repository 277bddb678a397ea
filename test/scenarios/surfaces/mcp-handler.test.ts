/** `mcpHandler` of the library: a real MCP client behind Hono, Express and Node's own server. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Hono } from "hono";

import { createGlovebox, defineAdapter } from "glovebox";
import type { Glovebox } from "glovebox";

interface ExpressApp extends RequestListener {
  all(path: string, handler: (request: IncomingMessage, response: ServerResponse) => void): void;
}

const who = defineAdapter({
  name: "desk",
  tools: { look: { description: "Looks.", input: { type: "object" }, effect: "read", run: () => "seen" } },
});

async function execute(url: string, options: { readonly fetch?: typeof fetch; readonly token?: string } = {}) {
  const client = new Client({ name: "test", version: "1.0.0" });
  const headers = options.token === undefined ? {} : { authorization: options.token };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    ...(options.fetch && { fetch: options.fetch }),
  });
  await client.connect(transport);
  try {
    const { structuredContent } = await client.callTool({
      name: "execute",
      arguments: { code: "return await desk.look({})" },
    });
    return structuredContent as { readonly value?: unknown; readonly execution?: string } | undefined;
  } finally {
    await client.close();
  }
}

async function serve(listener: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  try {
    await use(`http://127.0.0.1:${address.port}/mcp`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("mcpHandler", () => {
  let glovebox: Glovebox;
  before(async () => {
    glovebox = await createGlovebox({ adapters: [who], store: { url: "sqlite::memory:" }, expose: "both" });
  });
  after(() => glovebox.close());

  test("a client runs a program through Hono, and a fetch handler such as that of Next", async () => {
    const app = new Hono();
    const handle = glovebox.mcpHandler({ principal: "ada" });
    app.all("/mcp", (context) => handle(context.req.raw));
    const route = async (input: string | URL | Request, init?: RequestInit) => app.fetch(new Request(input, init));
    assert.partialDeepStrictEqual(await execute("http://app.example.com/mcp", { fetch: route }), { value: "seen" });
    const direct = async (input: string | URL | Request, init?: RequestInit) => handle(new Request(input, init));
    assert.partialDeepStrictEqual(await execute("http://app.example.com/mcp", { fetch: direct }), { value: "seen" });
  });

  test("a client runs a program through Express and through Node's own server", async () => {
    const { node } = glovebox.mcpHandler();
    const express: () => ExpressApp = createRequire(import.meta.url)("express");
    const app = express();
    app.all("/mcp", node);
    for (const listener of [app, node]) {
      await serve(listener, async (url) => {
        assert.partialDeepStrictEqual(await execute(url), { value: "seen" });
      });
    }
  });

  test("a request that the program does not authenticate gets 401, and one that it does is served as that person", async () => {
    const people = new Map([["Bearer one", "ada"]]);
    const handle = glovebox.mcpHandler({ principal: ({ headers }) => people.get(headers.get("authorization") ?? "") });
    const route = async (input: string | URL | Request, init?: RequestInit) => handle(new Request(input, init));
    const refused = await handle(new Request("http://app.example.com/mcp", { method: "POST", body: "{}" }));
    assert.equal(refused.status, 401);
    const served = await execute("http://app.example.com/mcp", { fetch: route, token: "Bearer one" });
    assert.partialDeepStrictEqual(served, { value: "seen" });
    const { execution = "" } = { ...served };
    await assert.rejects(glovebox.resume({ execution }), { code: "REQUEST_NOT_FOUND" });
    assert.equal((await glovebox.resume({ execution, principal: "ada" })).state, "completed");
  });

  test("without a principal only a loopback host is served, and never a page of another origin", async () => {
    const handle = glovebox.mcpHandler();
    const ask = async (url: string, headers: Record<string, string> = {}) => {
      const request = new Request(url, { method: "POST", headers, body: "no JSON" });
      return (await handle(request)).status;
    };
    assert.equal(await ask("http://app.example.com/mcp"), 403);
    assert.equal(await ask("http://127.0.0.1:1/mcp", { host: "evil.example.com" }), 403);
    assert.equal(await ask("http://127.0.0.1:1/mcp"), 400);
    assert.equal(await ask("http://localhost:1/mcp", { origin: "http://evil.example.com" }), 403);
    assert.equal(await ask("http://localhost:1/mcp", { origin: "http://localhost:1" }), 400);
    const named = glovebox.mcpHandler({ principal: "ada" });
    const crossed = new Request("http://app.example.com/mcp", { method: "POST", headers: { origin: "http://x.com" } });
    assert.equal((await named(crossed)).status, 403);
  });
});
