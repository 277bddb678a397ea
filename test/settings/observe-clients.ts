/** What the settings of MCP clients change, for `test/settings/settings.test.ts`. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import type { CallToolResult } from "@modelcontextprotocol/client";

import { ERAS } from "../../src/surfaces/mcp/fixtures/try-client.ts";
import { connect } from "../fixtures/mcp-client.ts";
import { CHANGE, accept, call, connectHttp, openElicitationGateway } from "../fixtures/elicitation-client.ts";
import { makeUntypedFolder, probe, serveFor } from "../fixtures/product.ts";

const MEET = { name: "execute", arguments: { code: "return await probe.meet({ ms: 100_000 })" } };

/**
 * The responses to a program that only ends when another one arrives, with that other one arriving after `answered`.
 */
async function observe(context: TestContext, patienceMs: number): Promise<unknown> {
  const config = { mcpServers: { probe: probe() }, clients: { patienceMs } };
  const { mcp } = await serveFor(context, makeUntypedFolder(context, config));
  const client = await connect(context, mcp, ERAS[1]);
  const begun = Promise.withResolvers<void>();
  const onprogress = ({ message = "" }): void => void (message.startsWith("probe.meet called") && begun.resolve());
  const asked = client.callTool(MEET, { onprogress });
  const first = await Promise.race([begun.promise, asked]);
  if (first) return stateOf(first); // answered before the other one arrived
  await client.callTool(MEET);
  return stateOf(await asked);
}

/** How a program ends whose only call a person would approve, if asked. */
async function askPerson(context: TestContext, elicitation: boolean): Promise<unknown> {
  const gateway = await openElicitationGateway(context, { approvals: { graceMs: 0, elicitation } });
  const { client } = await connectHttp(context, gateway, ERAS[1], { answer: () => accept("this call") });
  return (await call(client, "execute", { code: CHANGE })).state;
}

function stateOf({ structuredContent }: CallToolResult): unknown {
  return (structuredContent as { readonly state: string }).state;
}

export const CLIENT_OBSERVATIONS: Readonly<Record<string, (context: TestContext) => Promise<void>>> = {
  "clients.patienceMs": async (context) => {
    assert.equal(await observe(context, 1), "running");
    assert.equal(await observe(context, 60_000), "completed");
  },
  "approvals.elicitation": async (context) => {
    assert.equal(await askPerson(context, true), "completed");
    assert.equal(await askPerson(context, false), "paused");
  },
};
