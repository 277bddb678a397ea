/** Two open requests with one id in one session: the first is answered, and the second is refused at once. */

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import type { TestContext } from "node:test";

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/server";

import { isJsonObject, parseJson } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { createMcpRoutes } from "./create-mcp-routes.ts";
import { AGENT, EXECUTION, createMemoryGateway, createResult } from "./fixtures/memory-gateway.ts";
import { ERAS } from "./fixtures/try-client.ts";
import { serveMcpOverStdio } from "./serve-stdio.ts";

const [LEGACY, MODERN] = ERAS;
const CLIENT = { name: "test", version: "1" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: "start",
  method: "initialize",
  params: { protocolVersion: LEGACY.era, capabilities: {}, clientInfo: CLIENT },
};
const ENVELOPE = {
  [PROTOCOL_VERSION_META_KEY]: MODERN.era,
  [CLIENT_INFO_META_KEY]: CLIENT,
  [CLIENT_CAPABILITIES_META_KEY]: {},
};

/** Programs end when the test lets them. */
function openDoor() {
  const gate = Promise.withResolvers<void>();
  const gateway: ReturnType<typeof createMemoryGateway> = {
    ...createMemoryGateway(),
    open: async ({ source }) => {
      const done = gate.promise.then(() => createResult({ value: source }));
      return { id: EXECUTION, done, cancel: () => undefined, answer: () => done };
    },
  };
  return { door: { gateway, principal: AGENT, report: () => "in_1" }, finish: () => gate.resolve() };
}

function execute(id: string | number, code: string, era: (typeof ERAS)[number]): JsonObject {
  const params = { name: "execute", arguments: { code } };
  const meta = era === MODERN ? { _meta: ENVELOPE } : {};
  return { jsonrpc: "2.0", id, method: "tools/call", params: { ...params, ...meta } };
}

const refusalOf = (id: string | number): JsonObject => ({
  jsonrpc: "2.0",
  id,
  error: {
    code: -32_600,
    message: `Invalid request: the id ${JSON.stringify(id)} belongs to a request without an answer; use a new id`,
  },
});

/** The id and the value of an answer. */
function valueOf(answer: JsonObject): unknown[] {
  const result = isJsonObject(answer["result"]) ? answer["result"] : {};
  const content = isJsonObject(result["structuredContent"]) ? result["structuredContent"] : {};
  return [answer["id"], content["value"]];
}

/** Messages go in as objects and come out in order. */
function startStdio(t: TestContext) {
  const { door, finish } = openDoor();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveMcpOverStdio(door, { input, output });
  t.after(async () => {
    input.end();
    await served;
  });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const next = async (): Promise<JsonObject> => {
    const { value } = await lines.next();
    const message = parseJson(String(value));
    return isJsonObject(message) ? message : assert.fail(`Not a message: ${String(value)}`);
  };
  return { finish, next, send: (message: JsonObject) => void input.write(`${JSON.stringify(message)}\n`) };
}

for (const era of ERAS) {
  test(`over stdio a repeated id of ${era.era} is refused at once and the first request is answered`, async (t) => {
    const { send, next, finish } = startStdio(t);
    if (era === LEGACY) {
      send(INITIALIZE);
      assert.equal((await next())["id"], "start");
    }
    for (const code of ["first", "second"]) send(execute(7, code, era));
    assert.deepEqual(await next(), refusalOf(7));
    send(execute("7", "a string is another id", era));
    finish();
    assert.deepEqual(valueOf(await next()), [7, "first"]);
    assert.deepEqual(valueOf(await next()), ["7", "a string is another id"]);
    send(execute(7, "after the answer", era));
    assert.deepEqual(valueOf(await next()), [7, "after the answer"]);
  });

  test(`over stdio a cancelled request of ${era.era} frees its id`, async (t) => {
    const { send, next, finish } = startStdio(t);
    if (era === LEGACY) {
      send(INITIALIZE);
      assert.equal((await next())["id"], "start");
    }
    send(execute(7, "cancelled", era));
    const meta = era === MODERN ? { _meta: ENVELOPE } : {};
    send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7, ...meta } });
    send(execute(7, "again", era));
    finish();
    assert.deepEqual(valueOf(await next()), [7, "again"]);
  });
}

