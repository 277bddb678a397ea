/** Addresses, redirects and DNS answers as an attacker would write them, beside what they imitate. */

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { openEgress } from "../index.ts";
import type { Egress } from "../index.ts";
import { classifyAddress } from "./address.ts";
import { openRawServer, sayHello } from "../fixtures/raw-server.ts";
import type { RawServer } from "../fixtures/raw-server.ts";
import { OTHER_PUBLIC, PUBLIC, allow, createStubNetwork } from "../fixtures/stub-network.ts";
import { tryFetch } from "../fixtures/try-fetch.ts";

const network = createStubNetwork();
const policies = [allow(["allowed.example", "other.example", "*.wild.example"])];
const DENIED = "EGRESS_DENIED";
let server: RawServer;
let egress: Egress;

before(async () => {
  server = await openRawServer(network);
  egress = openEgress({ network });
});
beforeEach(() => {
  server.answer = sayHello;
  server.heard.splice(0);
  network.connections.splice(0);
  network.answers.clear();
  network.answers.set("allowed.example", [PUBLIC]).set("other.example", [OTHER_PUBLIC]).set("*", [PUBLIC]);
});
after(async () => {
  await egress[Symbol.asyncDispose]();
  server[Symbol.dispose]();
});

const attempt = (url: string): Promise<string> => tryFetch({ egress, policies }, url);

test("classifyAddress tells every non-public range from public addresses", () => {
  const special = [
    ..."::ffff:0:10.0.0.1 ::ffff:0:a00:1 64:ff9b:1::1 64:ff9b:1:ffff::7f00:1 fec0::1 feff::1 5f00::1 100::1".split(" "),
    ..."192.0.0.1 192.0.0.170 192.0.0.192 198.18.0.1 198.19.255.255 240.0.0.1 255.255.255.255 192.88.99.1".split(" "),
    ..."2001:30::1 2001:1ff:ffff::1 2d00::1 2e00::1 2fff::1 3000::1 3ffe::1 3fff:ffff::1 4000::1 e000::1".split(" "),
    ..."2600::5efe:10.0.0.1 2600:1:2:3:0:5efe:7f00:1 2600:1:2:3:200:5efe:a9fe:a9fe 2a00::300:5efe:a00:1".split(" "),
    ..."2600::100:5efe:c0a8:101 fe80::1%25eth0 ::ffff:8.8.8.8 1.1.1.01 0x7f.1 127.1 2130706433 1.1.1.1.".split(" "),
  ];
  for (const address of special) assert.equal(classifyAddress(address), "special", address);
  const open = "2600::1 2600::5efe:1:2:3 2600:1:2:3:4:5efe:7f00:1 2600::5eff:a00:1 2a00:5efe::1 2c0f::1 2001:200::1";
  for (const address of [...open.split(" "), "2606:4700::1111", "9.9.9.9", "192.0.1.1", "198.17.0.1", "198.20.0.1"]) {
    assert.equal(classifyAddress(address), "public", address);
  }
});

test("every spelling of an allowed name leads to that name in its canonical spelling", async () => {
  const spellings = [
    ..."ALLOWED.EXAMPLE. allowed%2eexample allowed。example allowed．example allowed｡example ａllowed.example".split(
      " ",
    ),
    ..."allowed\u00ad.example allowed.example\u200b allowed.example:080 allow\ned.example allowed\t.example".split(" "),
  ];
  for (const host of spellings) assert.equal(await attempt(`http://${host}/`), "200 hello", JSON.stringify(host));
  for (const url of [
    "http:allowed.example/",
    "http:\\\\allowed.example/",
    " http://allowed.example/ ",
    "ht\ttp://allowed.example/",
  ])
    assert.equal(await attempt(url), "200 hello", JSON.stringify(url));
  assert.deepEqual([...new Set(server.heard)], ["GET / HTTP/1.1 at allowed.example"]);
});

