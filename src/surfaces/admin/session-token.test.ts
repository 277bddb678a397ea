/** Tokens of the admin API: each token that is refused beside one that differs in one thing and is accepted. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { OPERATOR } from "../../identity/index.ts";
import { tokenSchema } from "./contract.ts";
import { startApp } from "./fixtures/start-app.ts";
import type { RawRequest, StartedApp } from "./fixtures/start-app.ts";

const TEN_MINUTES = 10 * 60_000;
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const decode = (part = ""): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A person with a session, and a token of it. */
async function logIn({ identity, listener, send, room }: StartedApp, name: string, role: string) {
  room.clock.now = 1_800_000_000_000;
  await identity.people.add(name, [role], OPERATOR);
  const principal = await identity.resolve(`person:${name}` as typeof OPERATOR.id);
  assert.ok(principal);
  const opened = await identity.sessions.open(principal, "here");
  const origin = `http://127.0.0.1:${listener.port}`;
  const own = { cookie: `glovebox-${listener.port}=${opened.secret}`, origin };
  const askToken = (headers: Record<string, string> = own) => send("/api/session/token", { method: "POST", headers });
  const { status, body } = await askToken();
  assert.equal(status, 200, body);
  return { opened, own, askToken, principal, ...tokenSchema.parse(JSON.parse(body)) };
}

test("a token of a session has its rights at the API for ten minutes, and no others", async (t) => {
  const app = await startApp(t, undefined, {}, { auth: "required", stepUpMs: 2 * TEN_MINUTES });
  const { send, identity, room } = app;
  const root = await logIn(app, "root", "operator");
  const bob = await logIn(app, "bob", "reviewer");
  const ask = async (token: string, path: string, init: RawRequest = {}) =>
    (await send(path, { ...init, headers: { ...init.headers, ...bearer(token) } })).status;
  const create = { method: "POST", body: JSON.stringify({ name: "ci", scopes: ["ledger:read"] }) };
  assert.equal(await ask(root.token, "/api/tokens", create), 200);
  assert.deepEqual([await ask(bob.token, "/api/approvals"), await ask(bob.token, "/api/tokens")], [200, 403]);
  assert.equal(await ask(root.token, "/mcp", create), 401);
  // It can neither renew itself nor is it a session of a browser.
  assert.equal((await root.askToken(bearer(root.token))).status, 403);
  assert.equal(await identity.sessions.find(root.token, "here"), undefined);
  const [, payload] = root.token.split(".");
  assert.equal(Number(decode(payload)["exp"]) * 1000 - room.clock.now, TEN_MINUTES);
  room.clock.now += TEN_MINUTES - 1;
  assert.equal(await ask(root.token, "/api/tokens"), 200);
  room.clock.now += 1;
  assert.equal(await ask(root.token, "/api/tokens"), 401);
  const next = tokenSchema.parse(JSON.parse((await root.askToken()).body));
  room.clock.now += TEN_MINUTES - 1;
  assert.equal(await ask(next.token, "/api/tokens/tk_x", { method: "DELETE" }), 404);
  room.clock.now = Number(decode(payload)["iat"]) * 1000 + 2 * TEN_MINUTES + 1;
  assert.equal((await root.askToken()).status, 401, "a token needs a recent login like a change");
});

test("a token of a session ends with it, with its person and with the role, in every process", async (t) => {
  const app = await startApp(t, undefined, {}, { auth: "required" });
  const { send, identity, room } = app;
  await identity.people.add("zoe", ["operator"], OPERATOR);
  const ada = await logIn(app, "ada", "operator");
  const status = async (token: string) => (await send("/api/people", { headers: bearer(token) })).status;
  const other = await room.open();
  assert.ok(await other.sessions.findByToken(ada.token, "here"));
  assert.equal(await status(ada.token), 200);
  await identity.people.setRoles("ada", ["reviewer"], OPERATOR);
  assert.equal(await status(ada.token), 403);
  assert.equal((await send("/api/session", { method: "DELETE", headers: ada.own })).status, 200);
  assert.equal(await status(ada.token), 401);
  assert.equal(await (await room.open()).sessions.findByToken(ada.token, "here"), "refused");
  const bob = await logIn(app, "bob", "operator");
  assert.equal(await status(bob.token), 200);
  await identity.people.remove("bob", OPERATOR);
  assert.equal(await status(bob.token), 401);
  assert.ok(room.records.some(({ action, subject }) => action === "token.issued" && subject === bob.opened.id));
  for (const { token } of [ada, bob]) assert.equal(JSON.stringify(room.records).includes(token), false);
});

test("a token with another signature, header, audience, session or form is refused", async (t) => {
  const app = await startApp(t, undefined, {}, { auth: "required" });
  const ada = await logIn(app, "ada", "operator");
  const [header = "", payload = "", signature = ""] = ada.token.split(".");
  const claims = decode(payload);
  // The key of the test; with it, what is signed decides.
  const sign = (body: string, key = "key of tokens of the admin API"): string =>
    `${body}.${createHmac("sha256", key).update(body).digest("base64url")}`;
  const signed = (changes: object): string => sign(`${header}.${encode({ ...claims, ...changes })}`);
  const wrong: Readonly<Record<string, string>> = {
    "no signature": `${header}.${payload}.`,
    "a cut signature": `${header}.${payload}.${signature.slice(0, -4)}`,
    "two signatures": `${ada.token}.${signature}`,
    "another key": sign(`${header}.${payload}`, "guess"),
    "other claims": `${header}.${encode({ ...claims, sub: "operator" })}.${signature}`,
    "no algorithm": `${encode({ alg: "none" })}.${payload}.`,
    "another header": sign(`${encode({ alg: "HS256", typ: "JWT" })}.${payload}`),
    "another audience": signed({ aud: "glovebox" }),
    "another issuer": signed({ iss: "https://evil.example" }),
    "another person": signed({ sub: "operator" }),
    "another session": signed({ sid: "se_other" }),
    "a later time": signed({ iat: Number(claims["iat"]) + 1 }),
    "no expiry": signed({ exp: undefined }),
    "an expiry in words": signed({ exp: "never" }),
    "too many characters": signed({ more: "x".repeat(3_000) }),
    "no JSON": sign(`${header}.x`),
  };
  const status = async (token: string) => (await app.send("/api/people", { headers: bearer(token) })).status;
  for (const [name, token] of Object.entries(wrong)) assert.equal(await status(token), 401, name);
  assert.equal(await status(signed({})), 200);
  assert.equal(await status(ada.token), 200);
});
