/** Foreign Host and Origin headers are refused on every route; the allowed twin of each passes. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { startApp } from "./fixtures/start-app.ts";
import { MAX_BODY_BYTES, checkAddress, checkBodySize, findOwnAddresses } from "./guard.ts";

const PATHS = ["/health", "/ready", "/mcp", "/api/status", "/", "/nothing"];

test("every route refuses a request with another Host", async (t) => {
  const { send, listener } = await startApp(t);
  const hosts = [
    "evil.example",
    `evil.example:${listener.port}`,
    "127.0.0.1",
    "localhost",
    `localhost:${listener.port + 1}`,
    `127.0.0.1.evil.example:${listener.port}`,
    `0.0.0.0:${listener.port}`,
  ];
  for (const host of hosts) {
    for (const path of PATHS) assert.equal((await send(path, { headers: { host } })).status, 403, `${host} ${path}`);
  }
  const { body } = await send("/health", { headers: { host: "evil.example" } });
  assert.deepEqual(JSON.parse(body), {
    error: {
      code: "REQUEST_FORBIDDEN",
      message: "The Host header does not name this machine",
      retry: false,
      hint: `Use the address 127.0.0.1:${listener.port}`,
    },
  });
});

test("every loopback name with the right port is accepted", async (t) => {
  const { send, listener } = await startApp(t);
  for (const name of ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"]) {
    const host = `${name}:${listener.port}`;
    assert.equal((await send("/health", { headers: { host } })).status, 200, host);
  }
});

test("every route refuses a request of another origin", async (t) => {
  const { send, listener } = await startApp(t);
  const own = `http://127.0.0.1:${listener.port}`;
  const origins = [
    "http://evil.example",
    "null",
    "",
    `https://127.0.0.1:${listener.port}`,
    `${own}.evil.example`,
    `http://127.0.0.1:${listener.port + 1}`,
    `${own}/`,
    "file://",
  ];
  for (const origin of origins) {
    for (const path of PATHS)
      assert.equal((await send(path, { headers: { origin } })).status, 403, `${origin} ${path}`);
  }
});

test("requests of the admin page are accepted", async (t) => {
  const { send, listener } = await startApp(t);
  for (const name of ["127.0.0.1", "localhost", "[::1]"]) {
    const origin = `http://${name}:${listener.port}`;
    assert.equal((await send("/health", { headers: { origin } })).status, 200, origin);
  }
});

test("a preflight of another origin gets no permission", async (t) => {
  const { send } = await startApp(t);
  const asked = { origin: "http://evil.example", "access-control-request-method": "POST" };
  const { status, headers } = await send("/mcp", { method: "OPTIONS", headers: asked });
  assert.equal(status, 403);
  assert.equal(headers["access-control-allow-origin"], undefined);
});

const own = (port: number) => findOwnAddresses({ host: "127.0.0.1", port });

test("the Host header may omit the default port, but no other", () => {
  assert.doesNotThrow(() => checkAddress(new Headers({ host: "localhost" }), own(80)));
  assert.throws(() => checkAddress(new Headers({ host: "localhost" }), own(81)));
  assert.throws(() => checkAddress(new Headers(), own(80)));
});

const announce = (length: number): void => checkBodySize(new Headers({ "content-length": String(length) }));

test("a content length at the limit passes, one byte more is refused", () => {
  assert.doesNotThrow(() => announce(MAX_BODY_BYTES - 1));
  assert.doesNotThrow(() => announce(MAX_BODY_BYTES));
  assert.throws(() => announce(MAX_BODY_BYTES + 1), { code: "LIMIT_SIZE" });
  assert.doesNotThrow(() => checkBodySize(new Headers()));
});

test("a body above the limit is refused, with and without a content length", async (t) => {
  const { send } = await startApp(t);
  const body = " ".repeat(MAX_BODY_BYTES + 1);
  const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  const announced = await send("/mcp", {
    method: "POST",
    headers: { ...headers, "content-length": String(body.length) },
    body,
  });
  assert.equal(announced.status, 422);
  const chunked = await send("/mcp", { method: "POST", headers: { ...headers, "transfer-encoding": "chunked" }, body });
  assert.equal(chunked.status, 413);
});
