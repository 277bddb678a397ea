/** The server behind every transport, with a real client over an in-memory pair. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { Client, InMemoryTransport, ProtocolError } from "@modelcontextprotocol/client";

import { createMcpServer } from "./create-mcp-server.ts";
import { AGENT, createMemoryGateway, createResult } from "./fixtures/memory-gateway.ts";
import { textOf } from "./fixtures/try-client.ts";

async function connect(t: TestContext) {
  const gateway = createMemoryGateway();
  const reported: unknown[] = [];
  const report = (thrown: unknown): string => `in_${reported.push(thrown)}`;
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createMcpServer({ gateway, principal: AGENT, report }).connect(far);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(near);
  t.after(() => client.close());
  return { client, gateway, reported };
}

test("execute answers wrong arguments with an error result and runs nothing", async (t) => {
  const { client, gateway } = await connect(t);
  const refused = await client.callTool({ name: "execute", arguments: { code: 1 } });
  const error = {
    code: "REQUEST_INVALID",
    message: "Wrong arguments for execute: code: expected string, received number",
    retry: false,
    hint: "execute takes code, language, input, limits, dryRun, idempotencyKey, detail",
  };
  assert.equal(refused.isError, true);
  assert.deepEqual(refused.structuredContent, { error });
  assert.equal(textOf(refused), `Error ${error.code}: ${error.message}\nHint: ${error.hint}`);
  assert.deepEqual(gateway.requests, []);
});

test("execute passes the principal and the limits to the gateway", async (t) => {
  const { client, gateway } = await connect(t);
  await client.callTool({ name: "execute", arguments: { code: "1", language: "javascript", limits: { calls: 3 } } });
  const [{ signal, onEvent: _, ...request } = {}] = gateway.requests;
  assert.deepEqual(request, { source: "1", limits: { calls: 3 }, parsesInput: true, principal: AGENT });
  assert.deepEqual(gateway.patience, [45_000]);
  assert.equal(signal?.aborted, false);
});

test("a failed program is an error result with the whole object", async (t) => {
  const { client } = await connect(t);
  const failed = await client.callTool({ name: "execute", arguments: { code: "fail", detail: "full" } });
  const error = { code: "PROGRAM_THREW", message: "it threw", retry: false } as const;
  assert.equal(failed.isError, true);
  assert.deepEqual(failed.structuredContent, createResult({ state: "failed", error }));
});

test("an internal fault shows an incident id without its details", async (t) => {
  const { client, reported } = await connect(t);
  const broken = await client.callTool({ name: "execute", arguments: { code: "broken" } });
  assert.equal(broken.isError, true);
  assert.equal(textOf(broken), "Error INTERNAL_BUG: Internal error\nIncident: in_1");
  assert.match(String(reported[0]), /secret detail/);
  assert.doesNotMatch(JSON.stringify(broken), /secret detail/);
});

test("a refusal of the gateway keeps its code and hint", async (t) => {
  const { client } = await connect(t);
  const unknown = await client.callTool({ name: "describe", arguments: { names: ["nothing"] } });
  assert.equal(textOf(unknown), "Error TOOL_NOT_FOUND: nothing is unknown\nHint: Search");
});

test("a tool that does not exist is a protocol error", async (t) => {
  const { client } = await connect(t);
  await assert.rejects(client.callTool({ name: "constructor" }), (error) => {
    return error instanceof ProtocolError && error.message.includes("Unknown tool: constructor");
  });
});
