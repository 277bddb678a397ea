/** The port: taken, forbidden, foreign, and closed at once. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import { GloveboxError } from "../../domain/index.ts";
import type { App } from "./create-app.ts";
import { startApp } from "./fixtures/start-app.ts";
import { listen } from "./listen.ts";
import type { Listener } from "./listen.ts";

const createApp = (): App => ({ fetch: () => new Response("here"), stop: async () => {}, close: async () => {} });

const readsBodies = (): App => ({ ...createApp(), fetch: async (request) => new Response(await request.text()) });

const WIDE = { requestMs: 600_000, connections: 512 };

/** A connection on which half a request was sent. */
function sendHalf({ port }: Listener) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  const answer = text(socket);
  socket.write(`POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nContent-Length: 8\r\n\r\nhalf`);
  return { answer, finish: () => void socket.write("more") };
}

/** The answer is empty if the connection was closed without one. */
async function sendWhole(listener: Listener): Promise<string> {
  const { answer, finish } = sendHalf(listener);
  finish();
  return answer.catch(() => "");
}

const broken = (): App => {
  throw new TypeError("broken");
};

async function refusal(host: string, port: number): Promise<[string, string, string | undefined]> {
  const error = await listen({ createApp, host, port }).then(
    async (listener) => {
      await listener.close();
      assert.fail("It listens");
    },
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof GloveboxError);
  return [error.code, error.message, error.details.hint];
}

test("listen opens a free port and returns its URL", async (t) => {
  const listener = await listen({ createApp, host: "127.0.0.1", port: 0 });
  t.after(() => listener.close());
  assert.equal(listener.url, `http://127.0.0.1:${listener.port}`);
  assert.ok(listener.port > 0);
});

test("a port in use is LISTEN_FAILED with a remedy", async (t) => {
  const { listener } = await startApp(t);
  assert.deepEqual(await refusal("127.0.0.1", listener.port), [
    "LISTEN_FAILED",
    `Cannot listen on 127.0.0.1:${listener.port}: another program uses it`,
    "Choose another port with `--port`, or stop the other program",
  ]);
});

test("an address that other machines can reach is refused", async () => {
  for (const host of ["0.0.0.0", "::", "192.168.1.5", "example.com", "127.evil.example", ""]) {
    const [code, message] = await refusal(host, 0);
    assert.deepEqual(
      [code, message],
      ["LISTEN_FAILED", `${host} can be reached from other machines, and no client could log in`],
    );
  }
});

test("listen closes the port if the application cannot be created", async () => {
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const address = free.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  await new Promise((resolve) => free.close(resolve));
  await assert.rejects(listen({ createApp: broken, host: "127.0.0.1", port }), TypeError);
  const again = await listen({ createApp, host: "127.0.0.1", port });
  assert.equal(again.port, port);
  await again.close();
});

test("closing ends kept-alive connections at once", async (t) => {
  const { listener } = await startApp(t);
  const socket = connect(listener.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`GET /health HTTP/1.1\r\nHost: 127.0.0.1:${listener.port}\r\nConnection: keep-alive\r\n\r\n`);
  await once(socket, "data");
  const closed = once(socket, "close");
  await listener.close();
  await closed;
});

test("closing answers an open request with its result or with 503", async (t) => {
  const stopped = Promise.withResolvers<void>();
  const arrived = new Map(["/told", "/silent"].map((path) => [path, Promise.withResolvers<void>()]));
  const app = (): App => ({
    fetch: async ({ url }) => {
      arrived.get(new URL(url).pathname)?.resolve();
      await stopped.promise;
      return url.endsWith("/told") ? new Response("cancelled") : new Promise<Response>(() => {});
    },
    stop: async () => stopped.resolve(),
    close: async () => {},
  });
  const listener = await listen({ createApp: app, host: "127.0.0.1", port: 0 });
  t.after(() => listener.close());
  const ask = (path: string): Promise<Response> => globalThis.fetch(`${listener.url}${path}`, { method: "POST" });
  const asked = [ask("/told"), ask("/silent")];
  await Promise.all([...arrived.values()].map(({ promise }) => promise));
  await listener.close();
  const [told, silent] = await Promise.all(asked);
  assert.deepEqual([told?.status, await told?.text()], [200, "cancelled"]);
  assert.equal(silent?.status, 503);
  assert.match((await silent?.text()) ?? "", /Glovebox is shutting down/);
});

