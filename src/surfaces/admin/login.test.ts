/** Logins of people over HTTP: each attack with its allowed twin. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { OPERATOR } from "../../identity/index.ts";
import { sessionsSchema } from "./contract.ts";
import { startApp } from "./fixtures/start-app.ts";
import type { RawAnswer, StartOptions } from "./fixtures/start-app.ts";

const PASSWORD = "correct horse battery";
const PROXY = { "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7" };

async function start(t: TestContext, options: StartOptions = {}) {
  const app = await startApp(t, undefined, {}, { auth: "required", trustedProxies: ["127.0.0.1"], ...options });
  const { identity, listener, send } = app;
  const origin = `http://127.0.0.1:${listener.port}`;
  await identity.people.add("ada", ["operator", "reviewer"], OPERATOR);
  const { code } = await identity.logins.invite("ada", OPERATOR);
  const post = (path: string, body: object, headers: Record<string, string> = { origin }) =>
    send(path, { method: "POST", headers: { ...PROXY, ...headers }, body: JSON.stringify(body) });
  const ask = (cookie: string, path = "/api/session", method = "GET") =>
    send(path, { method, headers: { ...PROXY, origin, cookie } });
  return { ...app, origin, code, post, ask };
}

const cookieOf = ({ headers }: RawAnswer): string => headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
const logIn = { name: "ada", password: PASSWORD };

test("a person sets a password, logs in, and logs out of one browser or all", async (t) => {
  const { post, ask, code } = await start(t);
  const invited = await post("/api/invite", { code, password: PASSWORD });
  assert.equal(invited.status, 200, invited.body);
  assert.match(
    invited.headers["set-cookie"]?.[0] ?? "",
    /^__Host-glovebox=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/,
  );
  const browsers = [
    cookieOf(invited),
    ...(await Promise.all([1, 2].map(async () => cookieOf(await post("/api/login", logIn))))),
  ];
  const states = () => Promise.all(browsers.map(async (cookie) => (await ask(cookie)).status));
  assert.deepEqual(await states(), [200, 200, 200]);
  assert.equal((await ask(browsers[0] ?? "", "/api/session", "DELETE")).body, '{"ended":1}');
  assert.deepEqual(await states(), [401, 200, 200]);
  assert.equal((await ask(browsers[1] ?? "", "/api/session?all=true", "DELETE")).body, '{"ended":2}');
  assert.deepEqual(await states(), [401, 401, 401]);
});

test("an invite cannot be replayed over HTTP", async (t) => {
  const { post, code } = await start(t);
  assert.equal((await post("/api/invite", { code, password: PASSWORD })).status, 200);
  const again = await post("/api/invite", { code, password: "another long password" });
  assert.deepEqual([again.status, again.headers["set-cookie"]], [401, undefined]);
  assert.equal((await post("/api/login", logIn)).status, 200);
});

test("a login does not adopt a session that the browser brought, and ends it", async (t) => {
  const { post, ask, code, origin } = await start(t);
  const planted = cookieOf(await post("/api/invite", { code, password: PASSWORD }));
  const fresh = cookieOf(await post("/api/login", logIn, { origin, cookie: planted }));
  assert.notEqual(fresh, planted);
  assert.deepEqual([(await ask(planted)).status, (await ask(fresh)).status], [401, 200]);
  const invented = `__Host-glovebox=${"A".repeat(43)}`;
  const other = cookieOf(await post("/api/login", logIn, { origin, cookie: invented }));
  assert.deepEqual([(await ask(invented)).status, (await ask(other)).status], [401, 200]);
});

test("another site cannot log a browser in, and the page can", async (t) => {
  const { post, code } = await start(t);
  for (const [path, body] of [
    ["/api/invite", { code, password: PASSWORD }],
    ["/api/login", logIn],
  ] as const) {
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      {},
    ]) {
      const answer = await post(path, body, headers);
      assert.deepEqual(
        [answer.status, answer.headers["set-cookie"]],
        [403, undefined],
        `${path} ${JSON.stringify(headers)}`,
      );
    }
    assert.equal((await post(path, body)).status, 200);
  }
});

test("the answer does not tell whether a name exists", async (t) => {
  const { post, code, identity } = await start(t);
  await post("/api/invite", { code, password: PASSWORD });
  await identity.people.add("bob", ["reviewer"], OPERATOR);
  const answers = new Set<string>();
  for (const name of ["ada", "bob", "eve", "no name at all", "<script>"]) {
    const { status, body } = await post("/api/login", { name, password: "wrong password" });
    answers.add(`${status} ${body}`);
  }
  assert.equal(answers.size, 1, [...answers].join("\n"));
  assert.match([...answers][0] ?? "", /^401 .*The name or the password is wrong/);
  assert.equal((await post("/api/login", logIn)).status, 200);
});

test("guessing is limited by the address behind the proxy, not by a header that a client can write", async (t) => {
  const { post, code, origin } = await start(t);
  await post("/api/invite", { code, password: PASSWORD });
  const from = (address: string, password: string) =>
    post("/api/login", { name: "ada", password }, { origin, "x-forwarded-for": address });
  for (let attempt = 0; attempt < 5; attempt += 1)
    assert.equal((await from(`198.51.100.${attempt}, 192.0.2.9`, "wrong password")).status, 401);
  assert.equal((await from("198.51.100.9, 192.0.2.9", PASSWORD)).status, 429);
  assert.equal((await from("192.0.2.10", PASSWORD)).status, 200);
});

test("the session of a removed person ends at once", async (t) => {
  const { post, ask, code, identity } = await start(t);
  const cookie = cookieOf(await post("/api/invite", { code, password: PASSWORD }));
  await identity.people.add("bob", ["operator"], OPERATOR);
  assert.equal((await ask(cookie)).status, 200);
  await identity.people.remove("ada", OPERATOR);
  assert.equal((await ask(cookie)).status, 401);
  assert.equal((await post("/api/login", logIn)).status, 401);
});

test("in local mode people do not log in with passwords, and the page knows it", async (t) => {
  const remote = await start(t);
  assert.match((await remote.send("/api/login")).body, /^\{"password":true,"providers":\[\],"passkeyOrigin":/);
  const { post, code, send } = await start(t, { auth: "local" });
  assert.equal((await send("/api/login")).body, '{"password":false,"providers":[]}');
  assert.equal((await post("/api/login", logIn)).status, 401);
  assert.equal((await post("/api/invite", { code, password: PASSWORD })).status, 401);
});

const STEP_UP_MS = 15 * 60_000;

test("a change needs a recent login, and reading and logging out do not", async (t) => {
  const { post, ask, code, room } = await start(t, { stepUpMs: STEP_UP_MS });
  const cookie = cookieOf(await post("/api/invite", { code, password: PASSWORD }));
  room.clock.now += STEP_UP_MS;
  assert.equal((await ask(cookie, "/api/sessions/se_other", "DELETE")).body, '{"ended":0}');
  for (const at of [room.clock.now + 1, room.clock.now - 2 * STEP_UP_MS - 1]) {
    room.clock.now = at;
    for (const [path, method] of [
      ["/api/sessions/se_other", "DELETE"],
      ["/api/sessions", "DELETE"],
      ["/api/tokens", "POST"],
      ["/api/tokens/tk_other", "DELETE"],
      ["/api/approvals/ap_other", "POST"],
      ["/api/anything", "PUT"],
    ] as const) {
      const { status, headers } = await ask(cookie, path, method);
      const challenge = /error="insufficient_user_authentication", max_age="900"/;
      assert.equal(status, 401, path);
      assert.match(headers["www-authenticate"] ?? "", challenge);
    }
    assert.equal((await ask(cookie, "/api/sessions")).status, 200);
  }
  room.clock.now += 2 * STEP_UP_MS + 1;
  const fresh = cookieOf(await post("/api/login", logIn, { origin: "http://127.0.0.1", cookie }));
  assert.equal(fresh, "", "another origin cannot step up");
  const renewed = cookieOf(await post("/api/login", logIn));
  assert.equal((await ask(renewed, "/api/sessions/se_other", "DELETE")).status, 200);
  assert.equal((await ask(cookie, "/api/session", "DELETE")).body, '{"ended":1}');
});

test("a new code of glovebox open is a login, and without a limit the session is enough", async (t) => {
  for (const stepUpMs of [STEP_UP_MS, 0]) {
    const { ask, post, identity, room } = await start(t, { auth: "local", stepUpMs });
    const open = async () =>
      cookieOf(await post("/api/session", { code: await identity.sessions.createCode(OPERATOR) }));
    const cookie = await open();
    const change = async (own: string) => (await ask(own, "/api/sessions/se_other", "DELETE")).status;
    assert.equal(await change(cookie), 200);
    room.clock.now += STEP_UP_MS + 1;
    assert.equal(await change(cookie), stepUpMs === 0 ? 200 : 401);
    assert.equal(await change(await open()), 200);
  }
});

test("a person lists and ends their own sessions, an operator those of all, and a service none", async (t) => {
  const { post, ask, code, identity, send } = await start(t);
  const ada = cookieOf(await post("/api/invite", { code, password: PASSWORD }));
  await identity.people.add("bob", ["reviewer"], OPERATOR);
  const invite = await identity.logins.invite("bob", OPERATOR);
  const bob = cookieOf(await post("/api/invite", { code: invite.code, password: PASSWORD }));
  const other = cookieOf(await post("/api/login", { name: "bob", password: PASSWORD }));
  const list = async (cookie: string) => sessionsSchema.parse(JSON.parse((await ask(cookie, "/api/sessions")).body));
  const [ofBob, ofAda] = [await list(bob), await list(ada)];
  assert.deepEqual([...new Set(ofBob.sessions.map(({ principal }) => principal))], ["person:bob"]);
  assert.equal(ofAda.sessions.length, 4);
  assert.doesNotMatch(JSON.stringify(ofAda), /digest|secret/);
  const end = async (cookie: string, path: string) => (await ask(cookie, `/api/sessions${path}`, "DELETE")).body;
  assert.equal(await end(bob, `/${ofAda.current}`), '{"ended":0}');
  assert.match(await end(bob, ""), /REQUEST_FORBIDDEN/);
  assert.equal((await ask(ada)).status, 200);
  assert.equal(await end(bob, `/${(await list(other)).current}`), '{"ended":1}');
  assert.deepEqual([(await ask(other)).status, (await ask(bob)).status], [401, 200]);
  assert.equal(await end(ada, `/${ofBob.current}`), '{"ended":1}');
  assert.deepEqual([(await ask(bob)).status, (await ask(ada)).status], [401, 200]);
  const { token } = await identity.tokens.create({ name: "ci", scopes: ["ledger:read"] }, OPERATOR);
  const headers = { ...PROXY, authorization: `Bearer ${token}` };
  for (const method of ["GET", "DELETE"])
    assert.equal((await send("/api/sessions", { method, headers })).status, 403, method);
  assert.equal(await end(ada, ""), '{"ended":2}');
  assert.equal((await ask(ada)).status, 401);
});
