/** Calls on a pipe: each answer settles the call that it belongs to, and everything else is left to the client. */

import assert from "node:assert/strict";
import { Socket } from "node:net";
import { mock, test } from "node:test";
import { fileURLToPath } from "node:url";

import { ProtocolError } from "@modelcontextprotocol/client";

import { isJsonObject, parseJson } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { NEVER } from "../../timing/index.ts";
import { DirectCalls, InputRequired } from "./direct-calls.ts";
import type { Era } from "./era.ts";
import { child, connect } from "./fixtures/connect.ts";
import { StdioTransport } from "./transport/stdio-transport.ts";
import type { LineChannel } from "./transport/stdio-transport.ts";

const HOSTILE = fileURLToPath(new URL("fixtures/hostile-server.mjs", import.meta.url));
const FIRST_ID = 2 ** 30;
const RESULT = { content: [] };

/** A server that the test plays: what was sent, and a way to answer. */
function open(era: Era = "legacy") {
  const sent: JsonObject[] = [];
  const writes: ((error?: unknown) => void)[] = [];
  const channel: LineChannel = {
    sendLine: (line, onWritten) => {
      const message = parseJson(line);
      sent.push(isJsonObject(message) ? message : assert.fail(line));
      writes.push(onWritten);
    },
  };
  const revision = era === "modern" ? "2026-07-28" : "2025-11-25";
  const calls = new DirectCalls(channel, { era, revision, client: { name: "glovebox", version: "1" } });
  /** True if the message was used and the client must not see it. */
  const receive = (fields: JsonObject): boolean | undefined => channel.onparsed?.({ jsonrpc: "2.0", ...fields });
  return { calls, channel, sent, writes, receive };
}

/** How a call ended, or `open` if it has not ended yet. */
async function stateOf(call: Promise<unknown>): Promise<unknown> {
  return Promise.race([call.catch((error: unknown) => error), new Promise((resolve) => setImmediate(resolve, "open"))]);
}

test("a call is one message, with the progress token and the trace in its _meta", () => {
  const { calls, sent } = open();
  const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
  const onProgress = (): void => undefined;
  void calls.call("echo", { a: 1 }, { signal: NEVER });
  void calls.call("echo", {}, { signal: NEVER, onProgress, trace: { traceparent } });
  assert.deepEqual(sent, [
    { jsonrpc: "2.0", id: FIRST_ID, method: "tools/call", params: { name: "echo", arguments: { a: 1 } } },
    {
      jsonrpc: "2.0",
      id: FIRST_ID + 1,
      method: "tools/call",
      params: { name: "echo", arguments: {}, _meta: { traceparent, progressToken: FIRST_ID + 1 } },
    },
  ]);
});

test("a call of 2026-07-28 and its cancellation have the envelope of that revision", async () => {
  const { calls, sent } = open("modern");
  const stop = new AbortController();
  const stopped = calls.call("echo", {}, { signal: stop.signal });
  stop.abort(new Error("an internal reason"));
  await assert.rejects(stopped);
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "glovebox", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} } },
  };
  assert.deepEqual(
    sent.map(({ params }) => params),
    [
      { name: "echo", arguments: {}, _meta },
      { requestId: FIRST_ID, reason: "cancelled", _meta },
    ],
  );
});

test("answers in any order settle their calls, also with the id as a string", async () => {
  const { calls, receive } = open();
  const [first, second] = ["a", "b"].map((name) => calls.call(name, {}, { signal: NEVER }));
  assert.equal(receive({ id: String(FIRST_ID + 1), result: { content: ["second"] } }), true);
  assert.equal(receive({ id: FIRST_ID, result: { content: ["first"], _meta: { any: 1 } } }), true);
  assert.deepEqual(await Promise.all([first, second]), [
    { content: ["first"], _meta: { any: 1 } },
    { content: ["second"] },
  ]);
});

test("a second answer, a late one and one with an unknown id change nothing and do not reach the client", async () => {
  const { calls, receive, sent } = open();
  const answered = calls.call("a", {}, { signal: NEVER });
  const stop = new AbortController();
  const cancelled = calls.call("b", {}, { signal: stop.signal });
  const other = calls.call("c", {}, { signal: NEVER });
  receive({ id: FIRST_ID, result: RESULT });
  stop.abort();
  await assert.rejects(cancelled);
  assert.deepEqual(sent.at(-1), {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: FIRST_ID + 1, reason: "cancelled" },
  });
  for (const id of [FIRST_ID, FIRST_ID + 1, FIRST_ID + 1000]) {
    assert.equal(receive({ id, result: { content: ["not yours"] } }), true);
  }
  assert.deepEqual([await answered, await stateOf(other)], [RESULT, "open"]);
});

test("messages that are not answers of these calls are left to the client", async () => {
  const { calls, receive } = open();
  const call = calls.call("a", {}, { signal: NEVER, onProgress: () => assert.fail("not this call") });
  const foreign: JsonObject[] = [
    { id: 3, result: RESULT },
    { id: `${FIRST_ID}x`, result: RESULT },
    { id: FIRST_ID, result: "not an object" },
    { id: FIRST_ID, result: { _meta: 1 } },
    { id: FIRST_ID, result: RESULT, extra: 1 },
    { id: FIRST_ID, error: { code: 1.5, message: "x" } },
    { id: FIRST_ID, error: { code: 1 } },
    { jsonrpc: "1.0", id: FIRST_ID, result: RESULT },
    { id: FIRST_ID, method: "ping" },
    { method: "notifications/tools/list_changed" },
    { method: "notifications/progress", params: { progressToken: 3, progress: 1 } },
  ];
  assert.deepEqual(
    foreign.map((message) => receive(message)),
    foreign.map(() => false),
  );
  assert.equal(await stateOf(call), "open");
});

