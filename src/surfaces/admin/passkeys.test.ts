/** Passkeys over HTTP: each attack beside the honest case. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { OPERATOR } from "../../identity/index.ts";
import { sessionSchema } from "./contract.ts";
import { creationSchema, passkeysSchema, requestSchema } from "./login-contract.ts";
import { cookieOf } from "./fixtures/provider-browser.ts";
import { startApp } from "./fixtures/start-app.ts";
import type { StartOptions } from "./fixtures/start-app.ts";
import { createTestAuthenticator } from "./fixtures/test-authenticator.ts";
import type { DeviceLies } from "./fixtures/test-authenticator.ts";
import { findPasskeyPlace } from "./passkey-routes.ts";

const PASSWORD = "correct horse battery";
const STEP_UP_MS = 15 * 60_000;

async function start(t: TestContext, options: StartOptions = {}) {
  const app = await startApp(t, undefined, {}, { auth: "required", stepUpMs: STEP_UP_MS, ...options });
  const { identity, send, listener } = app;
  const page = `http://localhost:${listener.port}`;
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    send(path, { method: "POST", headers: { origin: page, ...headers }, body: JSON.stringify(body) });
  /** The cookie of a new local person. */
  const addPerson = async (name: string): Promise<string> => {
    await identity.people.add(name, ["operator"], OPERATOR);
    const { code } = await identity.logins.invite(name, OPERATOR);
    return cookieOf(await post("/api/invite", { code, password: PASSWORD }));
  };
  const device = createTestAuthenticator(page);
  const add = async (cookie: string, lies: DeviceLies = {}, label = "laptop") => {
    const begun = await post("/api/passkeys/start", {}, { cookie });
    if (begun.status !== 200) return begun;
    const answer = device.create(creationSchema.parse(JSON.parse(begun.body)), lies);
    return post("/api/passkeys", { label, answer }, { cookie });
  };
  const begin = async (body: object = {}, cookie = "") => {
    const answer = await post("/api/login/passkey/start", body, { cookie });
    assert.equal(answer.status, 200, answer.body);
    return requestSchema.parse(JSON.parse(answer.body));
  };
  const enter = (used: object) => post("/api/login/passkey", used);
  const logIn = async (lies: DeviceLies = {}) => enter(device.get(await begin(), lies));
  const ask = (cookie: string, path = "/api/session", method = "GET") =>
    send(path, { method, headers: { origin: page, cookie } });
  return { ...app, page, post, addPerson, device, add, begin, enter, logIn, ask };
}

test("a person adds a passkey, logs in with it without a name, and removes it", async (t) => {
  const { addPerson, add, logIn, ask, begin, room, device } = await start(t);
  const cookie = await addPerson("ada");
  assert.equal((await add(cookie)).status, 200);
  const options = await begin();
  assert.deepEqual([options.allowCredentials, options.userVerification, options.rpId], [[], "required", "localhost"]);
  const answer = await logIn();
  assert.equal(answer.status, 200, answer.body);
  assert.match(answer.headers["set-cookie"]?.[0] ?? "", /HttpOnly; SameSite=Strict; Max-Age=2592000/);
  const session = cookieOf(answer);
  assert.equal(sessionSchema.parse(JSON.parse((await ask(session)).body)).principal, "person:ada");
  const { passkeys } = passkeysSchema.parse(JSON.parse((await ask(session, "/api/passkeys")).body));
  assert.deepEqual(
    passkeys.map(({ id, label, principal }) => [id, label, principal]),
    [[device.keys[0]?.id, "laptop", "person:ada"]],
  );
  assert.equal((await ask(session, `/api/passkeys/${passkeys[0]?.id}`, "DELETE")).status, 200);
  assert.equal((await logIn()).status, 401);
  const actions = room.records.map(({ actor, action }) => `${actor} ${action}`);
  for (const one of ["person:ada passkey.added", "person:ada login.done", "person:ada passkey.removed"])
    assert.ok(actions.includes(one), one);
  assert.ok(actions.includes("unknown login.refused"));
});

const FALSE_USES: readonly (readonly [string, DeviceLies])[] = [
  ["of another page", { origin: "https://evil.example" }],
  ["of another host", { rpId: "evil.example" }],
  ["of a device that did not verify the person", { isVerified: false }],
  ["of another kind", { type: "webauthn.create" }],
  ["with the signature of another key", { isForged: true }],
  ["with the handle of another person", { userHandle: Buffer.alloc(32).toString("base64url") }],
  ["with an invented challenge", { challenge: "A".repeat(43) }],
];

