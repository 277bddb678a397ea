/** Real clients over HTTP, in both eras, through the whole application. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { ERAS, connectClient, tryTools } from "../mcp/fixtures/try-client.ts";
import type { Era } from "../mcp/fixtures/try-client.ts";
import { startApp } from "./fixtures/start-app.ts";

const connect = (url: string, era: Era) => connectClient(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)), era);

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; tries < 6_000 && !isTrue(); tries += 1) await sleep(10);
  assert.ok(isTrue());
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
const callOf = (id: number, code: string): object => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "execute", arguments: { code } },
});

for (const era of ERAS) {
  test(`a client of ${era.era} searches, describes and executes over HTTP`, async (t) => {
    const { listener } = await startApp(t);
    const client = await connect(listener.url, era);
    await tryTools(client);
    await client.close();
  });

  test(`a client of ${era.era} cancels an execution and continues`, async (t) => {
    const { listener, gateway } = await startApp(t);
    const client = await connect(listener.url, era);
    const cancel = new AbortController();
    const waiting = client.callTool({ name: "execute", arguments: { code: "wait" } }, { signal: cancel.signal });
    waiting.catch(() => {});
    await until(() => gateway.requests.length === 1);
    cancel.abort();
    await assert.rejects(waiting);
    await until(() => gateway.aborted.length === 1);
    await tryTools(client);
    await client.close();
  });

  test(`closing ends an execution of a client of ${era.era}`, async (t) => {
    const { listener, gateway } = await startApp(t);
    const client = await connect(listener.url, era);
    const waiting = client.callTool({ name: "execute", arguments: { code: "wait" } });
    waiting.catch(() => {});
    await until(() => gateway.requests.length === 1);
    await listener.close();
    await until(() => gateway.aborted.length === 1);
    await client.close().catch(() => {});
  });
}

test("a client of 2025-11-25 that loses its connection ends its own execution only", async (t) => {
  const { listener, gateway } = await startApp(t);
  const client = await connect(listener.url, ERAS[0]);
  const post = (session: string, id: number, code: string, signal?: AbortSignal): Promise<Response> =>
    globalThis.fetch(`${listener.url}/mcp`, {
      method: "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...(session !== "" && { "mcp-session-id": session }),
      },
      body: JSON.stringify(code === "" ? INITIALIZE : callOf(id, code)),
      ...(signal && { signal }),
    });
  const opened = await post("", 1, "");
  await opened.text();
  const session = opened.headers.get("mcp-session-id") ?? "";
  const lost = new AbortController();
  const [one, two] = await Promise.all([post(session, 2, "wait one", lost.signal), post(session, 3, "wait two")]);
  await until(() => gateway.requests.length === 2);
  lost.abort();
  await until(() => gateway.aborted.length === 1);
  await sleep(50);
  assert.deepEqual(gateway.aborted, ["wait one"]);
  await Promise.allSettled([one.body?.cancel(), two.body?.cancel()]);
  await until(() => gateway.aborted.length === 2);
  await client.close();
});

test("a cancellation does not affect another client with the same request id", async (t) => {
  const { listener, gateway } = await startApp(t);
  const [legacy] = ERAS;
  const [one, two] = await Promise.all([connect(listener.url, legacy), connect(listener.url, legacy)]);
  const cancel = new AbortController();
  const calls = [
    one.callTool({ name: "execute", arguments: { code: "wait one" } }, { signal: cancel.signal }),
    two.callTool({ name: "execute", arguments: { code: "wait two" } }),
  ];
  for (const call of calls) call.catch(() => {});
  await until(() => gateway.requests.length === 2);
  cancel.abort();
  await until(() => gateway.aborted.length === 1);
  await sleep(50);
  assert.deepEqual(gateway.aborted, ["wait one"]);
  await Promise.all([one.close(), two.close()]);
});
