/** JWTs of an external authorization server: every refusal beside a token that differs in one thing and is accepted. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { exportJWK, generateKeyPair } from "jose";

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import { openEgress } from "../../egress/index.ts";
import { openTestIdentity } from "../fixtures/open-test-identity.ts";
import { RESOURCE, openTestIssuer } from "../fixtures/test-issuer.ts";
import type { TokenChanges } from "../fixtures/test-issuer.ts";
import { OPERATOR } from "../principals.ts";
import type { ExternalIssuer } from "./verify-external.ts";
import { toClientName } from "./oauth-agent.ts";

async function start(t: TestContext, more: Partial<ExternalIssuer> = {}) {
  const clock = { now: 1_800_000_000_000 };
  const issuer = await openTestIssuer(() => clock.now);
  const egress = openEgress();
  const settings = { issuer: issuer.issuer, algorithm: "ES256", personClaim: "sub", clockToleranceSeconds: 30 };
  const room = await openTestIdentity({ egress, external: { ...settings, ...more } });
  room.clock.now = clock.now;
  await room.identity.people.add("ada", ["agent"], OPERATOR);
  await room.identity.people.add("bob", ["reviewer"], OPERATOR);
  t.after(async () => {
    for (const one of [issuer, egress, room]) await one[Symbol.asyncDispose]();
  });
  let count = 0; // of one address only the first few refusals are recorded
  const verify = (text: string) =>
    room.identity.verify({ text, origin: `192.0.2.${(count += 1)}`, resource: RESOURCE });
  const check = async (changes?: TokenChanges) => verify(await issuer.sign(changes));
  const pass = (ms: number): void => {
    room.clock.now += ms;
    clock.now += ms;
  };
  const reason = (): unknown => {
    const detail = room.records.findLast(({ action }) => action === "token.refused")?.detail;
    return isJsonObject(detail) ? detail["reason"] : undefined;
  };
  return { issuer, room, verify, check, pass, reason };
}

test("a valid JWT makes an agent of the person and the client, with its scopes", async (t) => {
  const { check, room } = await start(t);
  const verified = await check();
  assert.deepEqual(verified?.scopes, ["execute", "search"]);
  assert.equal(verified.principal.id, "agent:ada/cli");
  assert.deepEqual([verified.principal.person, verified.principal.access], ["person:ada", undefined]);
  const reader = await check({
    claims: { scope: "openid execute:read", client_id: "https://app.example/client.json" },
  });
  assert.deepEqual(reader?.scopes, ["execute:read"]);
  assert.match(reader.principal.id, /^agent:ada\/app\.example-[0-9a-f]{16}$/);
  assert.deepEqual(reader.principal.access, { effects: ["read"] });
  assert.deepEqual(await room.identity.resolve(reader.principal.id), reader.principal);
  assert.deepEqual((await check({ claims: { scope: undefined, scp: ["search"] } }))?.scopes, ["search"]);
});

test("another issuer, audience, algorithm, key, type or time is refused", async (t) => {
  const { check, issuer, verify, reason } = await start(t);
  const { privateKey } = await generateKeyPair("ES256");
  const at = 1_800_000_000;
  const wrong: readonly (readonly [TokenChanges, string])[] = [
    [{ claims: { iss: "https://other.example" } }, "ERR_JWT_CLAIM_VALIDATION_FAILED iss"],
    [{ claims: { iss: `${issuer.issuer}/` } }, "ERR_JWT_CLAIM_VALIDATION_FAILED iss"],
    [{ claims: { aud: "https://gloves.example" } }, "ERR_JWT_CLAIM_VALIDATION_FAILED aud"],
    [{ claims: { aud: ["https://other.example/mcp"] } }, "ERR_JWT_CLAIM_VALIDATION_FAILED aud"],
    [{ claims: { aud: undefined } }, "ERR_JWT_CLAIM_VALIDATION_FAILED aud"],
    [{ claims: { exp: at - 31 } }, "ERR_JWT_EXPIRED exp"],
    [{ claims: { exp: undefined } }, "ERR_JWT_CLAIM_VALIDATION_FAILED exp"],
    [{ claims: { nbf: at + 31 } }, "ERR_JWT_CLAIM_VALIDATION_FAILED nbf"],
    [{ claims: { sub: undefined } }, "ERR_JWT_CLAIM_VALIDATION_FAILED sub"],
    [{ claims: { client_id: undefined } }, "no person or no client"],
    [{ claims: { sub: "operator" } }, "the operator has no account elsewhere"],
    [{ claims: { cnf: { jkt: "x" } } }, "bound to a key"],
    [{ header: { typ: "logout+jwt" } }, "not an access token"],
    [{ header: { kid: "../../k1" } }, "ERR_JWKS_NO_MATCHING_KEY"],
    [{ key: privateKey }, "ERR_JWS_SIGNATURE_VERIFICATION_FAILED"],
    [{ header: { alg: "HS256" }, key: issuer.publicText() }, "ERR_JOSE_ALG_NOT_ALLOWED"],
  ];
  for (const [changes, expected] of wrong) {
    assert.equal(await check(changes), undefined, JSON.stringify(changes));
    assert.equal(reason(), expected);
    assert.ok(await check());
  }
  const [head = "", body = ""] = (await issuer.sign()).split(".");
  const none = Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt" })).toString("base64url");
  for (const text of [`${none}.${body}.`, `${head}.${body}.`, `${head}.${body}`, "..", "", "x".repeat(100_000)])
    assert.equal(await verify(text), undefined);
  for (const claims of [{ exp: at - 29 }, { nbf: at + 29 }, { aud: ["https://other.example", RESOURCE] }])
    assert.ok(await check({ claims }), JSON.stringify(claims));
});

test("a token cannot bring its own key, nor change how it is checked", async (t) => {
  const { check, issuer, verify } = await start(t);
  const { publicKey: jwkKey, privateKey: key } = await generateKeyPair("ES256", { extractable: true });
  const own = { ...(await exportJWK(jwkKey)), kid: "k1" };
  await using attacker = await openTestIssuer(() => 1_800_000_000_000);
  const { fetches } = attacker.state;
  const headers: readonly object[] = [
    { jwk: own },
    { jwk: own, kid: undefined },
    { jku: `${attacker.issuer}/jwks` },
    { x5u: `${attacker.issuer}/jwks` },
    { x5c: ["MIIB"] },
    { kid: `${attacker.issuer}/jwks` },
    { kid: "__proto__" },
    { alg: "ES256", typ: "AT+JWT", jwk: own },
  ];
  for (const header of headers) assert.equal(await check({ header, key }), undefined, JSON.stringify(header));
  assert.equal(attacker.state.fetches, fetches);
  assert.equal(await verify(await attacker.sign({ claims: { iss: issuer.issuer } })), undefined);
  // Header and claims of one valid token under the signature of another.
  const [head = "", body = "", signature = ""] = (await issuer.sign()).split(".");
  const [, other = ""] = (await issuer.sign({ claims: { sub: "bob" } })).split(".");
  const critical = Buffer.from(JSON.stringify({ alg: "ES256", kid: "k1", crit: ["b64"], b64: false })).toString(
    "base64url",
  );
  for (const text of [
    `${head}.${other}.${signature}`,
    `${critical}.${body}.${signature}`,
    `${head}.${body}.${signature}.x`,
  ])
    assert.equal(await verify(text), undefined);
  assert.ok(await verify(`${head}.${body}.${signature}`));
  assert.ok(await check({ header: { typ: "AT+JWT" } }));
});

test("a person who is unknown or has another role is refused by name, and a removed one at once", async (t) => {
  const { check, room } = await start(t);
  const forbidden = { code: "REQUEST_FORBIDDEN" };
  for (const sub of ["eve", "bob", "Ada", "ada/cli", ""]) await assert.rejects(check({ claims: { sub } }), forbidden);
  assert.ok(await check());
  await room.identity.people.add("zoe", ["operator"], OPERATOR);
  await room.identity.people.remove("ada", OPERATOR);
  await assert.rejects(check(), forbidden);
});

test("a token that was checked before expires in time, and stays bound to its text, resource and person", async (t) => {
  const { issuer, room, verify, pass } = await start(t);
  const token = await issuer.sign({ claims: { exp: room.clock.now / 1000 + 20 } });
  for (let again = 0; again < 3; again += 1) assert.equal((await verify(token))?.principal.id, "agent:ada/cli");
  assert.equal(await verify(`${token.slice(0, -2)}${token.endsWith("AA") ? "BB" : "AA"}`), undefined);
  const elsewhere = { text: token, origin: "", resource: "https://other.example/mcp" };
  assert.equal(await room.identity.verify(elsewhere), undefined);
  await room.identity.people.setRoles("ada", ["reviewer"], OPERATOR);
  await assert.rejects(verify(token), { code: "REQUEST_FORBIDDEN" });
  await room.identity.people.setRoles("ada", ["agent"], OPERATOR);
  pass(49_999); // 20 seconds, and the tolerance of 30
  assert.ok(await verify(token));
  pass(1);
  assert.equal(await verify(token), undefined);
});

test("a rotated key is found once, and invented keys do not make the gateway fetch again", async (t) => {
  const { check, issuer, pass } = await start(t);
  assert.ok(await check());
  const old = await issuer.sign();
  await issuer.rotate();
  pass(11_000);
  assert.ok(await check());
  assert.equal(issuer.state.fetches, 2);
  for (const kid of ["a", "b", "c"]) assert.equal(await check({ header: { kid } }), undefined);
  assert.equal(issuer.state.fetches, 2);
  assert.ok(old !== "");
});

test("known keys count for an hour while the server is down, and without keys the error names it", async (t) => {
  const { check, issuer, pass, room } = await start(t);
  issuer.state.isDown = true;
  await assert.rejects(check(), (thrown) => {
    assert.ok(thrown instanceof GloveboxError);
    assert.equal(thrown.code, "UPSTREAM_UNREACHABLE");
    assert.ok(thrown.message.includes(issuer.issuer));
    return true;
  });
  const own = await room.identity.tokens.create({ name: "ci", scopes: ["search"] }, OPERATOR);
  assert.ok(await room.identity.verify({ text: own.token, origin: "", resource: RESOURCE }));
  issuer.state.isDown = false;
  pass(11_000);
  assert.ok(await check());
  issuer.state.isDown = true;
  pass(59 * 60_000);
  assert.ok(await check());
  pass(2 * 60_000);
  await assert.rejects(check(), { code: "UPSTREAM_UNREACHABLE" });
});

test("metadata of another issuer, and keys in a private network that it names, are not used", async (t) => {
  const { check, issuer, pass } = await start(t);
  const { metadata } = issuer.state;
  issuer.state.metadata = { ...metadata, issuer: "https://other.example" };
  await assert.rejects(check(), { code: "UPSTREAM_UNREACHABLE" });
  const elsewhere = await openTestIssuer(Date.now);
  t.after(() => elsewhere[Symbol.asyncDispose]());
  issuer.state.metadata = { ...metadata, jwks_uri: `${elsewhere.issuer}/jwks` };
  pass(11_000);
  await assert.rejects(check(), { code: "UPSTREAM_UNREACHABLE" });
  assert.equal(elsewhere.state.fetches, 0);
  issuer.state.metadata = metadata;
  pass(11_000);
  assert.ok(await check());
});

test("two client ids never have one name, and none is the local client", () => {
  const derived = toClientName("https://app.example/a.json");
  const names = [
    "cli",
    derived,
    toClientName(derived),
    toClientName("local"),
    toClientName("a b"),
    toClientName("a-b"),
  ];
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.every((name) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) && name !== "local"));
  assert.equal(toClientName("cli"), "cli");
  assert.match(toClientName("…"), /^client-/);
});
