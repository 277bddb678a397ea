/** What a request may contain, what follows a redirect, and what a response may do. */

import assert from "node:assert/strict";
import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, describe, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

import { openEgress } from "./index.ts";
import type { Egress } from "./index.ts";
import { OTHER_PUBLIC, PUBLIC, allow, createStubNetwork, openStubServers } from "./fixtures/stub-network.ts";
import { tryFetch } from "./fixtures/try-fetch.ts";

const servers = openStubServers();
const network = createStubNetwork();
const policies = [allow(["allowed.example", "other.example", "raw.example", "wrong.example"])];
const HOME = "http://allowed.example";
const MAX = 10_000;
let egress: Egress;
let listener: RequestListener;
let heard: { method: string | undefined; headers: IncomingHttpHeaders; body: string }[];

before(async () => {
  network.answers.set("*", [PUBLIC]);
  network.answers.set("other.example", [OTHER_PUBLIC]);
  const answer: RequestListener = async (request, response) => {
    heard.push({ method: request.method, headers: request.headers, body: await text(request) });
    listener(request, response);
  };
  const [http, https] = [await servers.http(answer), await servers.https(answer)];
  for (const address of [PUBLIC, OTHER_PUBLIC]) network.ports.set(`${address}:80`, http).set(`${address}:443`, https);
  egress = openEgress({ network });
});
beforeEach(() => {
  heard = [];
  listener = (_, response) => void response.end("hello");
});
after(async () => {
  await egress[Symbol.asyncDispose]();
  servers[Symbol.dispose]();
});

type Init = Parameters<typeof tryFetch>[2];
const attempt = (url: string, init?: Init): Promise<string> =>
  tryFetch({ egress, policies, limits: { maxBytes: MAX } }, url, init);

describe("requests of programs", () => {
  test("headers that frame a message or belong to a connection are refused, others arrive", async () => {
    const names =
      "Host Connection Keep-Alive Proxy-Authorization Proxy-Connection TE Trailer Transfer-Encoding Upgrade";
    for (const name of [...names.split(" "), "Content-Length", "content-length", "Expect", "Via"]) {
      assert.equal(await attempt(HOME, { headers: [[name, "1"]] }), "EGRESS_DENIED", name);
    }
    assert.equal(heard.length, 0);
    const headers = [
      ["Authorization", "Bearer a"],
      ["X-Api-Key", "b"],
      ["Cookie", "c=d"],
    ] as const;
    assert.equal(await attempt(HOME, { headers }), "200 hello");
    const { authorization, cookie, "x-api-key": key } = heard[0]?.headers ?? {};
    assert.deepEqual([authorization, key, cookie], ["Bearer a", "b", "c=d"]);
  });

  test("names and values that could end a line are refused, unusual but harmless ones arrive", async () => {
    const bad = [
      ["X", "a\r\nHost: b"],
      ["X", "a\nb"],
      ["X", "a\0"],
      ["X\r\nY", "a"],
      ["X Y", "a"],
      ["X:", "a"],
      ["", "a"],
      ["X", "\u010a"],
    ];
    for (const [name = "", value = ""] of bad) {
      assert.equal(await attempt(HOME, { headers: [[name, value]] }), "EGRESS_DENIED", JSON.stringify([name, value]));
    }
    assert.equal(heard.length, 0);
    assert.equal(await attempt(HOME, { headers: [["X-Odd!", "\ttab and ünicode"]] }), "200 hello");
  });

  test("a hundred headers may be sent, and not one more", async () => {
    const many = (count: number): readonly (readonly [string, string])[] =>
      Array.from({ length: count }, (_, index) => [`X-${index}`, "1"]);
    assert.deepEqual(
      [await attempt(HOME, { headers: many(99) }), await attempt(HOME, { headers: many(100) })],
      ["200 hello", "200 hello"],
    );
    assert.equal(await attempt(HOME, { headers: many(101) }), "EGRESS_DENIED");
  });

  test("known methods arrive with their body, others and a GET with a body are refused", async () => {
    const body = new TextEncoder().encode("data");
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "post"]) await attempt(HOME, { method, body });
    assert.deepEqual(
      heard.map((one) => [one.method, one.body, one.headers["content-length"]]),
      ["POST", "PUT", "PATCH", "DELETE", "POST"].map((method) => [method, "data", "4"]),
    );
    for (const method of ["CONNECT", "TRACE", "GET /x HTTP/1.1\r\nX:", "TRACK", ""]) {
      assert.equal(await attempt(HOME, { method }), "EGRESS_DENIED");
    }
    assert.equal(await attempt(HOME, { method: "GET", body }), "EGRESS_DENIED");
    assert.equal(await attempt(HOME, { method: "HEAD" }), "200 ");
  });
});

const sendTo =
  (location: string, status: number): RequestListener =>
  (request, response) =>
    request.url === "/" ? response.writeHead(status, { location }).end() : response.end("there");

