/** Names whose answers change: only a checked address is connected to, and a name is resolved once. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { openEgress } from "../index.ts";
import { OTHER_PUBLIC, PUBLIC, allow, createStubNetwork, openStubServers } from "../fixtures/stub-network.ts";
import { tryFetch } from "../fixtures/try-fetch.ts";

const PRIVATE = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.0.1", "::1", "fd00:ec2::254", "::ffff:10.0.0.1"];
const policies = [allow(["allowed.example"])];
const URL_OF_IT = "http://allowed.example/";

test("ten thousand answers that flip between public and private lead to no private connection", async () => {
  using servers = openStubServers();
  const network = createStubNetwork();
  for (const address of [PUBLIC, ...PRIVATE]) {
    network.ports.set(`${address}:80`, await servers.http((_, response) => void response.end(address)));
  }
  await using egress = openEgress({ network });
  const answer = fc.array(fc.constantFrom(PUBLIC, PUBLIC, PUBLIC, ...PRIVATE), { minLength: 1, maxLength: 3 });
  const answers = fc.sample(answer, 10_000);
  let next = 0;
  network.answers.set("allowed.example", () => answers[next++] ?? []);
  const outcomes = new Map<string, number>();
  for (let start = 0; start < answers.length; start += 16) {
    const batch = answers.slice(start, start + 16).map(() => tryFetch({ egress, policies }, URL_OF_IT));
    for (const outcome of await Promise.all(batch)) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  const clean = answers.filter((list) => list.every((address) => address === PUBLIC)).length;
  assert.deepEqual(Object.fromEntries(outcomes), { [`200 ${PUBLIC}`]: clean, EGRESS_DENIED: answers.length - clean });
  assert.deepEqual([network.asked.length, new Set(network.connections)], [10_000, new Set([`${PUBLIC}:80`])]);
});

test("after an address without an answer the next checked one is tried, and the name is resolved once", async () => {
  using servers = openStubServers();
  const network = createStubNetwork();
  network.answers.set("allowed.example", [PUBLIC, OTHER_PUBLIC]);
  network.ports.set(`${OTHER_PUBLIC}:80`, await servers.http((_, response) => void response.end("second")));
  await using egress = openEgress({ network });
  assert.equal(await tryFetch({ egress, policies }, URL_OF_IT), "200 second");
  assert.deepEqual([network.asked, network.connections], [["allowed.example"], [`${PUBLIC}:80`, `${OTHER_PUBLIC}:80`]]);
});

test("a request on a reused connection that was closed is sent again to the checked address, without a new lookup", async () => {
  using servers = openStubServers();
  const network = createStubNetwork();
  let served = 0;
  const port = await servers.http((request, response) => {
    served += 1;
    if (served === 2) request.socket.destroy();
    else response.end(String(served));
  });
  network.answers.set("allowed.example", [PUBLIC]);
  network.ports.set(`${PUBLIC}:80`, port);
  await using egress = openEgress({ network });
  assert.equal(await tryFetch({ egress, policies }, URL_OF_IT), "200 1");
  assert.equal(await tryFetch({ egress, policies }, URL_OF_IT), "200 3");
  assert.equal(network.asked.length, 2);
  served = 0;
  await tryFetch({ egress, policies }, URL_OF_IT, { method: "POST" });
  assert.equal(await tryFetch({ egress, policies }, URL_OF_IT, { method: "POST" }), "UPSTREAM_UNREACHABLE");
});

test("a connection whose peer is not the checked address is closed before a byte is sent", async () => {
  using servers = openStubServers();
  let heard = 0;
  const network = createStubNetwork();
  network.answers.set("allowed.example", [PUBLIC]);
  network.ports.set(
    `${PUBLIC}:80`,
    await servers.http((_, response) => {
      heard += 1;
      response.end("hello");
    }),
  );
  for (const [peer, outcome, arrived] of [
    ["10.0.0.1", "EGRESS_DENIED", 0],
    [undefined, "EGRESS_DENIED", 0],
    [PUBLIC, "200 hello", 1],
  ] as const) {
    const connect: typeof network.connect = async (...to) => ({ ...(await network.connect(...to)), peer });
    await using egress = openEgress({ network: { ...network, connect } });
    assert.deepEqual([await tryFetch({ egress, policies }, URL_OF_IT), heard], [outcome, arrived]);
  }
});
