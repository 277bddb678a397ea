/** A stream that listens ends with its caller, and not before. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { endWithCaller, isListening } from "./end-with-caller.ts";

const open = () => {
  const source = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const cancelled = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({ start: source.resolve, cancel: () => cancelled.resolve() });
  return { response: new Response(body, { status: 200, headers: { "mcp-session-id": "s" } }), source, cancelled };
};
const write = async ({ source }: ReturnType<typeof open>, line: string): Promise<void> =>
  (await source.promise).enqueue(Buffer.from(line));

test("a stream ends once its caller is not valid, after what was sent before, and its source is told", async () => {
  const stream = open();
  const state = { isValid: true, asked: 0 };
  const isValid = async (): Promise<boolean> => {
    state.asked += 1;
    return state.isValid;
  };
  const watched = endWithCaller(stream.response, isValid, 1);
  assert.equal(watched.headers.get("mcp-session-id"), "s");
  await write(stream, "one ");
  const read = watched.text();
  while (state.asked < 3) await new Promise((soon) => setTimeout(soon, 1));
  await write(stream, "two");
  state.isValid = false;
  assert.equal(await read, "one two");
  await stream.cancelled.promise;
  const asked = state.asked;
  await new Promise((soon) => setTimeout(soon, 10));
  assert.equal(state.asked, asked, "no one is asked about a stream that has ended");
});

test("a stream of a valid caller ends when its source or its client ends it", async () => {
  for (const who of ["source", "client"]) {
    const stream = open();
    const watched = endWithCaller(stream.response, async () => true, 1);
    if (who === "source") (await stream.source.promise).close();
    else await watched.body?.cancel();
    if (who === "source") assert.equal(await watched.text(), "");
    else await stream.cancelled.promise;
  }
});

test("only streams without a call are listening", () => {
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call" };
  assert.equal(isListening("GET"), true);
  assert.equal(isListening("POST", { ...call, method: "subscriptions/listen" }), true);
  for (const body of [call, [call], undefined]) assert.equal(isListening("POST", body), false);
});
