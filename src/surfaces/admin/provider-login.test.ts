/** Logins at OpenID Connect providers: what a browser, a stranger and another provider can do with them. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { OPERATOR } from "../../identity/index.ts";
import { ADA, cookieOf, startWithProviders } from "./fixtures/provider-browser.ts";

test("a person logs in at a provider, with the roles of their groups and without a trace of a secret", async (t) => {
  const { company, start, goBack, ask, rolesOf, room } = await startWithProviders(t);
  const { url, cookie } = await start("company", { next: "/approvals?all=true" });
  const asked = new URL(url);
  assert.equal(asked.origin + asked.pathname, `${company.issuer}/auth`);
  const { state, nonce, code_challenge: challenge, ...rest } = Object.fromEntries(asked.searchParams);
  for (const one of [state, nonce, challenge]) assert.match(one ?? "", /^[\w-]{43}$/);
  const own = new URL(rest["redirect_uri"] ?? "").origin;
  assert.deepEqual(rest, {
    client_id: "gloves",
    redirect_uri: `${own}/login/callback/company`,
    response_type: "code",
    scope: "openid profile",
    code_challenge_method: "S256",
    max_age: "43200",
  });
  const back = company.logIn(url, ADA);
  const answer = await goBack(back, cookie);
  assert.equal(answer.status, 200, answer.body);
  assert.match(answer.body, new RegExp(`content="0;url=${own}/approvals\\?all=true"`));
  const [session = "", removed = ""] = answer.headers["set-cookie"] ?? [];
  assert.match(session, /^glovebox-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
  assert.match(removed, /^glovebox-login-\d+=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/);
  assert.deepEqual(await rolesOf(cookieOf(answer)), ["reviewer", "operator"]);
  assert.match((await ask(cookieOf(answer))).body, /"principal":"person:ada".*"provider":"company"/);
  assert.deepEqual([...company.seen.credentials], [`Basic ${btoa("gloves:a+secret+%26+more")}`]);
  const actions = room.records.slice(1).map(({ actor, action, subject }) => `${actor} ${action} ${subject}`);
  assert.deepEqual(actions.slice(0, 2), ["gateway person.added person:ada", "person:ada login.done person:ada"]);
  assert.match(actions[2] ?? "", /^person:ada session\.opened se_/);
  const written = JSON.stringify(room.records);
  for (const secret of [state, nonce, back.searchParams.get("code"), cookie.split("=")[1], "a secret"])
    assert.equal(written.includes(secret ?? "?"), false, secret ?? "");
});

test("the page names the providers, and local mode has none", async (t) => {
  const { send, listener } = await startWithProviders(t);
  const providers = [
    { name: "company", title: "Company" },
    { name: "partner", title: "partner" },
  ];
  assert.deepEqual(JSON.parse((await send("/api/login")).body), {
    password: true,
    providers,
    passkeyOrigin: `http://localhost:${listener.port}`,
  });
  const local = await startWithProviders(t, { auth: "local" });
  assert.deepEqual(JSON.parse((await local.send("/api/login")).body), { password: false, providers: [] });
  assert.equal((await local.post("/api/login/providers/company", {})).status, 401);
  assert.equal((await local.send("/login/callback/company?code=1&state=2")).status, 404);
});

test("an answer without the browser's cookie or with another state opens nothing, and the right one does", async (t) => {
  const { company, start, goBack, rolesOf } = await startWithProviders(t);
  const [mine, other, third] = [await start(), await start(), await start()];
  const back = company.logIn(mine.url, ADA);
  const forged = new URL(back);
  forged.searchParams.set("state", new URL(other.url).searchParams.get("state") ?? "");
  const twice = company.logIn(third.url, ADA);
  twice.searchParams.append("state", "another");
  const bare = new URL(back);
  bare.searchParams.delete("state");
  for (const [what, address, cookie] of [
    ["no cookie", back, ""],
    ["the cookie of another login", back, other.cookie],
    ["an invented cookie", back, mine.cookie.replace(/=.*/, `=${"A".repeat(43)}`)],
    ["the state of another login", forged, mine.cookie],
    ["no state", bare, mine.cookie],
  ] as const) {
    const answer = await goBack(address, cookie);
    assert.deepEqual([answer.status, cookieOf(answer).endsWith("=")], [401, true], what);
    assert.match(answer.body, /unknown, used, of another browser, or older than 10 minutes/);
  }
  const answer = await goBack(back, mine.cookie);
  assert.deepEqual(await rolesOf(cookieOf(answer)), ["reviewer", "operator"]);
  assert.equal((await goBack(twice, third.cookie)).status, 401);
});

