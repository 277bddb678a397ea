/** Policies of upstreams and of the whole gateway: each of them must allow each step of a request. */

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { GloveboxError } from "../domain/index.ts";
import type { NetworkPolicy } from "../domain/index.ts";

import { openEgress } from "./index.ts";
import type { FetchLike } from "./index.ts";
import { OTHER_PUBLIC, PUBLIC, allow, createStubNetwork, openStubServers } from "./fixtures/stub-network.ts";
import { tryFetch } from "./fixtures/try-fetch.ts";

const servers = openStubServers();
const network = createStubNetwork();
const heard: (readonly [string, string | undefined])[] = [];

before(async () => {
  network.answers.set("api.example", [PUBLIC]).set("files.example", [OTHER_PUBLIC]).set("nas.example", ["10.0.0.5"]);
  const port = await servers.http((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://api.example");
    heard.push([`${request.headers.host}${pathname}`, request.headers.authorization]);
    const to = searchParams.get("to");
    if (to === null) response.end("hello");
    else response.writeHead(Number(searchParams.get("status") ?? 302), { location: to }).end();
  });
  for (const place of [`${PUBLIC}:80`, `${OTHER_PUBLIC}:80`, "10.0.0.5:80"]) network.ports.set(place, port);
});
beforeEach(() => {
  heard.splice(0);
  network.connections.splice(0);
});
after(() => servers[Symbol.dispose]());

async function told(fetch: FetchLike, url: string, init?: RequestInit): Promise<string> {
  try {
    const response = await fetch(url, init);
    return `${response.status} ${await response.text()}`;
  } catch (thrown) {
    if (thrown instanceof GloveboxError) return thrown.code;
    throw thrown;
  }
}

const AUTHORIZED = { headers: { authorization: "Bearer canary" } };
const TO_FILES = `http://api.example/?to=${encodeURIComponent("http://files.example/x")}`;
const BLOCKED: NetworkPolicy = { mode: "blocked", setting: "openapi.api.networkPolicy" };

test("without policies a redirect stays at the upstream's origin; with them it may lead where all of them allow", async () => {
  await using egress = openEgress({ network });
  const from = (policies: readonly NetworkPolicy[]): FetchLike =>
    egress.fetchFrom("http://api.example", { maxBytes: 100, policies });
  const both = allow(["api.example", "files.example"]);
  for (const [policies, expected] of [
    [[], "EGRESS_DENIED"],
    [[both], "200 hello"],
    [[allow(["api.example"])], "EGRESS_DENIED"],
    [[both, allow(["api.example"])], "EGRESS_DENIED"],
    [[both, allow(["*.example.org", "files.example"])], "EGRESS_DENIED"],
    [[both, BLOCKED], "EGRESS_DENIED"],
    [[both, { mode: "unrestricted", grants: [] }], "200 hello"],
  ] as const) {
    assert.equal(await told(from(policies), TO_FILES, AUTHORIZED), expected);
  }
  assert.equal(await told(from([allow(["api.example"])]), "http://api.example/"), "200 hello");
});

test("no credential and no body follows a redirect to another origin", async () => {
  await using egress = openEgress({ network });
  const policies = [allow(["api.example", "files.example"])];
  const fetch = egress.fetchFrom("http://api.example", { maxBytes: 100, policies });
  assert.equal(await told(fetch, TO_FILES, AUTHORIZED), "200 hello");
  assert.deepEqual(heard, [
    ["api.example/", "Bearer canary"],
    ["files.example/x", undefined],
  ]);
  for (const status of [301, 302, 303, 307, 308]) {
    const sent = await told(fetch, `${TO_FILES}&status=${status}`, { method: "POST", body: "x", ...AUTHORIZED });
    assert.equal(sent, "EGRESS_DENIED", String(status));
  }
  assert.deepEqual(heard.filter(([place]) => place.startsWith("files")).length, 1);
});

