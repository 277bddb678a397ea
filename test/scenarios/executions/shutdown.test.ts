/** A request that waits during shutdown is answered before its connection closes. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/client";

import { ERAS } from "../../../src/surfaces/mcp/fixtures/try-client.ts";
import { connect } from "../../fixtures/mcp-client.ts";
import { LAUNCHER, cleanEnvironment, makeFolder, probe, serveFor, untilEnded } from "../../fixtures/product.ts";

const CONFIG = { mcpServers: { probe: probe() }, expose: "both" };
const HANGING = { name: "execute", arguments: { code: "await probe.hang({})" } };

/** Resolves with the response once a log line has arrived and `end` was called. */
async function endDuring(client: Client, end: () => void): Promise<CallToolResult> {
  const begun = Promise.withResolvers<void>();
  const onprogress = ({ message = "" }): void => void (message.startsWith("probe.hang called") && begun.resolve());
  const answered = client.callTool(HANGING, { onprogress });
  await Promise.race([begun.promise, answered]);
  end();
  return answered;
}

function stateOf({ structuredContent, isError }: CallToolResult): unknown {
  const { state, error } = structuredContent as { state: string; error: { code: string } };
  return [state, error.code, isError ?? false];
}

describe("shutdown during a program", { concurrency: 2 }, () => {
  for (const era of ERAS) {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      test(`a waiting program ends as cancelled over HTTP on ${signal} for a client of ${era.era}`, async (context) => {
        const { mcp, child } = await serveFor(context, makeFolder(context, CONFIG));
        const client = await connect(context, mcp, era);
        const ended = untilEnded(child);
        const answer = await endDuring(client, () => child.kill(signal));
        assert.deepEqual(stateOf(answer), ["cancelled", "REQUEST_CANCELLED", false]);
        assert.equal(await ended, 0);
      });
    }
  }

  test("a waiting program ends as cancelled over standard input and output", async (context) => {
    const folder = makeFolder(context, CONFIG);
    const env = cleanEnvironment(folder);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [LAUNCHER, "mcp"],
      cwd: folder,
      env,
    });
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(transport);
    context.after(() => client.close());
    const pid = transport.pid ?? assert.fail();
    const answer = await endDuring(client, () => process.kill(pid, "SIGTERM"));
    assert.deepEqual(stateOf(answer), ["cancelled", "REQUEST_CANCELLED", false]);
  });
});
