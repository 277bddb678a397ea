/** Lines that are not messages are answered with an error and do not end the connection. */

import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { filterLines } from "./filter-lines.ts";

async function filter(pieces: readonly string[], maxBytes = 100): Promise<{ passed: string; refused: string[] }> {
  const refused: string[] = [];
  const lines = filterLines(maxBytes, (line) =>
    refused.push((JSON.parse(line) as { error: { message: string } }).error.message),
  );
  const passed = text(lines);
  for (const piece of pieces) lines.write(Buffer.from(piece));
  lines.end();
  return { passed: await passed, refused };
}

const MESSAGE = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

test("messages pass unchanged in any chunks, and empty lines are dropped", async () => {
  const { passed, refused } = await filter([`${MESSAGE}\n\n${MESSAGE.slice(0, 5)}`, `${MESSAGE.slice(5)}\r\n`]);
  assert.deepEqual([passed, refused], [`${MESSAGE}\n${MESSAGE}\r\n`, []]);
});

test("a line that is not a message is answered with an error, and the next line is read", async () => {
  const { passed, refused } = await filter(["[]\n", "5\n", "{\n", "{}\n", '{"jsonrpc":"2.0"}\n', `${MESSAGE}\n`]);
  assert.equal(passed, `${MESSAGE}\n`);
  assert.deepEqual(refused, [
    "Invalid request: batches are not supported",
    "Invalid request: the line is not a JSON-RPC 2.0 message",
    "Parse error: the line is not JSON",
    "Invalid request: the line is not a JSON-RPC 2.0 message",
    "Invalid request: the line is not a JSON-RPC 2.0 message",
  ]);
});

test("a request whose id is neither a string nor an integer is refused; other ids and notifications pass", async () => {
  const of = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
  const bad = await filter(["null", "{}", "[1]", "1.5", "true"].map(of));
  const message = "Invalid request: an id must be a string or an integer";
  assert.deepEqual(bad, { passed: "", refused: Array.from({ length: 5 }, () => message) });
  const good = ['"a"', "0", "-3"].map(of);
  good.push('{"jsonrpc":"2.0","method":"ping"}\n', '{"jsonrpc":"2.0","id":null,"error":{}}\n');
  assert.deepEqual(await filter(good), { passed: good.join(""), refused: [] });
});

test("a line below and at the size limit passes, one above is refused, and the next line is read", async () => {
  const at = MESSAGE.length;
  assert.equal((await filter([`${MESSAGE}\n`], at + 1)).passed, `${MESSAGE}\n`);
  assert.equal((await filter([`${MESSAGE}\n`], at)).passed, `${MESSAGE}\n`);
  const { passed, refused } = await filter([`${MESSAGE} `, ` \n${MESSAGE}\n`], at);
  assert.deepEqual([passed, refused], [`${MESSAGE}\n`, [`Invalid request: the message has more than ${at} bytes`]]);
});
