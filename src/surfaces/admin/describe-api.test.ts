/** The description of the admin API names every route, and no route that does not exist. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { OPERATOR } from "../../identity/index.ts";
import { API_ROUTES, toOpenApi } from "./describe-api.ts";
import { SESSION, startApp } from "./fixtures/start-app.ts";

/** Where the routes of a file are mounted. */
const MOUNTS: Readonly<Record<string, string>> = {
  "api-routes.ts": "",
  "execution-routes.ts": "/executions",
  "ledger-routes.ts": "/ledger",
  "live-routes.ts": "/events",
  "people-routes.ts": "",
  "policy-routes.ts": "/policy",
  "replay-routes.ts": "/executions",
  "secret-routes.ts": "/secrets",
  "server-routes.ts": "/servers",
  "setup-routes.ts": "/setup",
  "settings-routes.ts": "/settings",
  "usage-routes.ts": "/usage",
  "withheld-routes.ts": "/withheld",
};

test("every route of these files is described", () => {
  const described = new Set(API_ROUTES.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, ":")}`));
  const files = readdirSync(import.meta.dirname).filter((file) => file in MOUNTS);
  assert.equal(files.length, Object.keys(MOUNTS).length);
  const missing = files.flatMap((file) => {
    const text = readFileSync(`${import.meta.dirname}/${file}`, "utf8").split(
      "export function createApprovalRoutes",
    )[0];
    const found = [...(text ?? "").matchAll(/routes\.(get|post|put|delete)\("([^"]*)"/g)];
    return found
      .map(([, method = "", path = ""]) => `${method} /api${MOUNTS[file]}${path === "/" ? "" : path}`)
      .map((one) => one.replace(/:\w+/g, ":"))
      .filter((one) => !described.has(one));
  });
  assert.deepEqual(missing, []);
});

test("every route that is described exists", async (t) => {
  const { send } = await startApp(t, undefined, {}, { auth: "required" });
  const skips = ["/api/events", "/api/sessions", "/api/session", "/api/session/token"];
  for (const { method, path } of API_ROUTES.filter((one) => !skips.includes(one.path))) {
    const real = path.replace(/\{\w+\}/g, "x");
    const { body, status } = await send(real, { method: method.toUpperCase(), headers: SESSION });
    assert.equal(body.includes("This address does not exist"), false, `${method} ${real}: ${status}`);
  }
  const { body } = await send("/api/nothing", { headers: SESSION });
  assert.ok(body.includes("This address does not exist"));
});

test("the document has a schema for each answer in JSON", () => {
  const text = JSON.stringify(toOpenApi());
  assert.equal(text.split('"default":{"description"').length - 1, API_ROUTES.length);
  assert.ok(text.includes('"/api/secrets/{name}"'));
});

/** Needs no credential: it tells how to log in. */
const OPEN = "/api/login";

test("an agent's credential reaches no route, and a service only its own session and what its scope names", async (t) => {
  const { send, identity } = await startApp(t, undefined, {}, { auth: "required" });
  const statuses = async (scopes: readonly string[]) => {
    const { token } = await identity.tokens.create({ name: scopes.join("").replace(/\W/g, ""), scopes }, OPERATOR);
    const headers = { authorization: `Bearer ${token}` };
    const reached: string[] = [];
    for (const { method, path } of API_ROUTES.filter((one) => one.path !== OPEN)) {
      const { status } = await send(path.replace(/\{\w+\}/g, "x"), { method: method.toUpperCase(), headers });
      if (status !== 401 && status !== 403) reached.push(`${method} ${path}: ${status}`);
    }
    return reached;
  };
  assert.deepEqual(await statuses(["execute", "execute:read", "search"]), []);
  assert.deepEqual(
    (await statuses(["ledger:read"])).map((one) => one.split(":")[0]),
    [
      "get /api/session",
      "delete /api/session",
      "get /api/ledger",
      "get /api/ledger/proof",
      "post /api/ledger/proof",
      "get /api/ledger/export",
      "get /api/usage",
    ],
  );
});

test("no change is made for a request with a cookie from another origin, or without one", async (t) => {
  const { send, listener, identity } = await startApp(t);
  const { secret } = await identity.sessions.open(OPERATOR, "test");
  const cookie = `glovebox-${listener.port}=${secret}`;
  const status = async (method: string, path: string, headers: Record<string, string>) =>
    (await send(path.replace(/\{\w+\}/g, "x"), { method: method.toUpperCase(), headers: { cookie, ...headers } }))
      .status;
  for (const { method, path } of API_ROUTES.filter((one) => one.method !== "get")) {
    assert.equal(await status(method, path, {}), 403, `${method} ${path}`);
    assert.equal(await status(method, path, { origin: "https://evil.example" }), 403, `${method} ${path}`);
  }
  const own = { origin: `http://127.0.0.1:${listener.port}` };
  assert.equal(await status("delete", "/api/tokens/{id}", own), 404);
});