for (const [what, lies] of FALSE_USES)
  test(`a passkey answer ${what} opens nothing`, async (t) => {
    const { addPerson, add, logIn } = await start(t);
    await add(await addPerson("ada"));
    const refused = await logIn(lies);
    assert.deepEqual([refused.status, refused.headers["set-cookie"]], [401, undefined]);
    assert.match(refused.body, /The passkey is not valid here, or the request for it is too old/);
    assert.equal((await logIn()).status, 200);
  });

test("a passkey answer works once, within five minutes, and only while its counter grows", async (t) => {
  const { addPerson, add, begin, enter, logIn, device, room } = await start(t);
  await add(await addPerson("ada"));
  const used = device.get(await begin());
  assert.deepEqual([(await enter(used)).status, (await enter(used)).status], [200, 401]);
  for (const [ms, status] of [
    [300_000 - 1, 200],
    [300_000, 401],
  ] as const) {
    const options = await begin();
    room.clock.now += ms;
    assert.equal((await enter(device.get(options))).status, status, String(ms));
  }
  assert.equal((await logIn({ counter: 9 })).status, 200);
  for (const counter of [9, 8, 0]) assert.equal((await logIn({ counter })).status, 401, String(counter));
  const { actor, detail } = room.records.findLast(({ action }) => action === "login.refused") ?? {};
  assert.equal(actor, "person:ada");
  assert.match(JSON.stringify(detail), /passkey: its counter did not grow: there may be a copy/);
  assert.equal((await logIn({ counter: 10 })).status, 200);
});

test("a device that does not count can be used again", async (t) => {
  const { addPerson, add, logIn } = await start(t);
  await add(await addPerson("ada"));
  for (const counter of [0, 0, 0]) assert.equal((await logIn({ counter })).status, 200);
});

test("a passkey is added by a local person with a recent login, for the same session and page", async (t) => {
  const { addPerson, add, post, device, identity, listener, room, ask } = await start(t);
  const [ada, bob] = [await addPerson("ada"), await addPerson("bob")];
  for (const lies of [{ origin: "https://evil.example" }, { rpId: "evil.example" }, { isVerified: false }])
    assert.equal((await add(ada, lies)).status, 400);
  const options = creationSchema.parse(JSON.parse((await post("/api/passkeys/start", {}, { cookie: ada })).body));
  const answer = device.create(options);
  const body = { label: "laptop", answer };
  assert.equal((await post("/api/passkeys", body, { cookie: bob })).status, 400, "another person's request");
  assert.equal((await post("/api/passkeys", body, { cookie: ada })).status, 400, "it was taken");
  const { secret } = await identity.sessions.open(OPERATOR, "");
  const operator = await add(`glovebox-${listener.port}=${secret}`);
  assert.match(operator.body, /operator has no account of this gateway/);
  assert.equal((await post("/api/passkeys/start", {}, { cookie: "" })).status, 401);
  assert.equal((await add(ada)).status, 200);
  const again = creationSchema.parse(JSON.parse((await post("/api/passkeys/start", {}, { cookie: ada })).body));
  assert.equal(again.excludeCredentials.length, 1);
  room.clock.now += STEP_UP_MS + 1;
  assert.match((await add(ada)).headers["www-authenticate"] ?? "", /insufficient_user_authentication/);
  assert.equal((await ask(ada, `/api/passkeys/${device.keys.at(-1)?.id}`, "DELETE")).status, 401);
});

test("a passkey is enough for a change, that of the same person only", async (t) => {
  const { addPerson, add, begin, enter, device, ask, room } = await start(t);
  const [ada, bob] = [await addPerson("ada"), await addPerson("bob")];
  await add(ada);
  await add(bob);
  const [ofAda, ofBob] = device.keys;
  room.clock.now += STEP_UP_MS + 1;
  const change = async (cookie: string) => (await ask(cookie, "/api/sessions/se_other", "DELETE")).status;
  assert.equal(await change(ada), 401);
  const options = await begin({ stepUp: true }, ada);
  assert.deepEqual(
    options.allowCredentials.map(({ id }) => id),
    [ofAda?.id],
  );
  assert.equal((await enter(device.get(options, {}, ofBob))).status, 401);
  const answer = await enter(device.get(await begin({ stepUp: true }, ada), {}, ofAda));
  assert.deepEqual([answer.status, await change(cookieOf(answer))], [200, 200]);
});