/** Requests to the routes, without a port. */
function startHttp(t: TestContext) {
  const { door, finish } = openDoor();
  const mcp = createMcpRoutes(door, { now: Date.now });
  t.after(() => mcp.close());
  const post = async (body: JsonObject | readonly JsonObject[], more: Record<string, string> = {}) => {
    const headers = { accept: "application/json, text/event-stream", "content-type": "application/json", ...more };
    return mcp.handle(
      new Request("http://127.0.0.1/mcp", { method: "POST", headers, body: JSON.stringify(body) }),
      AGENT,
    );
  };
  const openSession = async (): Promise<Record<string, string>> => {
    const opened = await post(INITIALIZE);
    await opened.text();
    return { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  };
  return { finish, post, openSession };
}

/** The messages of an answer, which is JSON or a stream of events. */
async function messagesOf(response: Response): Promise<JsonObject[]> {
  const text = await response.text();
  const events = text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
  return (events.length > 0 ? events : [text]).map(parseJson).filter((message) => isJsonObject(message));
}

test("over HTTP a repeated id in a session is refused at once and the first request is answered", async (t) => {
  const { post, openSession, finish } = startHttp(t);
  const [session, other] = [await openSession(), await openSession()];
  const first = await post(execute(7, "first", LEGACY), session);
  const second = await post(execute(7, "second", LEGACY), session);
  assert.deepEqual([second.status, await messagesOf(second)], [400, [refusalOf(7)]]);
  const text = await post(execute("7", "a string is another id", LEGACY), session);
  const elsewhere = await post(execute(7, "another session", LEGACY), other);
  finish();
  assert.deepEqual((await messagesOf(first)).map(valueOf), [[7, "first"]]);
  assert.deepEqual((await messagesOf(text)).map(valueOf), [["7", "a string is another id"]]);
  assert.deepEqual((await messagesOf(elsewhere)).map(valueOf), [[7, "another session"]]);
  const later = await post(execute(7, "after the answer", LEGACY), session);
  assert.deepEqual((await messagesOf(later)).map(valueOf), [[7, "after the answer"]]);
});

test("over HTTP a batch that repeats an id is refused as a whole, and one without is answered", async (t) => {
  const { post, openSession, finish } = startHttp(t);
  const session = await openSession();
  const repeated = await post([execute(7, "one", LEGACY), execute(7, "two", LEGACY)], session);
  assert.deepEqual([repeated.status, await messagesOf(repeated)], [400, [refusalOf(7)]]);
  finish();
  const batch = await post([execute(7, "one", LEGACY), execute(8, "two", LEGACY)], session);
  const values = (await messagesOf(batch)).map(valueOf);
  assert.deepEqual(values, [
    [7, "one"],
    [8, "two"],
  ]);
});

test("over HTTP a request whose client disconnects frees its id", async (t) => {
  const { post, openSession, finish } = startHttp(t);
  const session = await openSession();
  const lost = await post(execute(7, "lost", LEGACY), session);
  await lost.body?.cancel();
  const again = await post(execute(7, "again", LEGACY), session);
  finish();
  assert.deepEqual((await messagesOf(again)).map(valueOf), [[7, "again"]]);
});

test("over HTTP requests of 2026-07-28 have no session, so equal ids are both answered", async (t) => {
  const { post, finish } = startHttp(t);
  const headers = { "mcp-protocol-version": MODERN.era, "mcp-method": "tools/call", "mcp-name": "execute" };
  const answers = ["first", "second"].map((code) => post(execute(7, code, MODERN), headers));
  finish();
  const [first, second] = await Promise.all(answers.map(async (answer) => messagesOf(await answer)));
  assert.deepEqual(first?.map(valueOf), [[7, "first"]]);
  assert.deepEqual(second?.map(valueOf), [[7, "second"]]);
});
