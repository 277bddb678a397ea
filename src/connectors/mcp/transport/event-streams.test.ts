/** Event streams are split at every kind of line end, wherever their chunks end. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { limitEvents } from "./event-streams.ts";
import { createLargeEvents } from "./large-events.ts";

const LARGE = "x".repeat(70_000);
const ENDS = { LF: "\n", CR: "\r", CRLF: "\r\n" };

/** The same stream, in chunks of `size` bytes. */
function cut(text: string, size: number): Uint8Array[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

interface Reading {
  readonly send: (text: string) => Promise<void>;
  readonly next: () => Promise<string>;
  readonly cancel: () => Promise<void>;
  readonly restore: (message: object) => void;
}

async function open(): Promise<Reading> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 100 });
  const answer = async () => new Response(readable, { headers: { "content-type": "text/event-stream" } });
  const largeEvents = createLargeEvents();
  const fetch = limitEvents({ whole: answer, endless: answer, maxBytes: 1_000_000, largeEvents });
  const { body } = await fetch("http://127.0.0.1/", { method: "POST" });
  assert.ok(body);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const writer = writable.getWriter();
  return {
    send: (text) => writer.write(Buffer.from(text)),
    next: async () => (await reader.read()).value ?? "",
    cancel: () => reader.cancel(),
    restore: largeEvents.restore,
  };
}

function restored(event: string, restore: Reading["restore"]): unknown {
  const message: unknown = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "");
  assert.ok(typeof message === "object" && message);
  restore(message);
  return message;
}

async function readAll(chunks: readonly Uint8Array[], maxBytes = 1_000_000): Promise<string> {
  const body = ReadableStream.from(chunks);
  const answer = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
  const fetch = limitEvents({ whole: answer, endless: answer, maxBytes, largeEvents: createLargeEvents() });
  return (await fetch("http://127.0.0.1/", { method: "GET" })).text();
}

for (const [name, end] of Object.entries(ENDS)) {
  const event = (...lines: string[]): string => [...lines, "", ""].join(end);

  test(`events with ${name} are split alike, however the stream is cut`, async () => {
    const text = event("data: 1") + event(": hi") + event("id: 7", "data: ä", "data: 2") + end + event("data: 3");
    const expected = "data: 1\n\n: hi\n\nid: 7\ndata: ä\ndata: 2\n\n\ndata: 3\n\n";
    for (const size of [1, 2, 3, 5, 1_000]) assert.equal(await readAll(cut(text, size)), expected, String(size));
  });

  test(`an event with ${name} is passed on before the next one begins`, async () => {
    const { send, next } = await open();
    await send(event("data: 1"));
    assert.equal(await next(), "data: 1\n\n");
    await send(event("data: 2"));
    assert.equal(await next(), "data: 2\n\n");
  });

  test(`a large message with ${name} becomes a short one, and its result is put back`, async () => {
    const { send, next, restore } = await open();
    const message = { jsonrpc: "2.0", id: 1, result: { rows: [LARGE] } };
    await send(event("event: message", "id: 9", `data: ${JSON.stringify(message)}`));
    const short = await next();
    assert.ok(short.length < 200 && short.startsWith("event: message\nid: 9\ndata: {"), short.slice(0, 300));
    assert.deepEqual(restored(short, restore), message);
    await send(event("data: 2"));
    assert.equal((await next()).trimStart(), "data: 2\n\n");
  });

  test(`the limit of one event with ${name} is not the limit of its stream`, async () => {
    const one = event(`data: ${"x".repeat(80)}`);
    assert.equal((await readAll(cut(one.repeat(50), 64), 100)).length, 88 * 50);
    await assert.rejects(readAll(cut(event(`data: ${"x".repeat(100)}`), 64), 100), { code: "LIMIT_SIZE" });
  });
}

test("a large error and large parameters are put back", async () => {
  const { send, next, restore } = await open();
  for (const message of [
    { jsonrpc: "2.0", id: 1, error: { code: -1, message: LARGE, data: [LARGE] } },
    { jsonrpc: "2.0", method: "notifications/message", params: { data: LARGE } },
  ]) {
    await send(`data: ${JSON.stringify(message)}\n\n`);
    const short = await next();
    assert.ok(short.length < 200);
    assert.deepEqual(restored(short, restore), message);
  }
});

test("a large event without a message is not parsed by the SDK", async () => {
  const { send, next } = await open();
  const events = [
    [`: ${LARGE}`, "\n"],
    [`data: ["${LARGE}"]`, "data: {}\n\n"],
    [`data: {"jsonrpc":"2.0","id":1,"result":"${LARGE}"}`, "data: {}\n\n"],
    [`event: other\ndata: {"jsonrpc":"2.0","id":1,"result":{"a":"${LARGE}"}}`, "event: other\n\n"],
  ];
  for (const [event = "", expected] of events) {
    await send(`${event}\n\n`);
    assert.equal(await next(), expected);
  }
});

test("nothing is kept for a stream that is given up", async () => {
  const { send, next, cancel, restore } = await open();
  await send(`data: {"jsonrpc":"2.0","id":1,"result":{"a":"${LARGE}"}}\n\n`);
  const short = await next();
  await cancel();
  assert.deepEqual(restored(short, restore), { jsonrpc: "2.0", id: 1, result: { "glovebox:large": 1 } });
});