test("a name that only resembles an allowed one is refused before it is resolved", async () => {
  const urls = [
    "http://allowed.example../",
    "http://allowed.example%2e./",
    "http://allowed..example/",
    "http://.wild.example/",
    "http://a..wild.example/",
    "http://wild.example/",
    "http://allowed.example%00.evil.example/",
    "http://allowed.example%0d%0a.evil.example/",
    "http://allowed.example:80@10.0.0.1/",
    "http://evil.example\\@allowed.example/",
    "http://allowed.example.evil.example/",
    "http://evil.example#.allowed.example/",
    "http://evil.example?.wild.example/",
    "http://allowed.example:0/",
    "http://allowed.example:65536/",
    "http://allowed.example:+80/",
    "http://allowed.example: 80/",
    "http://allowed.example:80:80/",
    "http://[allowed.example]/",
    "http://[::1%25lo]/",
    "http://[fe80::1%eth0]/",
    "http://xn--/",
    "http://１２７.０.０.１/",
    "http://①②⑦.⓪.⓪.①/",
    "http://0177.0.0.1/",
    "http://0x7f.1/",
    "http://017700000001/",
    "http://0/",
    "//allowed.example/",
    "blob:http://allowed.example/x",
  ];
  const asked = network.asked.length;
  for (const url of urls) assert.equal(await attempt(url), DENIED, url);
  assert.deepEqual([network.asked.length - asked, network.connections], [0, []]);
  assert.equal(await attempt("http://a.wild.example/"), "200 hello");
});

test("path and query never become another header line or another host", async () => {
  for (const [path, line] of [
    ["/\r\nHost: evil.example\r\n\r\nGET /x", "GET /Host:%20evil.exampleGET%20/x HTTP/1.1"],
    ["/%0d%0aX:%20y", "GET /%0d%0aX:%20y HTTP/1.1"],
    ["\\@evil.example/", "GET /@evil.example/ HTTP/1.1"],
    ["/a b?c d#e f", "GET /a%20b?c%20d HTTP/1.1"],
    ["?@evil.example", "GET /?@evil.example HTTP/1.1"],
    ["/\u{1f600}\ud800", "GET /%F0%9F%98%80%EF%BF%BD HTTP/1.1"],
  ] as const) {
    server.heard.splice(0);
    assert.equal(await attempt(`http://allowed.example${path}`), "200 hello");
    assert.deepEqual(server.heard, [`${line} at allowed.example`]);
  }
});

