/** What an operator reads when the other end speaks another version of MCP, or does not speak MCP at all. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";

import { GloveboxError, parseConnectorId } from "../../domain/index.ts";
import { openEgress } from "../../egress/index.ts";
import { createMcpConnector } from "./mcp-connector.ts";

const FUTURE = "2099-01-01";
const serverInfo = { name: "x", version: "1" };

/** What each path answers to any message. */
const ANSWERS: Readonly<Record<string, (message: { readonly id?: unknown; readonly method?: unknown }) => string>> = {
  "/other": () => '{"hello":"world"}',
  "/list": () => "[1, 2]",
  "/cut": () => '{"hello',
  "/future": ({ id, method }) =>
    JSON.stringify({
      jsonrpc: "2.0",
      id,
      ...(method === "initialize"
        ? { result: { protocolVersion: FUTURE, capabilities: {}, serverInfo } }
        : { error: { code: -32_601, message: "unknown" } }),
    }),
  "/refuses": ({ id }) => {
    const data = { supported: [FUTURE, "\u001b[2J"], requested: "x" };
    return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_602, message: "Unsupported", data } });
  },
  "/locked": ({ id, method }) =>
    JSON.stringify({
      jsonrpc: "2.0",
      id,
      ...(method === "initialize"
        ? { result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } }
        : { error: { code: -32_603, message: "no account" } }),
    }),
  "/current": ({ id }) =>
    JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo } }),
};

const server = createServer(async (request, response) => {
  const text = Buffer.concat(await request.toArray()).toString();
  const message = JSON.parse(text === "" ? "{}" : text) as { readonly id?: unknown };
  const isAsked = request.method === "POST" && message.id !== undefined;
  const body = isAsked ? ANSWERS[request.url ?? ""]?.(message) : undefined;
  response.writeHead(isAsked ? 200 : 202, { "content-type": "application/json" }).end(body ?? "");
});

before(() => new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready)));
after(() => {
  server.closeAllConnections();
  server.close();
});

async function connect(path: string): Promise<unknown> {
  const { port } = server.address() as AddressInfo;
  const id = parseConnectorId("it") ?? assert.fail();
  const url = `http://127.0.0.1:${port}${path}`;
  await using connector = createMcpConnector({
    id,
    now: Date.now,
    clean: (text) => text,
    environment: {},
    egress: openEgress(),
    keeper: { keep: () => assert.fail("no process"), release: () => assert.fail("no process") },
    settings: { kind: "http", url, startMs: 5000, resolveHeaders: async () => ({}) },
  });
  return await connector.tools().catch((error: unknown) => {
    assert.ok(error instanceof GloveboxError);
    return [error.code, error.message, error.details.hint];
  });
}

const CHECK = "Check that the address belongs to an MCP server, and that the server is up to date";
const UPDATE = "Update the server; Glovebox supports 2024-10-07 to 2026-07-28";
const unknown = `it: it supports no MCP version that Glovebox supports (it supports ${FUTURE})`;

describe("errors of foreign servers", () => {
  for (const [what, path, message, hint] of [
    ["an answer of another kind of JSON", "/other", "it: its answer is JSON, but not an MCP message", CHECK],
    ["an array as an answer", "/list", "it: its answer is JSON, but not an MCP message", CHECK],
    ["half of a JSON text as an answer", "/cut", "it: its answer is not JSON", CHECK],
    ["an answer with an unknown version", "/future", unknown, UPDATE],
    ["a refusal of our versions", "/refuses", unknown, UPDATE],
  ] as const) {
    it(`the error for ${what} names the problem and a remedy`, async () => {
      assert.deepEqual(await connect(path), ["UPSTREAM_RESULT_INVALID", message, hint]);
    });
  }
  it("the error for a failed listing names the problem and a remedy", async () => {
    const hint = "Check what the server needs to start: its network, its account, its settings";
    const message = "it: it answered its first requests with an error: no account";
    assert.deepEqual(await connect("/locked"), ["UPSTREAM_FAILED", message, hint]);
  });
  it("a server with a supported version is connected", async () => {
    assert.deepEqual(await connect("/current"), []);
  });
});
