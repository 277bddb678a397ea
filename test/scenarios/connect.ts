/** A real MCP client of either era on a gateway that a scenario started. */

import type { TestContext } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import type { Era } from "../../src/surfaces/mcp/fixtures/try-client.ts";

/** Closed when the test ends. */
export async function connect(context: TestContext, mcp: string, { mode }: Era): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
  context.after(() => client.close());
  return client;
}