test("a redirect is parsed as a browser does, and then checked like any other URL", async () => {
  const answers: readonly (readonly [location: string, heard: string | undefined])[] = [
    ["//other.example/x", "GET /x HTTP/1.1 at other.example"],
    ["/\\other.example/x", "GET /x HTTP/1.1 at other.example"],
    ["http:x/y", "GET /a/x/y HTTP/1.1 at allowed.example"],
    ["../x#fragment", "GET /x HTTP/1.1 at allowed.example"],
    ["http://OTHER.example%2e/", "GET / HTTP/1.1 at other.example"],
    ["http://other.example\t/x", "GET /x HTTP/1.1 at other.example"],
    ["\\\\10.0.0.1/", undefined],
    ["///10.0.0.1/", undefined],
    ["http://127.1/", undefined],
    ["http://[::ffff:7f00:1]/", undefined],
    ["http://[2600:1:2:3:0:5efe:7f00:1]/", undefined],
    ["http://user:pw@other.example/", undefined],
    ["http://other.example:22/", undefined],
    ["http://other.example../", undefined],
    ["http://169.254.169.254/latest/", undefined],
    ["http://metadata.google.internal/", undefined],
    ["data:text/plain,x", undefined],
    ["file:///etc/passwd", undefined],
    ["javascript:1", undefined],
    ["http://", undefined],
  ];
  for (const status of [301, 302, 303, 307, 308]) {
    for (const [location, expected] of answers) {
      server.heard.splice(0);
      server.answer = (socket, head) => {
        const isFirst = head.startsWith("GET /a/start ");
        if (!isFirst) return sayHello(socket);
        socket.write(`HTTP/1.1 ${status} Moved\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
      };
      const outcome = await attempt("http://allowed.example/a/start");
      assert.equal(outcome, expected === undefined ? DENIED : "200 hello", `${status} ${location}`);
      assert.deepEqual(server.heard.slice(1), expected === undefined ? [] : [expected], `${status} ${location}`);
    }
  }
  const places = [`${PUBLIC}:80`, `${OTHER_PUBLIC}:80`];
  assert.deepEqual(
    network.connections.filter((place) => !places.includes(place)),
    [],
  );
});

test("one answer that is not public, or not an address, refuses the whole lookup", async () => {
  const bad = ["10.0.0.1", "::1", "fe80::1%eth0", "::ffff:10.0.0.1", "64:ff9b:1::a00:1", "2600::5efe:a00:1", "0.0.0.0"];
  for (const address of [
    ...bad,
    "169.254.169.254",
    "",
    "localhost",
    "93.184.216.34 ",
    "93.184.216.34\0",
    "0x5db8d822",
  ]) {
    for (const answers of [[address], [PUBLIC, address], [address, PUBLIC]]) {
      network.answers.set("allowed.example", answers);
      assert.equal(await attempt("http://allowed.example/"), DENIED, JSON.stringify(answers));
    }
  }
  network.answers.set("allowed.example", Array<string>(65).fill(PUBLIC));
  assert.equal(await attempt("http://allowed.example/"), DENIED);
  network.answers.set("allowed.example", []);
  assert.equal(await attempt("http://allowed.example/"), "UPSTREAM_UNREACHABLE");
  assert.deepEqual(network.connections, []);
  network.answers.set("allowed.example", Array<string>(64).fill(PUBLIC));
  assert.equal(await attempt("http://allowed.example/"), "200 hello");
});

test("a name is resolved at each step, and each answer is checked", async () => {
  let times = 0;
  network.answers.set("allowed.example", () => (times++ === 0 ? [PUBLIC] : ["10.0.0.1"]));
  server.answer = (socket) => void socket.write("HTTP/1.1 302 x\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n");
  assert.equal(await attempt("http://allowed.example/"), DENIED);
  assert.deepEqual([times, server.heard.length], [2, 1]);
});

test("a lookup never takes longer than its request", async () => {
  const asked = Promise.withResolvers<void>();
  const resolve = (): Promise<never> => {
    asked.resolve();
    return new Promise(() => undefined);
  };
  const silent = { ...network, resolve };
  await using mute = openEgress({ network: silent });
  const url = "http://allowed.example/";
  const stop = new AbortController();
  const waiting = mute.fetchFrom("http://allowed.example", { maxBytes: 1 })(url, { signal: stop.signal });
  const rejected = assert.rejects(waiting, { message: "enough" });
  await asked.promise;
  stop.abort(new Error("enough"));
  await rejected;
  assert.equal(await tryFetch({ egress: mute, policies, limits: { totalMs: 50 } }, url), "UPSTREAM_TIMEOUT");
});

test("names of programs wait in a separate lane from those of upstreams", async () => {
  const lanes: string[] = [];
  const listening: typeof network = {
    ...network,
    resolve: (name, asking) => {
      lanes.push(asking.lane);
      return network.resolve(name, asking);
    },
  };
  await using own = openEgress({ network: listening });
  const url = "http://allowed.example/";
  assert.equal(await tryFetch({ egress: own, policies }, url), "200 hello");
  const response = await own.fetchFrom("http://allowed.example", { maxBytes: 100 })(url);
  assert.equal(await response.text(), "hello");
  assert.deepEqual(lanes, ["program", "upstream"]);
});
