/** A proxy carries bytes to addresses that were checked here: it hears no name, and it decides nothing. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, test } from "node:test";

import { openEgress } from "./index.ts";
import { PUBLIC, allow, createStubNetwork, openStubServers } from "./fixtures/stub-network.ts";
import { tryFetch } from "./fixtures/try-fetch.ts";

const servers = openStubServers();
const network = createStubNetwork();
const asked: string[] = [];
const routes = new Map<string, number>();
let reply = "HTTP/1.1 200 OK\r\n\r\n";
const proxy = createServer((_, response) => void response.writeHead(200).end("I am the answer"));
proxy.on("connect", (request, socket) => {
  asked.push(request.url ?? "");
  socket.on("error", () => undefined).write(reply);
  const real = routes.get(request.url ?? "");
  if (real === undefined) socket.end();
  else socket.pipe(connect(real, "127.0.0.1").on("error", () => socket.destroy())).pipe(socket);
});

before(async () => {
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  network.ports.set("10.0.0.9:3128", (proxy.address() as AddressInfo).port);
  network.answers.set("proxy.lan", ["10.0.0.9"]).set("allowed.example", [PUBLIC]).set("nas.local", ["10.0.0.5"]);
  const port = await servers.http((_, response) => void response.end("hello"));
  const secure = await servers.https((_, response) => void response.end("secret"));
  routes.set(`${PUBLIC}:80`, port).set(`${PUBLIC}:443`, secure);
  network.ports.set("10.0.0.5:80", port);
});
beforeEach(() => {
  asked.splice(0);
  network.connections.splice(0);
  reply = "HTTP/1.1 200 OK\r\n\r\n";
});
after(() => {
  proxy.close().closeAllConnections();
  servers[Symbol.dispose]();
});

const policies = [allow(["allowed.example"], ["nas.local:80"])];
const attempt = async (url: string): Promise<string> => {
  await using egress = openEgress({ network, proxy: "http://proxy.lan:3128" });
  return await tryFetch({ egress, policies }, url);
};

test("public hosts are reached through the proxy, which is told the checked address", async () => {
  assert.deepEqual(
    [await attempt("http://allowed.example/"), await attempt("https://allowed.example/")],
    ["200 hello", "200 secret"],
  );
  assert.deepEqual(
    [asked, network.connections],
    [
      [`${PUBLIC}:80`, `${PUBLIC}:443`],
      ["10.0.0.9:3128", "10.0.0.9:3128"],
    ],
  );
});

test("the checks are the same as without it", async (context) => {
  context.after(() => network.answers.set("allowed.example", [PUBLIC]));
  network.answers.set("allowed.example", ["10.0.0.1"]);
  for (const url of [
    "http://allowed.example/",
    "http://proxy.lan:3128/",
    "http://127.0.0.1/",
    "http://evil.example/",
  ]) {
    assert.equal(await attempt(url), "EGRESS_DENIED", url);
  }
  assert.deepEqual([asked, network.connections], [[], []]);
});

test("a granted private host is reached without the proxy", async () => {
  assert.equal(await attempt("http://nas.local/"), "200 hello");
  assert.deepEqual([asked, network.connections], [[], ["10.0.0.5:80"]]);
});

test("a proxy that refuses, or speaks before its turn, is a failure", async () => {
  for (reply of ["HTTP/1.1 403 No\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "nonsense\r\n\r\n"]) {
    assert.equal(await attempt("http://allowed.example/"), "UPSTREAM_UNREACHABLE", reply);
  }
});