test("an answer works once, and its code in no other login", async (t) => {
  const { company, start, goBack } = await startWithProviders(t);
  const [mine, other] = [await start(), await start()];
  const back = company.logIn(mine.url, ADA);
  assert.equal((await goBack(back, mine.cookie)).status, 200);
  assert.equal((await goBack(back, mine.cookie)).status, 401);
  assert.equal((await goBack(company.logIn(mine.url, ADA), mine.cookie)).status, 401, "also with a new code");
  const replayed = company.logIn(other.url, ADA);
  replayed.searchParams.set("code", back.searchParams.get("code") ?? "");
  const answer = await goBack(replayed, other.cookie);
  assert.equal(answer.status, 401);
  assert.match(answer.body, /is not valid \(OAUTH_RESPONSE_BODY_ERROR invalid_grant\)/);
});

test("a login must come back within ten minutes", async (t) => {
  const { company, start, goBack, room } = await startWithProviders(t);
  for (const [ms, status] of [
    [600_000 - 1, 200],
    [600_000, 401],
  ] as const) {
    const { url, cookie } = await start();
    room.clock.now += ms;
    assert.equal((await goBack(company.logIn(url, ADA), cookie)).status, status, String(ms));
  }
});

test("the code of an attacker's login does not fit into that of another browser", async (t) => {
  const { company, start, goBack } = await startWithProviders(t);
  const [victim, attacker] = [await start(), await start()];
  const stolen = company.logIn(attacker.url, { ...ADA, sub: "666", preferred_username: "eve" });
  const injected = company.logIn(victim.url, ADA);
  injected.searchParams.set("code", stolen.searchParams.get("code") ?? "");
  assert.equal((await goBack(injected, victim.cookie)).status, 401);
  const again = await start();
  assert.equal((await goBack(company.logIn(again.url, ADA), again.cookie)).status, 200);
});

test("an answer of another provider is refused: at its own address, at that of the first, and with another iss", async (t) => {
  const { company, partner, start, goBack, room } = await startWithProviders(t);
  const attempts = [
    (back: URL) => back.searchParams.set("iss", partner.issuer),
    (back: URL) => back.searchParams.delete("iss"),
    (back: URL) => void (back.pathname = "/login/callback/partner"),
    (back: URL) => void (back.pathname = "/login/callback/unknown"),
  ];
  for (const [index, change] of attempts.entries()) {
    const { url, cookie } = await start();
    const back = company.logIn(url, ADA);
    change(back);
    assert.equal((await goBack(back, cookie)).status, index === 3 ? 404 : 401, String(index));
  }
  // A provider that asks for no `iss` would get the code, if its address did not name it.
  partner.lies.metadata = { authorization_response_iss_parameter_supported: false };
  company.lies.iss = undefined;
  room.clock.now += 600_000; // the metadata is read again
  const { url, cookie } = await start();
  const back = company.logIn(url, ADA);
  back.pathname = "/login/callback/partner";
  assert.equal((await goBack(back, cookie)).status, 401);
  assert.equal(partner.seen.requests.includes("/token"), false);
  const honest = await start("partner");
  assert.equal((await goBack(partner.logIn(honest.url, ADA), honest.cookie)).status, 200);
});

test("another site can neither start a login nor choose where it ends", async (t) => {
  const { post, logIn, origin, send, listener } = await startWithProviders(t);
  for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }, {}]) {
    const answer = await post("/api/login/providers/company", {}, headers);
    assert.deepEqual([answer.status, answer.headers["set-cookie"]], [403, undefined]);
  }
  const host = `localhost:${listener.port}`;
  const alias = { headers: { host, origin: `http://${host}` }, method: "POST", body: "{}" };
  assert.match((await send("/api/login/providers/company", alias)).body, /lead back to http:\/\/127\.0\.0\.1/);
  for (const next of ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/login"])
    assert.match((await logIn(ADA, { next })).body, new RegExp(`url=${origin}/"`), next);
  assert.match((await logIn(ADA, { next: "/oauth/consent/x" })).body, new RegExp(`url=${origin}/oauth/consent/x"`));
});

test("a login at a provider ends the session that the browser had, and adopts nothing that it brought", async (t) => {
  const { logIn, rolesOf, identity, listener } = await startWithProviders(t);
  const planted = await identity.sessions.open(OPERATOR, "192.0.2.1");
  const cookie = `glovebox-${listener.port}=${planted.secret}`;
  const fresh = cookieOf(await logIn(ADA, {}, { cookie }));
  assert.notEqual(fresh, cookie);
  assert.deepEqual([await rolesOf(cookie), await rolesOf(fresh)], [401, ["reviewer", "operator"]]);
});

test("logins that do not come back are limited like wrong passwords, and those that do are not", async (t) => {
  const { start, logIn, post } = await startWithProviders(t);
  for (let round = 0; round < 31; round += 1) assert.equal((await logIn()).status, 200);
  for (let round = 0; round < 30; round += 1) await start();
  assert.equal((await post("/api/login/providers/company", {})).status, 429);
  assert.equal((await post("/api/login", { name: "bob", password: "wrong password" })).status, 429);
});