test("a request starts at the upstream's own origin, whatever its policies allow", async () => {
  await using egress = openEgress({ network });
  const policies = [allow(["api.example", "files.example"])];
  const fetch = egress.fetchFrom("http://api.example", { maxBytes: 100, policies });
  assert.equal(await told(fetch, "http://files.example/", AUTHORIZED), "EGRESS_DENIED");
  assert.equal(await told(fetch, "http://api.example/", AUTHORIZED), "200 hello");
});

test("a private address needs a grant of every policy, even if the operator configured the upstream's address", async () => {
  await using egress = openEgress({ network });
  const from = (...policies: readonly NetworkPolicy[]): FetchLike =>
    egress.fetchFrom("http://nas.example", { maxBytes: 100, mayBePrivate: true, policies });
  assert.equal(await told(from(), "http://nas.example/"), "200 hello");
  assert.equal(await told(from(allow(["nas.example"])), "http://nas.example/"), "EGRESS_DENIED");
  assert.equal(await told(from(allow([], ["nas.example:80"])), "http://nas.example/"), "200 hello");
});

test("the ceiling applies to programs, upstreams and adapters alike", async () => {
  for (const [ceiling, expected] of [
    [undefined, "200 hello"],
    [allow(["api.example"]), "200 hello"],
    [allow(["files.example"]), "EGRESS_DENIED"],
    [BLOCKED, "EGRESS_DENIED"],
  ] as const) {
    await using egress = openEgress({ network, ...(ceiling && { ceiling }) });
    const policies = [allow(["api.example"])];
    const url = "http://api.example/";
    assert.equal(await tryFetch({ egress, policies }, url), expected);
    assert.equal(await told(egress.fetchFrom("http://api.example", { maxBytes: 100 }), url), expected);
    assert.equal(await told(egress.fetchUnder(policies, { maxBytes: 100 }), url), expected);
  }
  assert.equal(heard.length, 6);
});

test("under a ceiling an upstream stays at its own origin, and a private one needs the ceiling's grant", async () => {
  const fetchUnder = async (ceiling: NetworkPolicy, url: string): Promise<string> => {
    await using egress = openEgress({ network, ceiling });
    return await told(egress.fetchFrom(new URL(url).origin, { maxBytes: 100, mayBePrivate: true }), url);
  };
  assert.equal(await fetchUnder(allow(["api.example", "files.example"]), TO_FILES), "EGRESS_DENIED");
  assert.equal(await fetchUnder(allow(["nas.example"]), "http://nas.example/"), "EGRESS_DENIED");
  assert.equal(await fetchUnder(allow([], ["nas.example:80"]), "http://nas.example/"), "200 hello");
});

test("the operator's code reaches what its policies allow, and nothing without one", async () => {
  await using egress = openEgress({ network });
  const under = (...policies: readonly NetworkPolicy[]): FetchLike => egress.fetchUnder(policies, { maxBytes: 100 });
  assert.equal(await told(under(), "http://api.example/"), "EGRESS_DENIED");
  assert.equal(await told(under(allow(["api.example"])), "http://api.example/"), "200 hello");
  assert.equal(await told(under(allow(["api.example"]), BLOCKED), "http://api.example/"), "EGRESS_DENIED");
  assert.equal(await told(under(allow(["nas.example"])), "http://nas.example/"), "EGRESS_DENIED");
});

test("a refusal names the setting of the refusing policy", async () => {
  await using egress = openEgress({ network });
  const hintOf = async (policy: NetworkPolicy, url: string): Promise<unknown> => {
    const thrown: unknown = await egress
      .fetchUnder([policy], { maxBytes: 1 })(url)
      .catch((error: unknown) => error);
    return thrown instanceof GloveboxError && thrown.details.hint;
  };
  const setting = "openapi.api.networkPolicy";
  assert.equal(await hintOf(BLOCKED, "http://a.example/"), `Ask the operator to allow the host in ${setting}`);
  assert.equal(
    await hintOf({ ...allow([]), setting }, "http://a.example/"),
    `Ask the operator to add "a.example" to ${setting}.domains, or call a tool instead`,
  );
  assert.equal(
    await hintOf({ ...allow(["nas.example"]), setting }, "http://nas.example/"),
    `Only an operator can allow it: by a grant of "nas.example:80" in ${setting}, or as a separate upstream`,
  );
});
