/** Providers that lie, are down, or have another clock: each fault beside an honest login. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { OPERATOR } from "../../identity/index.ts";
import { ADA, startWithProviders } from "./fixtures/provider-browser.ts";
import type { TestProvider } from "./fixtures/provider-browser.ts";

type Lie = (provider: TestProvider) => void;

const claims =
  (changed: object): Lie =>
  ({ lies }) =>
    void (lies.claims = { ...changed });
const metadata =
  (changed: object): Lie =>
  ({ lies }) =>
    void (lies.metadata = { ...changed });

const FALSE_TOKENS: readonly (readonly [string, Lie, RegExp])[] = [
  ["another issuer", claims({ iss: "https://evil.example" }), /JWT_CLAIM_COMPARISON_FAILED iss/],
  ["another audience", claims({ aud: "another" }), /JWT_CLAIM_COMPARISON_FAILED aud/],
  ["more audiences", claims({ aud: ["gloves", "another"], azp: "another" }), /JWT_CLAIM_COMPARISON_FAILED azp/],
  ["another nonce", claims({ nonce: "another" }), /JWT_CLAIM_COMPARISON_FAILED nonce/],
  ["no nonce", claims({ nonce: undefined }), /INVALID_RESPONSE nonce|not valid/],
  ["no subject", claims({ sub: undefined }), /not valid/],
  ["no signature", ({ lies }) => void (lies.signs = "none"), /not valid/],
  ["the signature of another key", ({ lies }) => void (lies.signs = "otherKey"), /not valid/],
  ["a signature with the public key as secret", ({ lies }) => void (lies.signs = "confused"), /not valid/],
  ["an end that has passed", claims({ exp: 1 }), /clocks of Company and of this gateway differ/],
  ["a beginning far ahead", claims({ nbf: 4_000_000_000 }), /clocks of Company and of this gateway differ/],
];

for (const [what, lie, message] of FALSE_TOKENS)
  test(`a token of a provider with ${what} opens nothing`, async (t) => {
    const { company, logIn, room } = await startWithProviders(t);
    lie(company);
    const refused = await logIn();
    assert.deepEqual([refused.status, refused.headers["set-cookie"]?.length], [401, 1], refused.body);
    assert.match(refused.body, message);
    const { actor, action, detail } = room.records.at(-1) ?? {};
    assert.deepEqual([actor, action], ["unknown", "login.refused"]);
    assert.match(JSON.stringify(detail), /^{"reason":"company: [\w ]+","origin":"127\.0\.0\.1",/);
    Object.assign(company.lies, { claims: {}, signs: "right" });
    assert.equal((await logIn()).status, 200);
  });

const FALSE_METADATA: readonly (readonly [string, Lie])[] = [
  ["another issuer", metadata({ issuer: "https://evil.example" })],
  ["an issuer with a slash", ({ lies, issuer }) => void (lies.metadata = { issuer: `${issuer}/` })],
  ["a script as its page", metadata({ authorization_endpoint: "javascript:alert(1)" })],
  ["a page without TLS", metadata({ authorization_endpoint: "http://evil.example/" })],
  ["keys without TLS", metadata({ jwks_uri: "http://evil.example/keys" })],
  ["no token endpoint", metadata({ token_endpoint: undefined })],
];

for (const [what, lie] of FALSE_METADATA)
  test(`a provider whose metadata has ${what} is not used`, async (t) => {
    const { company, post, logIn, room } = await startWithProviders(t);
    lie(company);
    const refused = await post("/api/login/providers/company", {});
    assert.deepEqual([refused.status, refused.headers["set-cookie"]], [401, undefined], refused.body);
    assert.match(refused.body, /The answer of Company is not valid \(metadata/);
    company.lies.metadata = {};
    room.clock.now += 2_000;
    assert.equal((await logIn()).status, 200);
  });

test("the metadata of a provider cannot lead the gateway into a private network", async (t) => {
  const { company, logIn } = await startWithProviders(t);
  let connections = 0;
  const hidden = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((ready) => hidden.listen(0, "127.0.0.1", ready));
  t.after(() => hidden.close());
  company.lies.metadata = { token_endpoint: `https://127.0.0.1:${(hidden.address() as AddressInfo).port}/token` };
  const refused = await logIn();
  assert.deepEqual([refused.status, connections], [502, 0], refused.body);
});

test("a provider with a certificate that cannot be trusted is not asked for anything", async (t) => {
  const read = (name: string) => readFileSync(`test/fixtures/tls/one.${name}`);
  let requests = 0;
  const server = createTlsServer({ cert: read("cert"), key: read("key") }, (_, response) => {
    requests += 1;
    response.end("{}");
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  t.after(() => server.close());
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const common = { issuer, clientId: "gloves", scopes: [], nameClaim: "sub", groupsClaim: "groups", roles: {} };
  const { post, room } = await startWithProviders(t, { providers: new Map([["company", common]]) });
  const refused = await post("/api/login/providers/company", {});
  assert.deepEqual([refused.status, requests], [502, 0], refused.body);
  assert.match(refused.body, /Cannot reach the login provider company/);
  assert.match(JSON.stringify(room.records.at(-1)?.detail), /DEPTH_ZERO_SELF_SIGNED_CERT|CERT_HAS_EXPIRED/);
});

test("while a provider is down its people are told so, others log in, and no one is locked out", async (t) => {
  const { company, partner, post, start, goBack, logIn, identity, room } = await startWithProviders(t);
  await identity.people.add("root", ["operator"], OPERATOR);
  const { code } = await identity.logins.invite("root", OPERATOR);
  assert.equal((await post("/api/invite", { code, password: "correct horse battery" })).status, 200);
  company.lies.isDown = true;
  for (let round = 0; round < 40; round += 1) {
    const refused = await post("/api/login/providers/company", {});
    assert.equal(refused.status, 502);
    assert.match(refused.body, /UPSTREAM_UNREACHABLE.*Cannot reach the login provider Company/);
  }
  assert.ok(company.seen.requests.length <= 2, "it is not asked each time");
  assert.match(JSON.stringify(room.records.at(-1)?.detail), /company: http:\/\/127\.0\.0\.1:\d+ ECONNRESET/);
  assert.equal((await post("/api/login", { name: "root", password: "correct horse battery" })).status, 200);
  const other = await start("partner");
  assert.equal((await goBack(partner.logIn(other.url, ADA), other.cookie)).status, 200);
  company.lies.isDown = false;
  room.clock.now += 2_000;
  const person = { ...ADA, preferred_username: "ada2" };
  const half = await start();
  company.lies.status = 503;
  assert.equal((await goBack(company.logIn(half.url, person), half.cookie)).status, 502);
  company.lies.status = undefined;
  assert.equal((await logIn(person)).status, 200);
});

test("a key that a provider changed counts at the next login", async (t) => {
  const { company, logIn } = await startWithProviders(t);
  assert.equal((await logIn()).status, 200);
  await company.rotate();
  assert.equal((await logIn()).status, 200);
});

test("a person who cancels at the provider is told so, in words that no stranger chose", async (t) => {
  const { start, goBack, company } = await startWithProviders(t);
  for (const [error, shown] of [
    ["access_denied", /Company did not log you in \(OAUTH_AUTHORIZATION_RESPONSE_ERROR access_denied\)/],
    ["call <b>this</b> number", /Company did not log you in \(OAUTH_AUTHORIZATION_RESPONSE_ERROR\)/],
  ] as const) {
    const { url, cookie } = await start();
    const back = company.logIn(url, ADA);
    back.searchParams.delete("code");
    back.searchParams.set("error", error);
    back.searchParams.set("error_description", "call this number");
    const answer = await goBack(back, cookie);
    assert.equal(answer.status, 401);
    assert.match(answer.body, shown);
    assert.doesNotMatch(answer.body, /number/);
  }
});
