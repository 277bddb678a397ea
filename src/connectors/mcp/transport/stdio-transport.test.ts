/** Large messages of a child server: read in slices, in order, and without stopping this thread for as long as one takes. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { StdioTransport } from "./stdio-transport.ts";

const LINES = `
  const rows = Array.from({ length: 240_000 }, (_, id) => ({ id, name: "name " + id, tags: ["a", "b"], more: { x: 1 } }));
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  send({ id: 1, result: { rows } });
  send({ method: "notifications/message", params: {} });
  send({ id: 2, result: {} });
  send({ id: 3, result: { rows } });
  send({ id: 4, result: { deep: 1 } });
`;

/** Processor milliseconds of this thread. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

test("large messages arrive whole and in order, and no turn of the event loop takes as long as parsing one at once", async () => {
  const transport = new StdioTransport({
    command: process.execPath,
    args: ["-e", LINES],
    env: {},
    messageBytes: 64 * 1024 * 1024,
    keeper: { keep: () => undefined, release: () => undefined },
    clean: (text) => text,
    now: Date.now,
  });
  const received: unknown[] = [];
  let large = "";
  let longest = 0;
  let last = threadMs();
  const look = (): void => void (longest = Math.max(longest, threadMs() - last));
  const watch = setInterval(() => {
    look();
    last = threadMs();
  }, 0);
  transport.onparsed = (message) => {
    look();
    received.push(message["id"] ?? message["method"]);
    if (message["id"] === 3) large = JSON.stringify(message);
    last = threadMs(); // what this test itself does with it does not count
    return true;
  };
  const closed = new Promise<void>((resolve) => (transport.onclose = resolve));
  await transport.start();
  await closed;
  clearInterval(watch);
  assert.deepEqual(received, [1, "notifications/message", 2, 3, 4]);
  const before = threadMs();
  const parsed: unknown = JSON.parse(large);
  const whole = threadMs() - before;
  assert.ok(parsed && large.length > 12_000_000);
  assert.ok(longest < whole, `${longest} of ${whole}`);
});