test("another site can neither ask for a passkey nor use one", async (t) => {
  const { addPerson, add, begin, device, post } = await start(t);
  await add(await addPerson("ada"));
  for (const origin of ["https://evil.example", "null"]) {
    assert.equal((await post("/api/login/passkey/start", {}, { origin })).status, 403);
    assert.equal((await post("/api/login/passkey", device.get(await begin()), { origin })).status, 403);
  }
});

test("an unknown passkey is answered like a false one, and both are limited like passwords", async (t) => {
  const { addPerson, add, begin, enter, logIn, device, post, page } = await start(t);
  const cookie = await addPerson("ada");
  await add(cookie);
  const stranger = createTestAuthenticator(page);
  const options = creationSchema.parse(JSON.parse((await post("/api/passkeys/start", {}, { cookie })).body));
  stranger.create(options); // which the gateway never sees
  const answers = [
    await enter(stranger.get(await begin())),
    await enter(device.get(await begin(), { isForged: true })),
  ].map(({ status, body }) => `${status} ${body}`);
  assert.equal(answers[0], answers[1]);
  for (let round = 0; round < 31; round += 1) assert.equal((await logIn()).status, 200);
  for (let round = 0; round < 28; round += 1) await begin();
  assert.equal((await post("/api/login/passkey/start", {})).status, 429);
  assert.equal((await post("/api/login", { name: "ada", password: PASSWORD })).status, 429);
});

test("the passkeys of a removed or reset person are gone, and an operator can remove those of others", async (t) => {
  const { addPerson, add, logIn, identity, device } = await start(t);
  const [ada, bob] = [await addPerson("ada"), await addPerson("bob")];
  await add(ada);
  assert.equal((await logIn()).status, 200);
  await identity.people.reset("ada", OPERATOR);
  assert.equal((await logIn()).status, 401);
  await add(bob);
  assert.equal((await logIn()).status, 200);
  const id = device.keys.at(-1)?.id ?? "";
  const reviewer = { ...OPERATOR, id: "person:eve" as typeof OPERATOR.id, roles: ["reviewer"] as const };
  await assert.rejects(identity.passkeys.remove(id, reviewer), { code: "REQUEST_NOT_FOUND" });
  await identity.passkeys.remove(id, OPERATOR);
  assert.equal((await logIn()).status, 401);
});

test("a passkey that ended while it was used opens nothing", async (t) => {
  const { addPerson, add, logIn, identity, room } = await start(t);
  const addSession = room.store.identity.addSession.bind(room.store.identity);
  assert.equal((await add(await addPerson("ada"))).status, 200);
  assert.equal((await logIn()).status, 200);
  room.store.identity.addSession = async (row) => {
    room.store.identity.addSession = addSession;
    await identity.people.reset("ada", OPERATOR);
    await addSession(row);
  };
  const refused = await logIn();
  assert.deepEqual([refused.status, refused.headers["set-cookie"]], [401, undefined]);
  assert.equal(JSON.stringify(await identity.sessions.list()).includes("person:ada"), false);
});

test("passkeys need a host name, and local mode has none", async (t) => {
  assert.deepEqual(findPasskeyPlace("https://gloves.example.com"), {
    rpId: "gloves.example.com",
    pageOrigin: "https://gloves.example.com",
  });
  for (const local of ["http://127.0.0.1:4747", "http://[::1]:4747", "http://localhost:4747"])
    assert.deepEqual(findPasskeyPlace(local), { rpId: "localhost", pageOrigin: "http://localhost:4747" });
  for (const address of ["https://192.0.2.1", "https://[2001:db8::1]"])
    assert.equal(findPasskeyPlace(address), undefined);
  const { post, send, page } = await start(t);
  assert.match((await send("/api/login")).body, new RegExp(`"passkeyOrigin":"${page}"`));
  assert.equal((await post("/api/login/passkey/start", {})).status, 200);
  const local = await start(t, { auth: "local" });
  assert.doesNotMatch((await local.send("/api/login")).body, /passkey/);
  assert.equal((await local.post("/api/login/passkey/start", {})).status, 401);
});
