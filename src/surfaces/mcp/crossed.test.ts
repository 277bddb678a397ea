/** Many clients at once, each with its own server: no client receives a byte of another. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { createMcpRoutes } from "./create-mcp-routes.ts";
import { createMcpServer } from "./create-mcp-server.ts";
import { AGENT, createMemoryGateway } from "./fixtures/memory-gateway.ts";
import { ERAS, connectClient } from "./fixtures/try-client.ts";

const CALLS = 10_000;
const CLIENTS = 8;

/** Every call has its own code, and its answer must be about that code. */
async function interleave(clients: readonly Client[], calls: number): Promise<void> {
  const ask = async (client: Client, mark: string): Promise<void> => {
    const { structuredContent } = await client.callTool({ name: "execute", arguments: { code: mark, input: mark } });
    assert.deepEqual(Object(structuredContent).value, { code: mark, input: mark });
  };
  const each = Math.ceil(calls / clients.length);
  const work = clients.map(async (client, index) => {
    for (let call = 0; call < each; call += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, at) => ask(client, `client ${index} call ${call + at}`)));
    }
  });
  await Promise.all(work);
}

test(`${CALLS} interleaved calls of ${CLIENTS} clients each get their own answer`, async () => {
  const door = { gateway: createMemoryGateway(), principal: AGENT, report: () => "in_1" };
  const clients = Array.from({ length: CLIENTS }, () => new Client({ name: "test", version: "1.0.0" }));
  for (const client of clients) {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await createMcpServer(door).connect(far);
    await client.connect(near);
  }
  await interleave(clients, CALLS);
  assert.equal(door.gateway.requests.length, CALLS);
  await Promise.all(clients.map((client) => client.close()));
});

test("clients of both eras over HTTP get their own answers too", async (t) => {
  const door = { gateway: createMemoryGateway(), principal: AGENT, report: () => "in_1" };
  const mcp = createMcpRoutes(door, { now: Date.now });
  t.after(() => mcp.close());
  const send = async (url: string | URL, init?: RequestInit): Promise<Response> =>
    mcp.handle(new Request(url, init), AGENT);
  const clients = await Promise.all(
    [...ERAS, ...ERAS, ...ERAS].map((era) =>
      connectClient(new StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), { fetch: send }), era),
    ),
  );
  await interleave(clients, 600);
  await Promise.all(clients.map((client) => client.close()));
});
