/** People who log in to two gateways on one store: invites, sessions and their end, from outside. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { makeUntypedFolder, runGlovebox, serveFor } from "../../fixtures/product.ts";

const PASSWORD = "correct horse battery";
const parse = (text: string) => JSON.parse(text) as Record<string, unknown>;

test("a session is valid in every gateway on the store and after a restart, until one command ends it", async (t) => {
  const folder = makeUntypedFolder(t, { server: { auth: "required", port: 0 } });
  const run = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runGlovebox([...args, "--json"], { folder });
    assert.equal(code, 0, stderr);
    return parse(stdout);
  };
  const added = await run("people", "add", "ada", "--role", "operator");
  const { hash, pathname } = new URL((added["invite"] as { url: string }).url);
  const invite = new URLSearchParams(hash.slice(1)).get("invite");
  assert.equal(pathname, "/login");
  const gateways = [await serveFor(t, folder), await serveFor(t, folder)].map(({ url }) => url);
  const post = async (gateway: string, path: string, body: object) => {
    const headers = { origin: gateway, "content-type": "application/json" };
    const { status, headers: sent } = await fetch(`${gateway}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return { status, secret: /=([\w-]{43});/.exec(sent.get("set-cookie") ?? "")?.[1] ?? "" };
  };
  const ask = async (gateway: string, secret: string) => {
    const headers = { cookie: `glovebox-${new URL(gateway).port}=${secret}` };
    return (await fetch(`${gateway}/api/session`, { headers })).status;
  };
  const [first = "", second = ""] = gateways;
  const opened = await post(first, "/api/invite", { code: invite, password: PASSWORD });
  assert.equal((await post(second, "/api/invite", { code: invite, password: PASSWORD })).status, 401);
  const logIn = (gateway: string, password: string) => post(gateway, "/api/login", { name: "ada", password });
  assert.equal((await logIn(second, "correct horse batter")).status, 401);
  const other = await logIn(second, PASSWORD);
  const { url: third } = await serveFor(t, folder);
  const states = async () => {
    const answers = [first, second, third].map((gateway) =>
      Promise.all([opened, other].map(({ secret }) => ask(gateway, secret))),
    );
    return Promise.all(answers);
  };
  assert.deepEqual(await states(), [
    [200, 200],
    [200, 200],
    [200, 200],
  ]);
  const { sessions } = (await run("people", "sessions", "ada")) as { sessions: readonly { id: string }[] };
  assert.equal(sessions.length, 2);
  assert.deepEqual(await run("people", "logout", "--session", sessions.at(-1)?.id ?? ""), { ended: 1 });
  assert.deepEqual(await states(), [
    [401, 200],
    [401, 200],
    [401, 200],
  ]);
  assert.deepEqual(await run("people", "logout", "--all"), { ended: 1 });
  assert.deepEqual(await states(), [
    [401, 401],
    [401, 401],
    [401, 401],
  ]);
  assert.equal((await runGlovebox(["people", "logout"], { folder })).code, 2);
  assert.equal((await logIn(first, PASSWORD)).status, 200);
  assert.match(JSON.stringify(await run("people", "reset", "ada")), /login#invite=/);
  assert.equal((await logIn(first, PASSWORD)).status, 401);
});
