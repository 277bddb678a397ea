/** A proxy carries bytes to addresses that were checked here: it is given no name, and it decides nothing. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, test } from "node:test";

import type { GloveboxError } from "../../domain/index.ts";

import { openEgress } from "../index.ts";
import { OTHER_PUBLIC, PUBLIC, allow, createStubNetwork, openStubServers } from "../fixtures/stub-network.ts";
import { tryFetch } from "../fixtures/try-fetch.ts";

const servers = openStubServers();
const network = createStubNetwork();
const asked: string[] = [];
const seen: IncomingMessage[] = [];
const routes = new Map<string, number>();
const OK = "HTTP/1.1 200 OK\r\n\r\n";
let reply = OK;
/** The required value of `Proxy-Authorization`, if any. */
let wanted: string | undefined;
const proxy = createServer((_, response) => void response.writeHead(200).end("I am the answer"));
proxy.on("connect", (request, socket) => {
  asked.push(request.url ?? "");
  const isKnown = wanted === undefined || request.headers["proxy-authorization"] === wanted;
  const challenge = 'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="canary"\r\nContent-Length: 0\r\n\r\n';
  socket.on("error", () => undefined).write(isKnown ? reply : challenge);
  const real = isKnown ? routes.get(request.url ?? "") : undefined;
  if (real === undefined) socket.end();
  else socket.pipe(connect(real, "127.0.0.1").on("error", () => socket.destroy())).pipe(socket);
});

before(async () => {
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  network.ports.set("10.0.0.9:3128", (proxy.address() as AddressInfo).port);
  network.answers.set("proxy.lan", ["10.0.0.9"]).set("allowed.example", [PUBLIC]).set("nas.local", ["10.0.0.5"]);
  const port = await servers.http((request, response) => {
    seen.push(request);
    response.end("hello");
  });
  const secure = await servers.https((_, response) => void response.end("secret"));
  routes.set(`${PUBLIC}:80`, port).set(`${PUBLIC}:443`, secure);
  network.ports.set("10.0.0.5:80", port);
});
beforeEach(() => {
  asked.splice(0);
  network.connections.splice(0);
  reply = OK;
  wanted = undefined;
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

test("public hosts are reached through the proxy, which is given the checked address", async () => {
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

test("the checks are the same with and without a proxy", async (context) => {
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

test("a proxy that refuses or sends data before its turn is a failure", async () => {
  for (reply of [
    "HTTP/1.1 403 No\r\n\r\n",
    "HTTP/1.1 204 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    "nonsense\r\n\r\n",
  ]) {
    assert.equal(await attempt("http://allowed.example/"), "UPSTREAM_UNREACHABLE", reply);
  }
});

/** The result of a request through the proxy with this account of the operator. */
async function tellAs(login?: () => Promise<{ user: string; password: string }>): Promise<readonly unknown[]> {
  await using egress = openEgress({ network, proxy: "http://proxy.lan:3128", ...(login && { proxyLogin: login }) });
  const request = { url: "http://allowed.example/", method: "GET", headers: [], body: undefined };
  const limits = { maxBytes: 100, totalMs: 5_000, idleMs: 2_000 };
  const signal = new AbortController().signal;
  return await egress.fetchFor(policies, { ...request, signal }, limits).then(
    ({ status }) => [status],
    (thrown: GloveboxError) => [thrown.code, thrown.message, thrown.details.hint],
  );
}

const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
const hint = "Ask the operator to check egress.proxyUser and egress.proxyPassword";

test("a proxy that requires credentials gets user name and password, and accepts only the right ones", async () => {
  wanted = basic("ada:pä:ss word");
  assert.deepEqual(await tellAs(async () => ({ user: "ada", password: "pä:ss word" })), [200]);
  const refusal = "The proxy refused the user name and password (407)";
  assert.deepEqual(await tellAs(async () => ({ user: "ada", password: "wrong-canary" })), [
    "UPSTREAM_UNREACHABLE",
    refusal,
    hint,
  ]);
  const question = "The proxy requires a user name and a password (407)";
  assert.deepEqual(await tellAs(), ["UPSTREAM_UNREACHABLE", question, hint]);
});

test("wrong proxy credentials are tried at one address only, and resolved again afterwards", async (context) => {
  context.after(() => network.answers.set("allowed.example", [PUBLIC]));
  network.answers.set("allowed.example", [PUBLIC, OTHER_PUBLIC]);
  wanted = basic("ada:new");
  const passwords = ["old", "new", "never asked for"];
  let times = 0;
  await using egress = openEgress({
    network,
    proxy: "http://proxy.lan:3128",
    proxyLogin: async () => ({ user: "ada", password: passwords[times++] ?? "" }),
  });
  assert.equal(await tryFetch({ egress, policies }, "http://allowed.example/"), "UPSTREAM_UNREACHABLE");
  assert.deepEqual(asked, [`${PUBLIC}:80`]);
  assert.equal(await tryFetch({ egress, policies }, "http://allowed.example/"), "200 hello");
  assert.equal(await tryFetch({ egress, policies }, "https://allowed.example/"), "200 secret");
  assert.equal(times, 2);
});

test("a proxy without configured credentials gets none, and the target never receives them", async () => {
  const heard: unknown[] = [];
  proxy.on("connect", (request) => heard.push(request.headers["proxy-authorization"] ?? null));
  assert.deepEqual(await tellAs(), [200]);
  assert.deepEqual(await tellAs(async () => ({ user: "ada", password: "canary" })), [200]);
  assert.deepEqual(heard, [null, basic("ada:canary")]);
  assert.deepEqual(seen.map(({ headers }) => headers["proxy-authorization"] ?? null).filter(Boolean), []);
});
