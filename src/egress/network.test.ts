/** The machine's own resolver and sockets: turns for a slow resolver, and real connections. */

import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";

import { createNetwork, takeTurns } from "./network.ts";

const NEVER = new AbortController().signal;

test("a limited number of lookups run at once, others wait, and callers with the same name share one", async () => {
  const open = new Map<string, () => void>();
  const resolve = takeTurns(2, (key) => new Promise<string>((done) => open.set(key, () => done(key))));
  const answers = Promise.all(["a", "b", "c", "a", "d"].map((key) => resolve(key, NEVER)));
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

test("a failed lookup passes its turn on, and the next caller looks up again", async () => {
  let asked = 0;
  const resolve = takeTurns(1, async (key) => {
    asked += 1;
    if (asked === 1) throw new Error("no answer");
    return key;
  });
  await assert.rejects(resolve("a", NEVER));
  assert.deepEqual([await resolve("a", NEVER), await resolve("b", NEVER), asked], ["a", "b", 3]);
});

test("a lookup without waiting callers never starts, and one with another caller does", async () => {
  const open = new Map<string, () => void>();
  const resolve = takeTurns(1, (key) => new Promise<string>((done) => open.set(key, () => done(key))));
  const [leaver, other] = [new AbortController(), new AbortController()];
  const kept = [resolve("first", NEVER), resolve("shared", NEVER), resolve("last", NEVER)];
  for (const key of ["gone", "shared"]) void resolve(key, leaver.signal);
  void resolve("gone", other.signal);
  leaver.abort();
  other.abort();
  for (const key of ["first", "shared", "last"]) {
    await nextTurn();
    open.get(key)?.();
  }
  assert.deepEqual(await Promise.all(kept), ["first", "shared", "last"]);
  assert.deepEqual([...open.keys()], ["first", "shared", "last"]);
  void resolve("gone", NEVER);
  await nextTurn();
  assert.deepEqual([...open.keys()].at(-1), "gone");
});

test("a socket reports its peer, and an abort or a refusal ends the attempt", async (context) => {
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
  assert.deepEqual(await network.resolve("127.0.0.1", { lane: "program", signal: NEVER }), ["127.0.0.1"]);
});