test("an answer that comes after the 503 of closing is dropped without an error", async (t) => {
  const logged = t.mock.method(console, "error", () => {});
  const arrived = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let isDropped = false;
  const app = (): App => ({
    ...createApp(),
    fetch: async () => {
      arrived.resolve();
      await closed.promise;
      return new Response(new ReadableStream({ cancel: () => void (isDropped = true) }));
    },
    close: async () => closed.resolve(),
  });
  const listener = await listen({ createApp: app, host: "127.0.0.1", port: 0 });
  const asked = globalThis.fetch(listener.url, { method: "POST" });
  await arrived.promise;
  await listener.close();
  assert.deepEqual([(await asked).status, isDropped], [503, true]);
  assert.deepEqual(
    logged.mock.calls.map(({ arguments: [error] }) => String(error)),
    [],
  );
});

test("a request that does not arrive in time is answered 408 and its connection is closed", async (t) => {
  const limits = { ...WIDE, requestMs: 200 };
  const listener = await listen({ createApp: readsBodies, host: "127.0.0.1", port: 0, limits });
  t.after(() => listener.close());
  const { answer } = sendHalf(listener);
  assert.match(await answer, /^HTTP\/1.1 408 /);
});

test("a request that arrives in two parts within its time is answered", async (t) => {
  const listener = await listen({ createApp: readsBodies, host: "127.0.0.1", port: 0, limits: WIDE });
  t.after(() => listener.close());
  const { answer, finish } = sendHalf(listener);
  await globalThis.fetch(listener.url);
  finish();
  assert.match(await answer, /^HTTP\/1.1 200 [^]*halfmore$/);
});

test("an answer may take longer than a request may take to arrive", async (t) => {
  const app = (): App => ({
    ...createApp(),
    fetch: async () => {
      await delay(2_500);
      return new Response("late");
    },
  });
  const limits = { ...WIDE, requestMs: 1_000 };
  const listener = await listen({ createApp: app, host: "127.0.0.1", port: 0, limits });
  t.after(() => listener.close());
  assert.equal(await (await globalThis.fetch(listener.url, { method: "POST", body: "all" })).text(), "late");
});

test("connections up to the limit are answered, and further ones are closed until one ends", async (t) => {
  const limits = { ...WIDE, connections: 2 };
  const listener = await listen({ createApp: readsBodies, host: "127.0.0.1", port: 0, limits });
  t.after(() => listener.close());
  const [first, second] = [sendHalf(listener), sendHalf(listener)];
  assert.equal(await sendWhole(listener), "");
  for (const { finish } of [first, second]) finish();
  assert.match(await first.answer, /halfmore$/);
  assert.match(await second.answer, /halfmore$/);
  let later = "";
  while (later === "") later = await sendWhole(listener);
  assert.match(later, /halfmore$/);
});

test("a request that arrives while the port is being opened is answered", async (t) => {
  let first: Promise<string> = Promise.resolve("");
  const uid = process.getuid?.();
  const listener = await listen({
    createApp: (port) => {
      first = sendWhole({ port, url: "", close: async () => undefined });
      return createApp();
    },
    host: "127.0.0.1",
    port: 0,
    uid,
  });
  t.after(() => listener.close());
  assert.match(await sendWhole(listener), /here$/);
  assert.match(await Promise.race([first, delay(2_000, "no answer", { ref: false })]), /here$/);
});
