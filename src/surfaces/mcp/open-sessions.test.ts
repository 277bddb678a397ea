/** Sessions of the older era: limited, expiring, unguessable and separate. Requests are made without a port. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { createMcpRoutes } from "./create-mcp-routes.ts";
import { AGENT, createMemoryGateway } from "./fixtures/memory-gateway.ts";

const LIMITS = { sessions: 2, idleMs: 1_000, requestBytes: 1_000, unfinishedBytes: 10_000 };

function open(t: TestContext, sessions = LIMITS.sessions) {
  const clock = { now: 0 };
  const gateway = createMemoryGateway();
  const door = { gateway, principal: AGENT, report: () => "in_1" };
  const mcp = createMcpRoutes(door, { now: () => clock.now, limits: { ...LIMITS, sessions } });
  t.after(() => mcp.close());
  const send = (method: string, session?: string, body?: string, principal = AGENT): Promise<Response> =>
    mcp.handle(
      new Request("http://127.0.0.1/mcp", {
        method,
        headers: {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          ...(session !== undefined && { "mcp-session-id": session }),
        },
        ...(body !== undefined && { body }),
      }),
      principal,
    );
  const initialize = async (principal = AGENT): Promise<{ status: number; id: string }> => {
    const { status, headers, body } = await send("POST", undefined, INITIALIZE, principal);
    for await (const _ of body ?? []); // a client reads its answer
    return { status, id: headers.get("mcp-session-id") ?? "" };
  };
  const ping = async (id: string, principal = AGENT): Promise<number> => {
    const { status, body } = await send("POST", id, PING, principal);
    for await (const _ of body ?? []); // a client reads its answer
    return status;
  };
  return { clock, gateway, send, initialize, ping };
}

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
});
const PING = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" });
const execute = (code: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "execute", arguments: { code } } });

test("an initialized client has a session with an id of 192 random bits, different for each", async (t) => {
  const { initialize, ping } = open(t);
  const [one, two] = [await initialize(), await initialize()];
  assert.match(one.id, /^[\w-]{32}$/);
  assert.notEqual(one.id, two.id);
  assert.deepEqual([await ping(one.id), await ping(two.id)], [200, 200]);
});

test("an unknown session is answered 404, and a missing one 400", async (t) => {
  const { initialize, ping, send } = open(t);
  const { id } = await initialize();
  assert.equal(await ping(`${id.slice(1)}A`), 404);
  assert.equal((await send("POST", undefined, PING)).status, 400);
  assert.equal((await send("GET")).status, 400);
  assert.equal(await ping(id), 200);
});

test("one session above the limit closes the one that was idle longest", async (t) => {
  const { clock, initialize, ping } = open(t);
  const first = await initialize();
  clock.now = 1;
  const second = await initialize();
  clock.now = 2;
  assert.equal(await ping(first.id), 200);
  clock.now = 3;
  const third = await initialize();
  assert.deepEqual([await ping(first.id), await ping(second.id), await ping(third.id)], [200, 404, 200]);
});

test("a principal that opens many sessions closes its own, and the oldest of another stays", async (t) => {
  const { clock, initialize, ping } = open(t, 3);
  const other = { ...AGENT, id: "token:other" as typeof AGENT.id };
  const ofOther = await initialize(other);
  const own: string[] = [];
  for (clock.now = 1; clock.now <= 4; clock.now += 1) own.push((await initialize()).id);
  assert.equal(await ping(ofOther.id, other), 200);
  assert.deepEqual(await Promise.all(own.map((id) => ping(id))), [404, 404, 200, 200]);
});

test("a new client never closes a session with an open request", async (t) => {
  const { gateway, initialize, send, ping } = open(t);
  const [one, two] = [await initialize(), await initialize()];
  const answers = [await send("POST", one.id, execute("wait 1")), await send("POST", two.id, execute("wait 2"))];
  assert.deepEqual(await initialize(), { status: 503, id: "" });
  assert.equal(await ping(one.id), 200);

  await answers[1]?.body?.cancel();
  assert.equal((await initialize()).status, 200);
  assert.deepEqual([await ping(one.id), await ping(two.id)], [200, 404]);
  assert.deepEqual(gateway.aborted, ["wait 2"]);
});

test("invalid requests without a session close no session", async (t) => {
  const { initialize, ping, send } = open(t);
  const [one, two] = [await initialize(), await initialize()];
  assert.equal((await send("POST", undefined, "{")).status, 400);
  assert.equal((await send("POST", undefined, PING)).status, 400);
  assert.deepEqual([await ping(one.id), await ping(two.id)], [200, 200]);
});

test("a session is open just below its idle time and closed at it", async (t) => {
  const { clock, initialize, ping } = open(t);
  const { id } = await initialize();
  clock.now = LIMITS.idleMs - 1;
  assert.equal(await ping(id), 200);
  clock.now = 2 * LIMITS.idleMs - 1;
  assert.equal(await ping(id), 404);
});

test("a session with an open stream is not idle", async (t) => {
  const { clock, initialize, ping, send } = open(t);
  const { id } = await initialize();
  const stream = await send("GET", id);
  assert.equal(stream.status, 200);
  clock.now = 10 * LIMITS.idleMs;
  assert.equal(await ping(id), 200);
  await stream.body?.cancel();
  clock.now = 20 * LIMITS.idleMs;
  assert.equal(await ping(id), 404);
});

test("a client closes its own session with its running executions", async (t) => {
  const { gateway, initialize, ping, send } = open(t);
  const [one, two] = [await initialize(), await initialize()];
  await send("POST", one.id, execute("wait"));
  assert.equal((await send("DELETE", one.id)).status, 200);
  assert.deepEqual([await ping(one.id), await ping(two.id)], [404, 200]);
  assert.deepEqual(gateway.aborted, ["wait"]);
});

test("a body at the size limit is accepted, one byte more is refused", async (t) => {
  const { initialize, send } = open(t);
  const { id } = await initialize();
  const atCap = PING.padEnd(LIMITS.requestBytes);
  assert.equal((await send("POST", id, atCap.slice(0, -1))).status, 200);
  assert.equal((await send("POST", id, atCap)).status, 200);
  assert.equal((await send("POST", id, `${atCap} `)).status, 413);
});

test("other HTTP methods are answered 405", async (t) => {
  const { initialize, send } = open(t);
  const { id } = await initialize();
  assert.equal((await send("PUT", id, PING)).status, 405);
});
