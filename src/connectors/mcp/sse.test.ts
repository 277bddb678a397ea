/** The connector against HTTP+SSE servers that close streams, send too much, refuse or redirect. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, before, test } from "node:test";

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Connector } from "../connector.ts";
import { connect, findFreePort, remote } from "./fixtures/connect.ts";

let base = "";
let opens = 0;
let stream: ServerResponse | undefined;
const server = createServer((request, response) => void answer(request, response));

const send = (event: string, data: string): unknown => stream?.write(`event: ${event}\ndata: ${data}\n\n`);

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === "/denied") return void response.writeHead(401).end();
  if (request.method === "GET") {
    opens += 1;
    stream = response;
    response.writeHead(200, { "content-type": "text/event-stream" });
    send("endpoint", request.url === "/away" ? "http://localhost:1/messages" : "/messages");
    return;
  }
  const message: unknown = JSON.parse(Buffer.concat(await request.toArray()).toString());
  assert.ok(isJsonObject(message));
  const { id, method, params } = message;
  const tool = isJsonObject(params) ? params["name"] : undefined;
  if (tool === "refused") return void response.writeHead(500).end("secret-canary");
  response.writeHead(202).end();
  if (id === undefined) return;
  if (tool === "breaksOff") return void stream?.end();
  if (tool === "never") return;
  const length =
    tool === "size" && isJsonObject(params) && isJsonObject(params["arguments"])
      ? Number(params["arguments"]["chars"])
      : 4;
  const results = new Map<unknown, unknown>([
    [
      "initialize",
      { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } },
    ],
    ["tools/list", { tools: [{ name: "echo", inputSchema: { type: "object" } }] }],
    ["tools/call", { content: [{ type: "text", text: "x".repeat(length) }] }],
  ]);
  send("message", JSON.stringify({ jsonrpc: "2.0", id, result: results.get(method) }));
}

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  base = `http://127.0.0.1:${address.port}`;
});
after(() => {
  server.close();
  server.closeAllConnections();
});

const open = (path = "/sse"): Connector => connect({ ...remote(`${base}${path}`, "sse"), messageBytes: 5000 });

async function outcome(promise: Promise<unknown>): Promise<unknown> {
  try {
    const value = await promise;
    return isJsonObject(value) ? value["value"] : value;
  } catch (thrown) {
    assert.ok(thrown instanceof GloveboxError, String(thrown));
    return [thrown.code, thrown.message];
  }
}

const call = (connector: Connector, name: string, args = {}): Promise<unknown> =>
  outcome(connector.call(name, args, { signal: AbortSignal.timeout(5000) }));

test("an event stream that ends fails the calls in progress, and the next call has a new session", async () => {
  await using connector = open();
  assert.equal(await call(connector, "echo"), "xxxx");
  const before = opens;
  const pending = call(connector, "never");
  const expected = ["UPSTREAM_UNREACHABLE", "up: the event stream ended"];
  assert.deepEqual(await call(connector, "breaksOff"), expected);
  assert.deepEqual(await pending, expected);
  assert.equal(await call(connector, "echo"), "xxxx");
  assert.deepEqual([opens - before, connector.status().era], [1, "2024-11-05"]);
});

test("each event has its own limit, so many small answers pass and one large one does not", async () => {
  await using connector = open();
  for (let count = 0; count < 10; count += 1) {
    assert.equal(String(await call(connector, "size", { chars: 4000 })).length, 4000);
  }
  assert.deepEqual(await call(connector, "size", { chars: 6000 }), [
    "LIMIT_SIZE",
    "up: An event is larger than 5000 bytes",
  ]);
  assert.equal(await call(connector, "echo"), "xxxx");
});

test("a refused message fails its call without text of the server", async () => {
  await using connector = open();
  assert.deepEqual(await call(connector, "refused"), ["UPSTREAM_UNREACHABLE", "up: it answered with HTTP status 500"]);
});

test("a missing credential, a message address on another origin and a closed port have different errors", async () => {
  await using denied = open("/denied");
  assert.deepEqual(await outcome(denied.tools()), ["UPSTREAM_AUTH_REQUIRED", "up: it answered with HTTP status 401"]);
  await using away = open("/away");
  assert.deepEqual([await outcome(away.tools())].flat()[0], "UPSTREAM_UNREACHABLE");
  await using closed = connect(remote(`http://127.0.0.1:${await findFreePort()}/sse`, "sse"));
  assert.deepEqual(await outcome(closed.tools()), ["UPSTREAM_UNREACHABLE", "up: it cannot be reached (ECONNREFUSED)"]);
});
