/**
 * Who may use which route of the admin API: all routes that exist, asked by everyone who may not. A new route is covered
 * without a change here, unless it is for more than operators.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { Hono } from "hono";

import { OPERATOR } from "../../identity/index.ts";
import { startApp } from "./fixtures/start-app.ts";
import type { RawRequest, StartedApp } from "./fixtures/start-app.ts";

const STEP_UP_MS = 15 * 60_000;

/** Starts the application and returns its routes, of which it has no list of its own. */
async function start(t: TestContext) {
  const apps: Hono[] = [];
  const route = Reflect.get(Hono.prototype, "route");
  t.mock.method(Hono.prototype, "route", function (this: Hono, ...given: unknown[]) {
    apps.push(this);
    return Reflect.apply(route, this, given) as unknown;
  });
  const app = await startApp(t, undefined, {}, { auth: "required", stepUpMs: STEP_UP_MS });
  const found = apps.flatMap(({ routes }) => routes.map(({ method, path }) => `${method} ${path}`));
  const routes = [...new Set(found)].filter((one) => /^(?!ALL)\w+ \/api\//.test(one));
  return { ...app, routes };
}

async function logIn({ identity, listener }: StartedApp, name: string, roles: readonly string[]) {
  await identity.people.add(name, roles, OPERATOR);
  const person = await identity.resolve(`person:${name}` as typeof OPERATOR.id);
  assert.ok(person);
  const open = async () => {
    const { secret } = await identity.sessions.open(person, "test");
    return { cookie: `glovebox-${listener.port}=${secret}`, origin: `http://127.0.0.1:${listener.port}` };
  };
  return open;
}

/** They make a caller, so they need none. */
const LOGINS = /^(?:GET|POST) \/api\/(?:login|session|invite)$|^POST \/api\/login\//;
/** What every person has of their own. */
const OWN = /^(?:GET|DELETE) \/api\/session$|^POST \/api\/session\/token$|\/api\/(?:passkeys|clients)(?:\/|$)/;
const OWN_SESSIONS = /^(?:GET \/api\/sessions|DELETE \/api\/sessions\/:id)$/;
/** What reviewers have besides. */
const REVIEWS =
  /^GET \/api\/(?:approvals|executions|setup|skills|status|tools|events)|^POST \/api\/(?:approvals|skills)/;
/** What a service can read. */
const SERVICES = {
  "ledger:read": /\/api\/ledger|^GET \/api\/usage$/,
  "approvals:read": /^GET \/api\/approvals/,
  "metrics:read": /^$/,
};
const NOT_ENDING = (one: string): boolean => !one.endsWith("/events");

test("every route of the admin API is closed to all but those whom it is for", async (t) => {
  const app = await start(t);
  const { send, identity, room } = app;
  const routes = app.routes.filter(NOT_ENDING);
  assert.ok(routes.length > 40, routes.join("\n"));
  room.clock.now = Date.now();
  const ask = async (route: string, headers: Record<string, string>): Promise<number> => {
    const [method = "", path = ""] = route.split(" ");
    const body = method === "POST" || method === "PUT" ? { body: "[]" } : {};
    return (await send(path.replaceAll(/:\w+/g, "x"), { method, headers, ...body } satisfies RawRequest)).status;
  };
  /** Routes that are neither 401 nor 403. A login may end the session, so each request has its own credential. */
  const open = async (credential: () => Promise<Record<string, string>>, refusals: readonly number[] = [401, 403]) => {
    const found: string[] = [];
    for (const route of routes) if (!refusals.includes(await ask(route, await credential()))) found.push(route);
    return found;
  };
  const people = {
    operator: await logIn(app, "root", ["operator"]),
    reviewer: await logIn(app, "bob", ["reviewer"]),
    agent: await logIn(app, "ada", ["agent"]),
  };
  const withToken = (...scopes: string[]) => {
    return async (): Promise<Record<string, string>> => {
      const { token } = await identity.tokens.create({ name: "ci", scopes, replace: true }, OPERATOR);
      return { authorization: `Bearer ${token}` };
    };
  };
  const isOwn = (one: string): boolean => LOGINS.test(one) || OWN.test(one) || OWN_SESSIONS.test(one);

  await t.test("without a credential only the offer of logins is open, and logins need the page", async () => {
    assert.deepEqual(await open(async () => ({})), ["GET /api/login"]);
    const { origin } = await people.agent();
    const logins = await open(async () => ({ origin }));
    assert.deepEqual(
      logins,
      routes.filter((one) => LOGINS.test(one) && one !== "GET /api/session"),
    );
  });
  await t.test("a person has what is their own, a reviewer the reviews, and an operator everything", async () => {
    assert.deepEqual(await open(people.agent), routes.filter(isOwn));
    assert.deepEqual(
      await open(people.reviewer),
      routes.filter((one) => isOwn(one) || REVIEWS.test(one)),
    );
    assert.deepEqual(await open(people.operator), routes);
  });
  await t.test("an agent has nothing, and a service what its scope names", async () => {
    const always = ["GET /api/login", "GET /api/session", "DELETE /api/session"];
    assert.deepEqual(await open(withToken("execute", "search")), ["GET /api/login"]);
    for (const [scope, allowed] of Object.entries(SERVICES))
      assert.deepEqual(
        await open(withToken(scope)),
        routes.filter((one) => always.includes(one) || allowed.test(one)),
        scope,
      );
  });
  await t.test("a change needs the page and a recent login, on every route", async () => {
    const changes = routes.filter((one) => !one.startsWith("GET ") && !LOGINS.test(one));
    const withoutPage = async () => ({ cookie: (await people.operator()).cookie });
    assert.deepEqual(
      (await open(withoutPage, [403])).filter((one) => changes.includes(one)),
      [],
    );
    const old = await people.operator();
    room.clock.now += STEP_UP_MS + 1;
    for (const route of changes.filter((one) => one !== "DELETE /api/session"))
      assert.equal(await ask(route, old), 401, route);
    assert.equal(await ask("GET /api/people", old), 200);
  });
});
