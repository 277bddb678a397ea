/** The connector against HTTP servers that close streams, forget sessions, refuse, redirect or send too much. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { GloveboxError, isJsonObject, parseConnectorId } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { openEgress } from "../../egress/index.ts";
import { createMcpConnector } from "./mcp-connector.ts";
import type { Connector } from "../connector.ts";

const opened: Connector[] = [];
/** The requests that the server received, in order. */
let seen: string[] = [];
let session = "s1";
let isDenied = false;
let base = "";
const ROWS = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row ${id}` }));

const server = createServer((request, response) => void answer(request, response));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") {
    seen.push(request.method ?? "");
    return void response.writeHead(request.method === "DELETE" ? 200 : 405).end();
  }
  const message: unknown = JSON.parse(Buffer.concat(await request.toArray()).toString());
  assert.ok(isJsonObject(message));
  const { method, id = null, params } = message;
  const tool = isJsonObject(params) && typeof params["name"] === "string" ? params["name"] : "";
  seen.push(`${typeof method === "string" ? method : ""} ${tool}`.trim());
  if (isDenied) return void response.writeHead(401).end();
  if (method !== "initialize" && request.headers["mcp-session-id"] !== session) {
    return void response.writeHead(404).end("secret-canary: no such session");
  }
  if (id === null) return void response.writeHead(202).end();
  if (method === "tools/call") return callTool(tool, id, response);
  const tools = [{ name: "echo", inputSchema: { type: "object" } }];
  const serverInfo = { name: "x", version: "1" };
  const hello = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
  respond(response, { id, result: method === "initialize" ? hello : { tools } });
}

function callTool(name: string, id: unknown, response: ServerResponse): void {
  const result = { content: [{ type: "text", text: name === "large" ? "x".repeat(10_000) : "done" }] };
  const stream = { "content-type": "text/event-stream" };
  switch (name) {
    case "breaksOff":
      return void response.writeHead(200, stream).end(": hello\n\n");
    case "largeStream":
      return void response.writeHead(200, stream).end(`: ${"x".repeat(10_000)}\n\n`);
    case "never":
      response.once("close", () => seen.push("stream closed"));
      return void response.writeHead(200, stream).write(": hello\n\n");
    case "rows":
      return respond(response, { id, result: { content: [], structuredContent: { rows: ROWS } } });
    case "rowStream": {
      const answer = JSON.stringify({ jsonrpc: "2.0", id, result: { content: [], structuredContent: { rows: ROWS } } });
      return void response.writeHead(200, stream).end(`event: message\r\ndata: ${answer}\r\n\r\n`);
    }
    case "notMessage":
      return void response.writeHead(200, stream).end(`data: {"rows":${JSON.stringify(ROWS)}}\n\n`);
    case "page":
      return void response.writeHead(200, { "content-type": "text/html" }).end("<html>");
    case "away":
      return void response.writeHead(307, { location: "http://localhost:1/mcp" }).end();
    default:
      respond(response, { id: id === null ? null : Number(id), result });
  }
}

function respond(response: ServerResponse, message: object): void {
  const headers = { "content-type": "application/json", "mcp-session-id": session };
  response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

function connect(url = `${base}/mcp`, messageBytes = 5000): Connector {
  const id = parseConnectorId("web");
  assert.ok(id);
  const connector = createMcpConnector({
    id,
    settings: { kind: "http", url, resolveHeaders: async () => ({ "x-key": "k" }), startMs: 2000, messageBytes },
    environment: {},
    keeper: { keep: () => assert.fail("no process"), release: () => assert.fail("no process") },
    egress: openEgress(),
    now: Date.now,
    clean: (text) => text,
  });
  opened.push(connector);
  return connector;
}

async function listen(target: Server): Promise<string> {
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  const address = target.address();
  assert.ok(typeof address === "object" && address);
  return `http://127.0.0.1:${address.port}`;
}

before(async () => {
  base = await listen(server);
});
beforeEach(() => {
  seen = [];
  session = "s1";
  isDenied = false;
});
after(async () => {
  await Promise.all(opened.map((connector) => connector.close()));
  server.close();
  server.closeAllConnections();
});

const call = (connector: Connector, name: string, args: JsonObject = {}): Promise<unknown> =>
  connector.call(name, args, { signal: AbortSignal.timeout(2000) }).then(({ value }) => value);

async function refusal(promise: Promise<unknown>): Promise<readonly [string, string]> {
  const thrown = await promise.then(
    () => assert.fail("The call should have failed"),
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof GloveboxError, String(thrown));
  return [thrown.code, thrown.message];
}