describe("redirects of programs", () => {
  const secret = {
    headers: [
      ["Authorization", "a"],
      ["Cookie", "b"],
      ["X-Api-Key", "c"],
      ["Accept", "text/plain"],
    ],
  } as const;
  const seen = (): unknown => {
    const { authorization, cookie, "x-api-key": key, accept } = heard[1]?.headers ?? {};
    return [authorization, cookie, key, accept];
  };

  test("only harmless headers follow a redirect to another origin, all of them within one", async () => {
    for (const [location, expected] of [
      ["http://other.example/x", [undefined, undefined, undefined, "text/plain"]],
      ["https://allowed.example/x", [undefined, undefined, undefined, "text/plain"]],
      ["/x", ["a", "b", "c", "text/plain"]],
    ] as const) {
      heard = [];
      listener = sendTo(location, 302);
      assert.equal(await attempt(HOME, secret), "200 there");
      assert.deepEqual(seen(), expected);
    }
  });

  test("a body stays within its origin, and a redirect that changes the method drops it", async () => {
    const post = {
      method: "POST",
      body: new TextEncoder().encode("data"),
      headers: [["Content-Type", "text/plain"]],
    } as const;
    listener = sendTo("http://other.example/x", 307);
    assert.deepEqual([await attempt(HOME, post), heard.length], ["EGRESS_DENIED", 1]);
    for (const [location, status, expected] of [
      ["/x", 308, ["POST", "data", "text/plain"]],
      ["/x", 303, ["GET", "", undefined]],
      ["http://other.example/x", 302, ["GET", "", undefined]],
    ] as const) {
      heard = [];
      listener = sendTo(location, status);
      assert.equal(await attempt(HOME, post), "200 there");
      const last = heard[1];
      assert.deepEqual([last?.method, last?.body, last?.headers["content-type"]], expected);
    }
  });

  test("a redirect to a host that is not allowed, a bad port, another scheme or credentials is refused", async () => {
    for (const location of [
      "http://evil.example/",
      "http://allowed.example:22/",
      "file:///etc/passwd",
      "http://u:p@allowed.example/x",
      "http://[::1]/",
    ]) {
      heard = [];
      listener = sendTo(location, 302);
      assert.deepEqual([await attempt(HOME), heard.length], ["EGRESS_DENIED", 1], location);
    }
  });
});

describe("responses to programs", () => {
  test("a body may decompress to the limit and not a byte further, in every encoding", async () => {
    const codings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };
    for (const [coding, compress] of Object.entries(codings)) {
      for (const [size, expected] of [
        [MAX - 1, 200],
        [MAX, 200],
        [MAX + 1, "LIMIT_SIZE"],
        [50_000_000, "LIMIT_SIZE"],
      ] as const) {
        const packed = compress(Buffer.alloc(size, "x"));
        listener = (_, response) => void response.writeHead(200, { "content-encoding": coding }).end(packed);
        const outcome = await attempt(HOME);
        assert.equal(outcome, expected === 200 ? `200 ${"x".repeat(size)}` : expected, `${coding} ${size}`);
      }
    }
  });

  test("a body that is encoded twice, unknown or malformed is refused", async () => {
    const twice = gzipSync(gzipSync("x"));
    for (const [coding, body] of [
      ["gzip, gzip", twice],
      ["compress", "x"],
      ["gzip", "not gzip"],
      ["zstd", "no"],
    ] as const) {
      listener = (_, response) => void response.writeHead(200, { "content-encoding": coding }).end(body);
      assert.match(await attempt(HOME), /^(?:UPSTREAM_RESULT_INVALID|UPSTREAM_UNREACHABLE)$/);
    }
  });

  test("response headers may be large and not huge", async () => {
    listener = (_, response) => void response.writeHead(200, { "x-large": "x".repeat(10_000) }).end("fine");
    assert.equal(await attempt(HOME), "200 fine");
    listener = (_, response) => void response.writeHead(200, { "x-huge": "x".repeat(100_000) }).end("too much");
    assert.equal(await attempt(HOME), "UPSTREAM_UNREACHABLE");
  });

  test("an answer that is not HTTP, has broken framing or switches protocols is a failure", async (context) => {
    for (const [raw, expected] of [
      ["SSH-2.0-OpenSSH_9.9\r\n", "UPSTREAM_UNREACHABLE"],
      ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "UPSTREAM_UNREACHABLE"],
      ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "UPSTREAM_UNREACHABLE"],
      ["HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "UPSTREAM_UNREACHABLE"],
      ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", "UPSTREAM_UNREACHABLE"],
      ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 hello"],
    ] as const) {
      const server = createServer((socket) => void socket.on("error", () => undefined).end(raw));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      context.after(() => server.close());
      network.answers.set("raw.example", ["93.184.216.40"]);
      network.ports.set("93.184.216.40:80", (server.address() as AddressInfo).port);
      await using fresh = openEgress({ network });
      assert.equal(await tryFetch({ egress: fresh, policies }, "http://raw.example/"), expected, raw);
    }
  });

  test("a certificate must be for the name of the request", async () => {
    assert.equal(await attempt("https://allowed.example/"), "200 hello");
    assert.equal(await attempt("https://wrong.example/"), "UPSTREAM_UNREACHABLE");
  });
});
