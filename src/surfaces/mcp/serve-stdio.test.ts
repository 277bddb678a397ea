/** A real client starts a real process and speaks to it over its standard streams, in both eras. */

import assert from "node:assert/strict";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { TestContext } from "node:test";

import type { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { ERAS, connectClient, tryTools } from "./fixtures/try-client.ts";

const ENTRY = new URL("fixtures/stdio-entry.ts", import.meta.url).pathname;

/** The client kills a process that ends late. The shell takes the signal, so that the server ends by itself. */
function start(t: TestContext): { transport: StdioClientTransport; stderr: Promise<string> } {
  const args = ["-c", '"$0" "$1"; exit', process.execPath, ENTRY];
  const transport = new StdioClientTransport({ command: "sh", args, stderr: "pipe" });
  t.after(() => transport.close());
  return { transport, stderr: text(transport.stderr as Readable) };
}

/** Resolves when the server has begun with every request before. */
async function untilRead(client: Client): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await client.listTools();
}

for (const era of ERAS) {
  test(`a client of ${era.era} searches, describes and executes over stdio`, async (t) => {
    const { transport, stderr } = start(t);
    const client = await connectClient(transport, era);
    await tryTools(client);
    await client.close();
    assert.equal(await stderr, "aborted: ; client gone\n");
  });

  test(`a client of ${era.era} that disconnects ends its executions`, async (t) => {
    const { transport, stderr } = start(t);
    const client = await connectClient(transport, era);
    const waiting = client.callTool({ name: "execute", arguments: { code: "wait" } });
    waiting.catch(() => {});
    await untilRead(client);
    await client.close();
    await assert.rejects(waiting);
    assert.equal(await stderr, "aborted: wait; client gone\n");
  });

  test(`a client of ${era.era} cancels an execution and continues`, async (t) => {
    const { transport, stderr } = start(t);
    const client = await connectClient(transport, era);
    const cancel = new AbortController();
    const waiting = client.callTool({ name: "execute", arguments: { code: "wait" } }, { signal: cancel.signal });
    void untilRead(client).then(() => cancel.abort());
    await assert.rejects(waiting);
    await tryTools(client);
    await client.close();
    assert.equal(await stderr, "aborted: wait; client gone\n");
  });
}
