/** The port: taken, forbidden, foreign, and closed at once. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";

import { GloveboxError } from "../../domain/index.ts";
import type { App } from "./create-app.ts";
import { startApp } from "./fixtures/start-app.ts";
import { listen } from "./listen.ts";

const createApp = (): App => ({ fetch: () => new Response("here"), stop: async () => {}, close: async () => {} });

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
      ["LISTEN_FAILED", `${host} can be reached from other machines, and Glovebox has no login yet`],
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
  const app = (): App => ({
    fetch: async ({ url }) => {
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
  await new Promise((soon) => setTimeout(soon, 100));
  await listener.close();
  const [told, silent] = await Promise.all(asked);
  assert.deepEqual([told?.status, await told?.text()], [200, "cancelled"]);
  assert.equal(silent?.status, 503);
  assert.match((await silent?.text()) ?? "", /Glovebox is shutting down/);
});
