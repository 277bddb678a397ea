/** What may be reached: the strictest policy decides, and a private network needs a grant of host and port. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { GloveboxError } from "../domain/index.ts";
import type { NetworkPolicy } from "../domain/index.ts";

import { openEgress } from "./index.ts";
import { PUBLIC, allow, createStubNetwork, openStubServers } from "./fixtures/stub-network.ts";
import { tryFetch } from "./fixtures/try-fetch.ts";
import { admit } from "./reach.ts";

const BLOCKED: NetworkPolicy = { mode: "blocked" };
const OPEN: NetworkPolicy = { mode: "unrestricted", grants: [] };

function verdict(policies: readonly NetworkPolicy[], url: string): unknown {
  try {
    return admit({ kind: "policies", policies }, new URL(url)).mayBePrivate ? "granted" : "allowed";
  } catch (thrown) {
    return thrown instanceof GloveboxError ? thrown.code : thrown;
  }
}

test("the strictest of all policies decides, in any order", () => {
  const narrow = allow(["a.example", "b.example"]);
  const other = allow(["b.example", "c.example"]);
  for (const [policies, url, expected] of [
    [[], "https://a.example/", "EGRESS_DENIED"],
    [[BLOCKED], "https://a.example/", "EGRESS_DENIED"],
    [[OPEN], "https://a.example/", "allowed"],
    [[narrow], "https://a.example/", "allowed"],
    [[narrow], "https://c.example/", "EGRESS_DENIED"],
    [[OPEN, narrow], "https://a.example/", "allowed"],
    [[OPEN, narrow], "https://c.example/", "EGRESS_DENIED"],
    [[narrow, other], "https://b.example/", "allowed"],
    [[narrow, other], "https://a.example/", "EGRESS_DENIED"],
    [[OPEN, narrow, BLOCKED], "https://a.example/", "EGRESS_DENIED"],
  ] as const) {
    assert.equal(verdict(policies, url), expected, url);
    assert.equal(verdict(policies.toReversed(), url), expected, url);
  }
});

test("a name covers the default ports only, unless its port is written", () => {
  const policy = [allow(["a.example", "b.example:8443", "*.c.example"])];
  for (const [url, expected] of [
    ["http://a.example/", "allowed"],
    ["https://a.example:443/", "allowed"],
    ["http://a.example:443/", "EGRESS_DENIED"],
    ["https://a.example:8443/", "EGRESS_DENIED"],
    ["https://b.example:8443/", "allowed"],
    ["https://b.example/", "EGRESS_DENIED"],
    ["https://x.c.example/", "allowed"],
    ["https://x.y.c.example/", "allowed"],
    ["https://c.example/", "EGRESS_DENIED"],
    ["https://xc.example/", "EGRESS_DENIED"],
    ["https://x.c.example:8443/", "EGRESS_DENIED"],
  ] as const) {
    assert.equal(verdict(policy, url), expected, url);
  }
  assert.equal(verdict([OPEN], "https://a.example:22/"), "EGRESS_DENIED");
});

test("local names need a grant, even if everything is allowed", () => {
  for (const host of [
    "localhost",
    "a.localhost",
    "nas",
    "nas.local",
    "metadata.google.internal",
    "router.lan",
    "x.home.arpa",
  ]) {
    assert.equal(verdict([OPEN], `http://${host}/`), "EGRESS_DENIED", host);
    assert.equal(verdict([allow([], [`${host}:80`])], `http://${host}/`), "granted", host);
  }
  assert.equal(verdict([OPEN], "http://localhost.example/"), "allowed");
});

test("a private address is reached by a grant of exactly its host and port in every policy", async () => {
  using servers = openStubServers();
  const network = createStubNetwork();
  const port = await servers.http((_, response) => void response.end("hello"));
  for (const place of ["10.0.0.5:80", "10.0.0.5:8080", "10.0.0.5:8081", "169.254.169.254:80", `${PUBLIC}:80`])
    network.ports.set(place, port);
  network.answers
    .set("nas.local", ["fe80::1%eth0", "10.0.0.5"])
    .set("nas.example", ["10.0.0.5"])
    .set("evil.example", ["169.254.169.254"]);
  await using egress = openEgress({ network });
  const granted = allow(["nas.example"], ["nas.local:8080", "10.0.0.5:8080", "evil.example:80", "nas.example:8080"]);
  for (const [policies, url, expected] of [
    [[granted], "http://nas.local:8080/", "200 hello"],
    [[granted], "http://10.0.0.5:8080/", "200 hello"],
    [[granted], "http://nas.example:8080/", "200 hello"],
    [[granted], "http://nas.local:8081/", "EGRESS_DENIED"],
    [[granted], "http://10.0.0.5:8081/", "EGRESS_DENIED"],
    [[granted], "http://nas.example/", "EGRESS_DENIED"],
    [[granted, OPEN], "http://nas.local:8080/", "EGRESS_DENIED"],
    [[granted], "http://evil.example/", "EGRESS_DENIED"],
    [[allow([], ["nas.example:80"])], "http://nas.example/", "200 hello"],
    [[allow([], ["nas.example:80"]), allow(["nas.example"])], "http://nas.example/", "EGRESS_DENIED"],
    [[allow([], ["169.254.169.254:80"])], "http://169.254.169.254/", "200 hello"],
  ] as const) {
    assert.equal(await tryFetch({ egress, policies }, url), expected, url);
  }
});

test("an upstream's own origin may be private if the operator configured it, and not otherwise", async () => {
  using servers = openStubServers();
  const network = createStubNetwork();
  network.ports.set("10.0.0.5:80", await servers.http((_, response) => void response.end("hello")));
  network.answers.set("api.example", ["10.0.0.5"]);
  await using egress = openEgress({ network });
  const written = egress.fetchFrom("http://api.example", { maxBytes: 100, mayBePrivate: true });
  const told = egress.fetchFrom("http://api.example", { maxBytes: 100 });
  assert.equal(await (await written("http://api.example/")).text(), "hello");
  await assert.rejects(told("http://api.example/"), { code: "EGRESS_DENIED" });
});

test("a refusal has a remedy", () => {
  const told = (policies: readonly NetworkPolicy[], url: string): unknown => {
    try {
      return admit({ kind: "policies", policies }, new URL(url));
    } catch (thrown) {
      return thrown instanceof GloveboxError && [thrown.message, thrown.details.hint];
    }
  };
  assert.deepEqual(told([allow([])], "https://api.example/secret?token=1"), [
    "The network policy does not allow api.example",
    'Ask the operator to add "api.example" to sandbox.networkPolicy.domains, or call a tool instead',
  ]);
  assert.deepEqual(told([OPEN], "http://nas.local:8080/"), [
    "nas.local is not on the public network",
    'Only an operator can allow it: by a grant of "nas.local:8080" in sandbox.networkPolicy, or as a separate upstream',
  ]);
  assert.deepEqual(told([BLOCKED], "https://a.example/"), [
    "The sandbox has no network",
    "Call a tool of an upstream instead, or ask the operator to allow the host in sandbox.networkPolicy",
  ]);
});