test("an error answer rejects with the error of the protocol", async () => {
  const { calls, receive } = open();
  const call = calls.call("a", {}, { signal: NEVER });
  assert.equal(receive({ id: FIRST_ID, error: { code: -32_602, message: "no", data: { why: 1 } } }), true);
  await assert.rejects(call, (thrown) => {
    assert.ok(thrown instanceof ProtocolError);
    assert.deepEqual([thrown.code, thrown.message, thrown.data], [-32_602, "no", { why: 1 }]);
    return true;
  });
});

test("progress reaches its call while that is open, and invalid progress reaches nothing", async () => {
  const { calls, receive } = open();
  const heard: unknown[] = [];
  const call = calls.call("a", {}, { signal: NEVER, onProgress: (one) => void heard.push({ ...one }) });
  const report = (params: JsonObject): boolean | undefined =>
    receive({ method: "notifications/progress", params: { progressToken: FIRST_ID, ...params } });
  const used = [
    report({ progress: 1, total: 2, message: "half" }),
    report({ progress: 2 }),
    report({ progress: "3" }),
    report({ progress: 3, total: "4" }),
    report({ progress: 3, message: 5 }),
    receive({ id: FIRST_ID, result: RESULT }),
    report({ progress: 4 }),
  ];
  await call;
  assert.deepEqual(heard, [{ progress: 1, total: 2, message: "half" }, { progress: 2 }]);
  assert.deepEqual(
    used,
    used.map(() => true),
  );
});

test("a result of 2026-07-28 needs a type, and a request for input is recognized", async () => {
  const { calls, receive } = open("modern");
  const answer = async (result: JsonObject): Promise<unknown> => {
    const call = calls.call("a", {}, { signal: NEVER });
    receive({ id: id++, result });
    return stateOf(call);
  };
  let id = FIRST_ID;
  assert.deepEqual(await answer({ resultType: "complete", ...RESULT }), { resultType: "complete", ...RESULT });
  for (const ask of [{ inputRequests: { a: {} } }, { requestState: "half" }]) {
    assert.ok((await answer({ resultType: "input_required", ...ask })) instanceof InputRequired);
  }
  for (const wrong of [RESULT, { resultType: "task" }, { resultType: 1 }, { resultType: "input_required" }]) {
    assert.match(String(await answer(wrong)), /Invalid result for tools\/call/);
  }
});

test("a result of the 2025 era needs no type, and one that it has does not matter", async () => {
  const { calls, receive } = open();
  const call = calls.call("a", {}, { signal: NEVER });
  const result = { resultType: "input_required", requestState: "half", ...RESULT };
  receive({ id: FIRST_ID, result });
  assert.deepEqual(await call, result);
});

test("a write that fails and a closed input fail their own calls alone", async () => {
  const { calls, channel, writes } = open();
  const [failed, written] = ["a", "b"].map((name) => calls.call(name, {}, { signal: NEVER }));
  writes[0]?.(new Error("broken pipe"));
  writes[1]?.();
  assert.deepEqual(await stateOf(failed ?? assert.fail()), new Error("broken pipe"));
  assert.equal(await stateOf(written ?? assert.fail()), "open");
  Object.assign(channel, {
    sendLine: () => {
      throw new Error("closed");
    },
  });
  await assert.rejects(calls.call("c", {}, { signal: NEVER }), new Error("closed"));
});

test("a call whose signal has fired is not sent", async () => {
  const { calls, sent } = open();
  await assert.rejects(calls.call("a", {}, { signal: AbortSignal.abort(new Error("too late")) }), /too late/);
  assert.deepEqual(sent, []);
});

test("the end of the connection fails every call, and untilIdle waits for the last one", async () => {
  const { calls, receive } = open();
  await calls.untilIdle();
  const ends = ["a", "b"].map((name) => calls.call(name, {}, { signal: NEVER }));
  const idle = calls.untilIdle();
  receive({ id: FIRST_ID, result: RESULT });
  assert.equal(await stateOf(idle), "open");
  calls.end();
  await idle;
  const [first, second] = await Promise.allSettled(ends);
  assert.deepEqual(first, { status: "fulfilled", value: RESULT });
  assert.match(second?.status === "rejected" ? String(second.reason) : "", /Connection closed/);
});

test("a hundred calls of one turn reach the server in one write, and later ones in another", async () => {
  await using connector = connect(child(HOSTILE));
  await connector.tools();
  const write = mock.method(Socket.prototype, "write");
  try {
    const call = async (n: number): Promise<Json> => (await connector.call("echo", { n }, { signal: NEVER })).value;
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => call(n)));
    assert.deepEqual(
      answers,
      answers.map((_, n) => ({ n })),
    );
    await call(100);
    const texts = write.mock.calls.map(({ arguments: [text] }) => String(text));
    assert.deepEqual(
      texts.map((text) => text.split('"tools/call"').length - 1).filter((count) => count > 0),
      [100, 1],
    );
  } finally {
    write.mock.restore();
  }
});

test("what waits for a server that does not read may reach the limit; then nothing more is accepted", async () => {
  const options = { command: "sleep", args: ["60"], env: { PATH: process.env["PATH"] }, messageBytes: 100 };
  const keeper = { keep: () => undefined, release: () => undefined };
  const transport = new StdioTransport({ ...options, keeper, clean: (text) => text, now: Date.now });
  await transport.start();
  try {
    const send = (length: number): void => transport.sendLine("x".repeat(length - 1), () => undefined);
    send(99);
    send(1);
    send(1);
    assert.throws(() => send(1), /The server does not read its input/);
  } finally {
    await transport.close();
  }
});
