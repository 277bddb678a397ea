/** The proxy of a confined server: what it records, and that a server cannot make it record without end. */

import assert from "node:assert/strict";
import { request } from "node:http";
import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { openEgress } from "./index.ts";
import type { ProxiedRequest } from "./index.ts";
import { PUBLIC, allow, createStubNetwork, openStubServers } from "./fixtures/stub-network.ts";

const servers = openStubServers();
/** What reached the host. */
const seen: string[] = [];
const network = createStubNetwork();
/** Refused requests that are answered at once, and more that would wait for minutes. */
const [AT_ONCE, MORE, WAITING] = [100, 150, 64];

before(async () => {
  network.answers.set("api.example", [PUBLIC]);
  const answer: RequestListener = async (asked, response) => {
    const body = await text(asked);
    seen.push(`${asked.method} ${asked.url} ${body}`);
    response.end("hello");
  };
  network.ports.set(`${PUBLIC}:80`, await servers.http(answer));
});
after(() => servers[Symbol.dispose]());

test("a server that is refused again and again is recorded slowly, and other requests of it are refused unread", async () => {
  const recorded: ProxiedRequest[] = [];
  await using egress = openEgress({ network });
  const proxy = egress.openProxy({
    policies: [allow(["api.example"])],
    onRequest: async (one) => void recorded.push(one),
  });
  const port = await proxy.listen();
  const get = (url: string): Promise<number | undefined> =>
    new Promise((resolve) => {
      const sent = request({ port, host: "127.0.0.1", path: url, agent: false });
      sent.on("response", (response) => resolve(response.resume().statusCode));
      sent.on("error", () => resolve(undefined));
      sent.end();
    });
  const few = await Promise.all(Array.from({ length: AT_ONCE }, () => get("http://evil.example/")));
  assert.deepEqual([new Set(few), recorded.length], [new Set([403]), AT_ONCE]);
  assert.equal(await get("http://api.example/"), 200);

  const answered: (number | undefined)[] = [];
  const rest = Array.from({ length: MORE }, async () => answered.push(await get("http://evil.example/")));
  while (answered.length < MORE - WAITING - 5) await wait(5);
  assert.ok(answered.filter((status) => status === 429).length >= MORE - WAITING - 5);
  assert.ok(recorded.length < AT_ONCE + MORE / 2, String(recorded.length));
  await proxy[Symbol.asyncDispose]();
  await Promise.all(rest);
});

test("the body of a request stays its body, so that it is not another request for the host", async () => {
  const recorded: ProxiedRequest[] = [];
  await using egress = openEgress({ network });
  const proxy = egress.openProxy({
    policies: [allow(["api.example"])],
    onRequest: async (one) => void recorded.push(one),
  });
  const port = await proxy.listen();
  const hidden = "GET /hidden HTTP/1.1\r\nHost: api.example\r\n\r\n";
  seen.length = 0;
  for (const method of ["GET", "DELETE", "POST"]) {
    const headers = { "transfer-encoding": "chunked" };
    const sent = request({ port, host: "127.0.0.1", path: "http://api.example/open", method, headers, agent: false });
    const status = new Promise((resolve, reject) => {
      sent.on("response", (response) => resolve(response.resume().statusCode));
      sent.on("error", reject);
    });
    sent.end(hidden);
    assert.equal(await status, 200);
  }
  assert.deepEqual(
    seen,
    ["GET", "DELETE", "POST"].map((method) => `${method} /open ${hidden}`),
  );
  assert.equal(recorded.length, 3);
});
