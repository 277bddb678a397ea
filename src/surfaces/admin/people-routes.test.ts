/** People, access tokens and clients over HTTP: who may do what, and what it does. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type * as z from "zod/mini";

import { OPERATOR } from "../../identity/index.ts";
import { startOauthGateway } from "../../../test/fixtures/oauth-gateway.ts";
import {
  accessTokenSchema,
  accessTokensSchema,
  clientsSchema,
  createdTokenSchema,
  endedSchema,
  inviteSchema,
  peopleSchema,
  personSchema,
  removedSchema,
} from "./contract/people.ts";
import type { StartedApp } from "./fixtures/start-app.ts";
import { startApp } from "./fixtures/start-app.ts";

type App = Pick<StartedApp, "identity" | "listener" | "send">;

/** What a person sends with the cookie of a new session. */
async function openPage({ identity, listener, send }: App, name: string) {
  const principal = await identity.resolve(`person:${name}` as typeof OPERATOR.id);
  assert.ok(principal);
  const { secret } = await identity.sessions.open(principal, "here");
  const headers = { cookie: `glovebox-${listener.port}=${secret}`, origin: `http://127.0.0.1:${listener.port}` };
  const ask = (method: string, path: string, body?: object) =>
    send(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const read = async <Schema extends z.ZodMiniType>(
    schema: Schema,
    ...request: Parameters<typeof ask>
  ): Promise<z.infer<Schema>> => {
    const { status, body } = await ask(...request);
    assert.equal(status, 200, body);
    return schema.parse(JSON.parse(body));
  };
  const status = async (...request: Parameters<typeof ask>) => (await ask(...request)).status;
  return { ask, read, status };
}

async function start(t: Parameters<typeof startApp>[0], auth: "local" | "required" = "required") {
  const app = await startApp(t, undefined, {}, { auth });
  await app.identity.people.add("root", ["operator"], OPERATOR);
  return { ...app, root: await openPage(app, "root") };
}

test("an operator adds, invites, changes and removes people over the API", async (t) => {
  const app = await start(t);
  const { root, send, room, listener } = app;
  const bob = { name: "bob", roles: ["agent", "reviewer"] };
  const added = await root.read(personSchema, "POST", "/api/people", bob);
  assert.deepEqual([added.name, added.roles, added.createdBy], ["bob", ["agent", "reviewer"], "person:root"]);
  const invite = await root.read(inviteSchema, "POST", "/api/people/bob/invite", {});
  const [first, second] = [added.invite?.url, invite.url].map((url = "") => new URL(url));
  const accept = async (url: URL | undefined) => {
    const body = JSON.stringify({ code: url?.hash.slice("#invite=".length), password: "correct horse battery" });
    const headers = { origin: `http://127.0.0.1:${listener.port}` };
    return (await send("/api/invite", { method: "POST", headers, body })).status;
  };
  assert.deepEqual([await accept(first), await accept(second)], [401, 200], "a new link ends the former");
  const changed = await root.read(personSchema, "PUT", "/api/people/bob/roles", { roles: ["operator"] });
  assert.deepEqual(changed.roles, ["operator"]);
  const { people } = await root.read(peopleSchema, "GET", "/api/people");
  assert.deepEqual(
    people.map(({ name, roles }) => [name, roles]),
    [
      ["bob", ["operator"]],
      ["root", ["operator"]],
    ],
  );
  assert.deepEqual(await root.read(endedSchema, "DELETE", "/api/people/bob/sessions"), { ended: 1 });
  assert.deepEqual(await root.read(removedSchema, "DELETE", "/api/people/bob"), { removed: "bob" });
  assert.deepEqual(
    [await root.status("DELETE", "/api/people/bob"), await root.status("DELETE", "/api/people/root")],
    [404, 409],
    "an unknown person, and the last operator",
  );
  assert.equal(await root.status("POST", "/api/people", bob), 409, "the name of a removed person");
  assert.equal(await root.status("POST", "/api/people", { ...bob, again: true }), 200);
  for (const bad of [{ name: "bob" }, { name: "Bob", roles: ["agent"] }, { name: "eve", roles: ["root"] }])
    assert.equal(await root.status("POST", "/api/people", bad), 400, JSON.stringify(bad));
  const recorded = new Set(room.records.filter(({ actor }) => actor === "person:root").map(({ action }) => action));
  for (const action of ["person.added", "person.invited", "role.changed", "person.removed", "session.ended"])
    assert.ok(recorded.has(action), action);
  assert.doesNotMatch(JSON.stringify(room.records), /[A-Za-z0-9_-]{43}/);
});

test("only an operator manages people and access tokens over the API", async (t) => {
  const app = await start(t);
  await app.identity.people.add("eve", ["agent", "reviewer"], OPERATOR);
  const { id } = (await app.identity.tokens.create({ name: "ci", scopes: ["ledger:read"] }, OPERATOR)).summary;
  const eve = await openPage(app, "eve");
  const requests: readonly (readonly [method: string, path: string, body?: object])[] = [
    ["GET", "/api/people"],
    ["POST", "/api/people", { name: "mallory", roles: ["operator"] }],
    ["PUT", "/api/people/eve/roles", { roles: ["operator"] }],
    ["POST", "/api/people/root/invite", {}],
    ["DELETE", "/api/people/root/sessions"],
    ["DELETE", "/api/people/eve"],
    ["GET", "/api/tokens"],
    ["POST", "/api/tokens", { name: "mine", scopes: ["execute"], person: "eve" }],
    ["DELETE", `/api/tokens/${id}`],
  ];
  for (const request of requests) assert.equal(await eve.status(...request), 403, request[1]);
  for (const request of requests) assert.notEqual(await app.root.status(...request), 403, request[1]);
});

test("an operator makes and revokes access tokens over the API, and sees what a finder could do", async (t) => {
  const { root, identity } = await start(t);
  await identity.people.add("ada", ["agent"], OPERATOR);
  const request = { name: "ci", scopes: ["execute:read", "search"], servers: ["files"], person: "ada" };
  const made = await root.read(createdTokenSchema, "POST", "/api/tokens", { ...request, executionsPerMinute: 5 });
  assert.deepEqual(made.reach, {
    until: "until it is revoked",
    can: [
      "read with every tool of the servers files, as far as the rules allow",
      "search and describe these tools",
      "start at most 5 executions in a minute",
    ],
  });
  assert.deepEqual([made.person, made.kind, made.createdBy], ["person:ada", "agent", "person:root"]);
  assert.ok(await identity.tokens.verify(made.token, "here"));
  const listed = await root.ask("GET", "/api/tokens");
  assert.equal(accessTokensSchema.parse(JSON.parse(listed.body)).tokens[0]?.id, made.id);
  assert.doesNotMatch(listed.body, /gbx_|digest/);
  assert.equal(await root.status("POST", "/api/tokens", { ...request, name: "other", profile: "unknown" }), 404);
  for (const person of ["zoe", "Ada!", ""])
    assert.notEqual(await root.status("POST", "/api/tokens", { ...request, name: "other", person }), 200, person);
  const revoked = await root.read(accessTokenSchema, "DELETE", `/api/tokens/${made.id}`);
  assert.equal(revoked.revokedBy, "person:root");
  assert.equal(await identity.tokens.verify(made.token, "here"), undefined);
  assert.equal(await root.status("DELETE", `/api/tokens/${made.id}`), 404);
});

test("local mode has neither passwords nor invites", async (t) => {
  const { root } = await start(t, "local");
  const bob = { name: "bob", roles: ["agent"] };
  assert.equal((await root.read(personSchema, "POST", "/api/people", bob)).invite, undefined);
  assert.equal(await root.status("POST", "/api/people/bob/invite", {}), 404);
});

test("a person lists and ends the logins of their own clients, an operator those of all", async (t) => {
  const { app, logIn, verify, identity, actions, room } = await startOauthGateway(t);
  await identity.people.add("root", ["operator"], OPERATOR);
  const [ada, bob, root] = await Promise.all(["ada", "bob", "root"].map((name) => openPage(app, name)));
  assert.ok(ada && bob && root);
  const [first, second] = [await logIn({ clientId: "by-hand" }), await logIn({ clientId: "another" })];
  const { clients } = await ada.read(clientsSchema, "GET", "/api/clients");
  assert.deepEqual(clients.map(({ principal }) => principal).toSorted(), ["agent:ada/another", "agent:ada/by-hand"]);
  for (const { person, scopes } of clients)
    assert.deepEqual([person, scopes], ["person:ada", ["execute", "execute:read", "search"]]);
  for (const { createdAt, expiresAt } of clients) assert.equal(expiresAt - createdAt, 90 * 24 * 60 * 60_000);
  const idOf = (name: string): string => clients.find(({ client }) => client === name)?.id ?? "";
  assert.deepEqual(await bob.read(clientsSchema, "GET", "/api/clients"), { clients: [] });
  assert.deepEqual(await bob.read(endedSchema, "DELETE", `/api/clients/${idOf("by-hand")}`), { ended: 0 });
  assert.ok(await verify(first.tokens?.access_token));
  assert.deepEqual(await ada.read(endedSchema, "DELETE", `/api/clients/${idOf("by-hand")}`), { ended: 1 });
  assert.deepEqual(
    [await verify(first.tokens?.access_token), !!(await verify(second.tokens?.access_token))],
    [undefined, true],
  );
  assert.deepEqual(await ada.read(endedSchema, "DELETE", `/api/clients/${idOf("by-hand")}`), { ended: 0 });
  assert.deepEqual(await root.read(endedSchema, "DELETE", `/api/clients/${idOf("another")}`), { ended: 1 });
  assert.equal(await verify(second.tokens?.access_token), undefined);
  assert.equal(actions().filter((action) => action === "consent.ended").length, 2);
  assert.ok(room.records.some(({ actor, action }) => actor === "person:root" && action === "consent.ended"));
  const { token } = await identity.tokens.create({ name: "svc", scopes: ["ledger:read"] }, OPERATOR);
  const headers = { authorization: `Bearer ${token}` };
  assert.equal((await app.send("/api/clients", { headers })).status, 403);
});
