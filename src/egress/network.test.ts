/** The machine's own powers: turns for a slow resolver, and real sockets. */

import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";

import { createNetwork, takeTurns } from "./network.ts";

test("at most so many are under way, others wait, and whoever asks for the same shares the answer", async () => {
  const open = new Map<string, () => void>();
  const resolve = takeTurns(2, (key) => new Promise<string>((done) => open.set(key, () => done(key))));
  const answers = Promise.all(["a", "b", "c", "a", "d"].map(resolve));
  await nextTurn();
  assert.deepEqual([...open.keys()], ["a", "b"]);
  open.get("a")?.();
  await nextTurn();
  assert.deepEqual([...open.keys()], ["a", "b", "c"]);
  for (const key of ["b", "c"]) open.get(key)?.();
  await nextTurn();
  open.get("d")?.();
  assert.deepEqual(await answers, ["a", "b", "c", "a", "d"]);
});

test("one that failed gives its turn on, and is asked again by the next", async () => {
  let asked = 0;
  const resolve = takeTurns(1, async (key) => {
    asked += 1;
    if (asked === 1) throw new Error("no answer");
    return key;
  });
  await assert.rejects(resolve("a"));
  assert.deepEqual([await resolve("a"), await resolve("b"), asked], ["a", "b", 3]);
});

test("a socket knows its peer, and an abort or a refusal ends the attempt", async (context) => {
  const server = createServer((socket) => void socket.end());
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const network = createNetwork();
  const { socket, peer } = await network.connect("127.0.0.1", port, AbortSignal.timeout(5000));
  socket.destroy();
  assert.equal(peer, "127.0.0.1");
  await assert.rejects(network.connect("127.0.0.1", port, AbortSignal.abort("no")), (reason) => reason === "no");
  await assert.rejects(network.connect("127.0.0.1", 1, AbortSignal.timeout(5000)), { code: "ECONNREFUSED" });
  assert.deepEqual(await network.resolve("127.0.0.1", "program"), ["127.0.0.1"]);
});