test("a call over HTTP is answered, and closing deletes the session", async () => {
  const connector = connect();
  assert.equal(await call(connector, "echo"), "done");
  await connector.close();
  assert.equal(seen.at(-1), "DELETE");
});

test("a stream that ends without the answer fails its call at once", async () => {
  const connector = connect();
  const expected = ["UPSTREAM_UNREACHABLE", "web: the response ended before the answer came"];
  assert.deepEqual(await refusal(call(connector, "breaksOff")), expected);
  assert.deepEqual(await refusal(call(connector, "largeStream")), expected);
});

for (const tool of ["rows", "rowStream"]) {
  test(`a large response is parsed in parts, and returned whole (${tool})`, async () => {
    const connector = connect(undefined, 5_000_000);
    await call(connector, "echo");
    const parse = JSON.parse;
    let longest = 0;
    JSON.parse = (text, ...rest) => {
      longest = Math.max(longest, text.length);
      return parse(text, ...rest);
    };
    const value = await call(connector, tool).finally(() => (JSON.parse = parse));
    assert.deepEqual(value, { rows: ROWS });
    assert.ok(longest > 0 && longest < JSON.stringify(ROWS).length / 4, String(longest));
  });
}

test("a large event that is not a message fails its call and keeps the connection", async () => {
  const connector = connect(undefined, 5_000_000);
  const expected = ["UPSTREAM_UNREACHABLE", "web: the response ended before the answer came"];
  assert.deepEqual(await refusal(call(connector, "notMessage")), expected);
  assert.deepEqual(await call(connector, "rowStream"), { rows: ROWS });
});

test("a response that is too large fails its call and keeps the connection", async () => {
  const connector = connect();
  const expected = ["LIMIT_SIZE", "The response is larger than 5000 bytes"];
  assert.deepEqual(await refusal(call(connector, "large")), expected);
  assert.equal(connector.status().state, "ready");
  assert.equal(await call(connector, "echo"), "done");
});

test("a forgotten session fails one call; the next one has a new session", async () => {
  const connector = connect();
  assert.equal(await call(connector, "echo"), "done");
  session = "s2";
  const expected = ["UPSTREAM_UNREACHABLE", "web: it answered with HTTP status 404"];
  assert.deepEqual(await refusal(call(connector, "echo")), expected);
  assert.equal(await call(connector, "echo"), "done");
});

test("a failing call does not affect the others on its connection", async () => {
  const connector = connect();
  await connector.tools();
  const other = connector.call("never", {}, { signal: AbortSignal.timeout(300) });
  await refusal(call(connector, "breaksOff"));
  assert.deepEqual(await refusal(other), ["UPSTREAM_TIMEOUT", "web: the call exceeded its time limit"]);
});

test("an aborted call is cancelled at the server and its stream is closed", async () => {
  const connector = connect();
  await connector.tools();
  const expected = ["UPSTREAM_TIMEOUT", "web: the call exceeded its time limit"];
  assert.deepEqual(await refusal(connector.call("never", {}, { signal: AbortSignal.timeout(100) })), expected);
  const ends = ["notifications/cancelled", "stream closed"];
  for (let tries = 0; tries < 3_000 && !ends.every((end) => seen.slice(-2).includes(end)); tries += 1) await wait(10);
  assert.deepEqual(seen.slice(-2), ends);
  assert.equal(await call(connector, "echo"), "done");
});

test("a missing credential is reported as such, also during the pause", async () => {
  isDenied = true;
  const connector = connect();
  const message = "web: it answered with HTTP status 401";
  assert.deepEqual(await refusal(connector.tools()), ["UPSTREAM_AUTH_REQUIRED", message]);
  assert.equal((await refusal(connector.tools()))[0], "UPSTREAM_AUTH_REQUIRED");
  assert.equal(connector.status().cause, "it answered with HTTP status 401");
});

test("a redirect to another origin and an HTML page instead of an answer are refused", async () => {
  const connector = connect();
  assert.equal((await refusal(call(connector, "away")))[0], "EGRESS_DENIED");
  assert.equal((await refusal(call(connector, "page")))[0], "UPSTREAM_RESULT_INVALID");
});

test("a port without a listener, a URL with credentials and an invalid URL have different errors", async () => {
  const gone = createServer();
  const abandoned = await listen(gone);
  await new Promise((resolve) => gone.close(resolve));
  assert.deepEqual(await refusal(connect(abandoned).tools()), [
    "UPSTREAM_UNREACHABLE",
    "web: it cannot be reached (ECONNREFUSED)",
  ]);
  assert.equal((await refusal(connect(base.replace("//", "//u:p@")).tools()))[0], "EGRESS_DENIED");
  assert.equal((await refusal(connect("nowhere").tools()))[0], "CONFIG_INVALID");
});
