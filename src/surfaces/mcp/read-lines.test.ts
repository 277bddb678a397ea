/** Lines that are not messages are answered with an error and do not end the connection. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject } from "../../domain/index.ts";
import { createLineReader } from "./read-lines.ts";

function read(pieces: readonly string[], maxBytes = 100): { passed: string; refused: string[] } {
  const refused: string[] = [];
  const passed: JsonObject[] = [];
  const reader = createLineReader(maxBytes, {
    onMessage: (message) => passed.push(message),
    refuse: ({ error }) => refused.push((error as { message: string }).message),
  });
  for (const piece of pieces) reader(Buffer.from(piece));
  return { passed: passed.map((message) => `${JSON.stringify(message)}\n`).join(""), refused };
}

const MESSAGE = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

test("messages pass unchanged in any chunks, and empty lines are dropped", () => {
  const { passed, refused } = read([`${MESSAGE}\n\n${MESSAGE.slice(0, 5)}`, `${MESSAGE.slice(5)}\r\n`]);
  assert.deepEqual([passed, refused], [`${MESSAGE}\n${MESSAGE}\n`, []]);
});

test("a line that is not a message is answered with an error, and the next line is read", () => {
  const { passed, refused } = read(["[]\n", "5\n", "{\n", "{}\n", '{"jsonrpc":"2.0"}\n', `${MESSAGE}\n`]);
  assert.equal(passed, `${MESSAGE}\n`);
  assert.deepEqual(refused, [
    "Invalid request: batches are not supported",
    "Invalid request: the line is not a JSON-RPC 2.0 message",
    "Parse error: the line is not JSON",
    "Invalid request: the line is not a JSON-RPC 2.0 message",
    "Invalid request: the line is not a JSON-RPC 2.0 message",
  ]);
});

test("a request whose id is neither a string nor an integer is refused; other ids and notifications pass", () => {
  const of = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
  const bad = read(["null", "{}", "[1]", "1.5", "true"].map(of));
  const message = "Invalid request: an id must be a string or an integer";
  assert.deepEqual(bad, { passed: "", refused: Array.from({ length: 5 }, () => message) });
  const good = ['"a"', "0", "-3"].map(of);
  good.push('{"jsonrpc":"2.0","method":"ping"}\n', '{"jsonrpc":"2.0","id":null,"error":{}}\n');
  assert.deepEqual(read(good), { passed: good.join(""), refused: [] });
});

test("a line below and at the size limit passes, one above is refused, and the next line is read", () => {
  const at = MESSAGE.length;
  assert.equal(read([`${MESSAGE}\n`], at + 1).passed, `${MESSAGE}\n`);
  assert.equal(read([`${MESSAGE}\n`], at).passed, `${MESSAGE}\n`);
  const { passed, refused } = read([`${MESSAGE} `, ` \n${MESSAGE}\n`], at);
  assert.deepEqual([passed, refused], [`${MESSAGE}\n`, [`Invalid request: the message has more than ${at} bytes`]]);
});
