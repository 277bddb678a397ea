/** Egress against real servers on loopback: one that is configured and one that must never receive a request. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";

import { GloveboxError } from "../domain/index.ts";

import { openEgress } from "./index.ts";
import type { FetchLike } from "./index.ts";

const LIMIT = 1000;
const closers: (() => void)[] = [];
const heard: string[] = [];
let home = "";
let elsewhere = "";

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close().closeAllConnections());
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  return `http://127.0.0.1:${address.port}`;
}

function redirect(response: ServerResponse, status: number, location: string): void {
  response.writeHead(status, { location }).end();
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", home);
  const count = Number(url.searchParams.get("n") ?? 0);
  switch (url.pathname) {
    case "/away":
      return redirect(response, 307, `${elsewhere}/secret`);
    case "/hop":
      return redirect(response, count > 1 ? 307 : 308, count > 1 ? `/hop?n=${count - 1}` : "/echo");
    case "/see-other":
      return redirect(response, 303, "/echo");
    case "/to-credentials":
      return redirect(response, 307, home.replace("//", "//user:pw@"));
    case "/bytes":
      return void response.end("x".repeat(count));
    case "/chunked":
      return void response.writeHead(200, { "transfer-encoding": "chunked" }).end("x".repeat(count));
    case "/zipped":
      return void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("x".repeat(count)));
    case "/never":
      return;
    default:
      request.pipe(response.writeHead(200, { "x-method": request.method ?? "" }));
  }
}

before(async () => {
  home = await serve(answer);
  elsewhere = await serve((request, response) => {
    heard.push(request.url ?? "");
    response.end("stolen");
  });
});
beforeEach(() => void heard.splice(0));
after(() => closers.forEach((close) => close()));

const fetchHome = (): FetchLike => openEgress().fetchFrom(home, { maxBytes: LIMIT, mayBePrivate: true });
const refusal = (code: string) => (thrown: unknown) => thrown instanceof GloveboxError && thrown.code === code;
const post = { method: "POST", body: "hello", headers: { authorization: "Bearer canary" } };

test("a request to the configured origin arrives as it was sent", async () => {
  const response = await fetchHome()(`${home}/echo`, post);
  assert.deepEqual([response.status, response.headers.get("x-method"), await response.text()], [200, "POST", "hello"]);
});

test("headers that frame a message are refused for upstreams too, others arrive", async () => {
  for (const name of "transfer-encoding connection expect host keep-alive te upgrade via proxy-authorization".split(
    " ",
  )) {
    const headers = { ...post.headers, [name]: "chunked" };
    await assert.rejects(fetchHome()(`${home}/echo`, { ...post, headers }), refusal("EGRESS_DENIED"), name);
  }
  const headers = { ...post.headers, "content-length": "1", "x-key": "a", cookie: "b=c" };
  assert.equal(await (await fetchHome()(`${home}/echo`, { ...post, headers })).text(), "hello");
});

test("a request to another origin is refused before it is sent", async () => {
  for (const url of [`${elsewhere}/`, home.replace("http:", "https:"), home.replace("127.0.0.1", "localhost")]) {
    await assert.rejects(fetchHome()(url), refusal("EGRESS_DENIED"));
  }
  assert.deepEqual(heard, []);
});

test("credentials, other schemes and invalid URLs are refused", async () => {
  for (const url of [home.replace("//", "//user:pw@"), "file:///etc/passwd", "javascript:1", "", "//x"]) {
    await assert.rejects(fetchHome()(url), refusal("EGRESS_DENIED"));
  }
});

test("only a plain http or https origin can be configured", () => {
  const egress = openEgress();
  for (const origin of ["ftp://a", "http://u:p@a", "http://a/path", "http://a/?q", "a"]) {
    assert.throws(() => egress.fetchFrom(origin, { maxBytes: 1 }), refusal("EGRESS_DENIED"));
  }
  for (const origin of ["http://a", "https://a:8443", "https://a/"]) egress.fetchFrom(origin, { maxBytes: 1 });
});

test("a redirect to another origin is not followed and the other origin receives nothing", async () => {
  await assert.rejects(fetchHome()(`${home}/away`, post), refusal("EGRESS_DENIED"));
  await assert.rejects(fetchHome()(`${home}/to-credentials`, post), refusal("EGRESS_DENIED"));
  assert.deepEqual(heard, []);
});

test("redirects within the origin are followed up to five times, with method and body unchanged", async () => {
  for (const hops of [4, 5]) {
    const response = await fetchHome()(`${home}/hop?n=${hops}`, post);
    assert.deepEqual([response.headers.get("x-method"), await response.text()], ["POST", "hello"]);
  }
  await assert.rejects(fetchHome()(`${home}/hop?n=6`, post), refusal("EGRESS_DENIED"));
});

test("a redirect that would turn a POST into a GET is refused, and a GET follows it", async () => {
  await assert.rejects(fetchHome()(`${home}/see-other`, post), refusal("EGRESS_DENIED"));
  assert.equal((await fetchHome()(`${home}/see-other`)).headers.get("x-method"), "GET");
});

test("a response may be as large as the limit and not a byte larger", async () => {
  for (const path of ["bytes", "chunked", "zipped"]) {
    for (const size of [LIMIT - 1, LIMIT]) {
      const text = await (await fetchHome()(`${home}/${path}?n=${size}`)).text();
      assert.equal(text.length, size);
    }
    const tooLarge = fetchHome()(`${home}/${path}?n=${LIMIT + 1}`).then((response) => response.text());
    await assert.rejects(tooLarge, refusal("LIMIT_SIZE"));
  }
});

test("a request ends when its signal fires and when egress is disposed", async () => {
  await assert.rejects(fetchHome()(`${home}/never`, { signal: AbortSignal.timeout(20) }), { name: "TimeoutError" });
  const egress = openEgress();
  const pending = egress.fetchFrom(home, { maxBytes: LIMIT, mayBePrivate: true })(`${home}/never`);
  await egress[Symbol.asyncDispose]();
  await assert.rejects(pending, refusal("EGRESS_DENIED"));
});
