/** Who is let in over HTTP: tokens, sessions, codes and processes of this user; each attack with its allowed twin. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { OPERATOR } from "../../identity/index.ts";
import { createTokenText } from "../../identity/index.ts";
import { createMemoryGateway } from "../mcp/fixtures/memory-gateway.ts";
import { SESSION, startApp } from "./fixtures/start-app.ts";
import type { RawRequest, StartOptions, StartedApp } from "./fixtures/start-app.ts";

const REQUIRED: StartOptions = { auth: "required", publicUrl: "https://gloves.example" };
const METADATA = 'resource_metadata="https://gloves.example/.well-known/oauth-protected-resource/mcp"';

const message = (method: string, params: object = {}): RawRequest => ({
  method: "POST",
  headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
});
const INITIALIZE = message("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
});
const callOf = (name: string, args: object = {}): RawRequest => message("tools/call", { name, arguments: args });

const withHeaders = (init: RawRequest, more: Record<string, string>): RawRequest => ({
  ...init,
  headers: { ...init.headers, ...more },
});
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function create({ identity }: StartedApp, name: string, ...scopes: string[]): Promise<string> {
  return (await identity.tokens.create({ name, scopes }, OPERATOR)).token;
}

const start = (t: TestContext, options: StartOptions = {}): Promise<StartedApp> =>
  startApp(t, undefined, { metrics: () => "metrics" }, options);

/** Opens a session of MCP and returns its header. */
async function initialize({ send }: StartedApp, more: Record<string, string>): Promise<Record<string, string>> {
  const { headers, status } = await send("/mcp", withHeaders(INITIALIZE, more));
  assert.equal(status, 200);
  return { ...more, "mcp-session-id": String(headers["mcp-session-id"]) };
}

test("/mcp without a token gets 401 with the metadata address, which is served, and health checks need no login", async (t) => {
  const app = await start(t, REQUIRED);
  const refused = await app.send("/mcp", INITIALIZE);
  assert.deepEqual([refused.status, refused.headers["www-authenticate"]], [401, `Bearer ${METADATA}`]);
  const metadata = await app.send("/.well-known/oauth-protected-resource/mcp");
  assert.deepEqual(JSON.parse(metadata.body), {
    resource: "https://gloves.example/mcp",
    resource_name: "Glovebox",
    bearer_methods_supported: ["header"],
    scopes_supported: ["execute", "execute:read", "search"],
  });
  for (const path of ["/health", "/ready"]) assert.equal((await app.send(path)).status, 200);
  const token = await create(app, "ci", "search");
  assert.equal((await app.send("/mcp", withHeaders(INITIALIZE, bearer(token)))).status, 200);
});

test("wrong, oversized, expired and revoked tokens get the same 401, and a valid one is served", async (t) => {
  const app = await start(t, REQUIRED);
  const { tokens } = app.identity;
  const { clock } = app.room;
  const expiring = await tokens.create({ name: "brief", scopes: ["search"], expiresAt: clock.now + 10 }, OPERATOR);
  const revoked = await tokens.create({ name: "gone", scopes: ["search"] }, OPERATOR);
  for (const { token } of [expiring, revoked])
    assert.equal((await app.send("/mcp", withHeaders(INITIALIZE, bearer(token)))).status, 200);
  clock.now += 10;
  await tokens.revoke(revoked.summary.id, OPERATOR);
  const unknown = createTokenText((count) => new Uint8Array(count));
  const wrong = [unknown, "x", "x".repeat(6_000), "x".repeat(9_000), expiring.token, revoked.token].map(bearer);
  const answers = new Set<string>();
  for (const headers of [...wrong, { authorization: "Basic eDp5" }, { authorization: "Bearer" }]) {
    const { status, body, headers: sent } = await app.send("/mcp", withHeaders(INITIALIZE, headers));
    assert.equal(status, 401);
    assert.equal(sent["www-authenticate"], `Bearer error="invalid_token", ${METADATA}`);
    answers.add(body);
  }
  assert.equal(answers.size, 1);
});

test("a wrong token is refused in local mode, too, and does not fall back to the local user", async (t) => {
  const app = await start(t);
  assert.equal((await app.send("/mcp", INITIALIZE)).status, 200);
  assert.equal((await app.send("/mcp", withHeaders(INITIALIZE, bearer("gbx_x")))).status, 401);
});

test("in local mode processes of this user are the local client, and others need the token of the owner", async (t) => {
  const localToken = createTokenText((count) => new Uint8Array(count).fill(7));
  const own = await start(t, { localToken });
  await own.send("/mcp", withHeaders(callOf("execute", { code: "1" }), await initialize(own, {})));
  assert.equal(own.gateway.requests[0]?.principal.id, "local");
  const other = await start(t, { localToken, uid: 4_294_000_000 });
  const refused = await other.send("/mcp", INITIALIZE);
  assert.deepEqual([refused.status, refused.headers["www-authenticate"]], [401, 'Bearer realm="glovebox"']);
  const session = await initialize(other, bearer(localToken));
  await other.send("/mcp", withHeaders(callOf("execute", { code: "1" }), session));
  assert.equal(other.gateway.requests[0]?.principal.id, "local");
  const remote = await start(t, { ...REQUIRED, localToken });
  assert.equal((await remote.send("/mcp", withHeaders(INITIALIZE, bearer(localToken)))).status, 401);
  assert.equal((await remote.send("/mcp", INITIALIZE)).status, 401);
});

test("a forwarded request is not the local user, whatever the headers claim", async (t) => {
  const app = await start(t);
  for (const name of ["x-forwarded-for", "x-real-ip", "forwarded", "via", "x-forwarded-host", "x-forwarded-proto"])
    assert.equal((await app.send("/mcp", withHeaders(INITIALIZE, { [name]: "127.0.0.1" }))).status, 401, name);
  assert.equal((await app.send("/mcp", INITIALIZE)).status, 200);
});

test("requests that did not pass the proxy are refused, except for health checks", async (t) => {
  const proxyToken = "proxy-token-of-this-test";
  const app = await start(t, { ...REQUIRED, proxyToken });
  const token = bearer(await create(app, "ci", "search"));
  for (const value of [undefined, "", "proxy-token-of-this-tesT", `${proxyToken}x`]) {
    const more = value === undefined ? {} : { "x-glovebox-proxy-token": value };
    assert.equal((await app.send("/mcp", withHeaders(INITIALIZE, { ...token, ...more }))).status, 403);
    assert.equal((await app.send("/api/status", { headers: { ...SESSION, ...more } })).status, 403);
  }
  const passed = { ...token, "x-glovebox-proxy-token": proxyToken };
  assert.equal((await app.send("/mcp", withHeaders(INITIALIZE, passed))).status, 200);
  assert.equal((await app.send("/health")).status, 200);
  assert.ok(app.room.records.some(({ action }) => action === "proxy.refused"));
});

test("a page on an address of its own needs no proxy for a browser on this machine, and does for others", async (t) => {
  const options = { ...REQUIRED, hasPage: true, proxyToken: "proxy-token-of-this-test", isReachedDirectly: true };
  const app = await start(t, options);
  const status = async (more: Record<string, string>) =>
    (await app.send("/api/session", { headers: { ...SESSION, ...more } })).status;
  assert.equal(await status({}), 200);
  assert.equal(await status({ "x-forwarded-for": "127.0.0.1" }), 403);
  assert.equal(await status({ via: "1.1 proxy", "x-glovebox-proxy-token": options.proxyToken }), 200);
});

test("the address of a client is that of the connection, unless a trusted proxy says otherwise", async (t) => {
  const forwarded = { "x-forwarded-for": "9.9.9.9, 203.0.113.7", ...bearer("gbx_wrong") };
  for (const [trustedProxies, origin] of [
    [[], "127.0.0.1"],
    [["127.0.0.1"], "203.0.113.7"],
    [["127.0.0.0/8", "203.0.113.0/24"], "9.9.9.9"],
  ] as const) {
    const app = await start(t, { ...REQUIRED, trustedProxies });
    await app.send("/mcp", withHeaders(INITIALIZE, forwarded));
    assert.equal(app.room.records.at(-1)?.subject, origin);
  }
});

test("other hosts and origins are refused, and the public address and allowed hosts are accepted", async (t) => {
  const app = await start(t, { ...REQUIRED, allowedHosts: ["inside.example:8443"] });
  const headersOf = (host: string, origin?: string) => ({ host, ...(origin !== undefined && { origin }) });
  for (const [status, host, origin] of [
    [200, "gloves.example", "https://gloves.example"],
    [200, "GLOVES.example"],
    [200, "inside.example:8443", "https://inside.example:8443"],
    [403, "gloves.example:8443"],
    [403, "gloves.example.evil.example"],
    [403, "evil.example"],
    [403, "gloves.example", "http://gloves.example"],
    [403, "gloves.example", "https://evil.example"],
    [403, "gloves.example", "null"],
    [403, "inside.example"],
  ] as const)
    assert.equal((await app.send("/health", { headers: headersOf(host, origin) })).status, status, `${host} ${origin}`);
});

test("a 403 names all scopes of the operation at once, and each scope opens what it names", async (t) => {
  const app = await start(t, REQUIRED);
  const finder = bearer(await create(app, "finder", "search"));
  const runner = bearer(await create(app, "runner", "execute"));
  const service = bearer(await create(app, "scraper", "metrics:read"));
  const session = { finder: await initialize(app, finder), runner: await initialize(app, runner) };
  const search = callOf("search", { query: "x" });
  const execute = callOf("execute", { code: "1" });
  for (const [init, headers, status] of [
    [search, session.finder, 200],
    [execute, session.finder, 403],
    [callOf("resume", { execution: "ex_1" }), session.finder, 403],
    [message("resources/list"), session.finder, 403],
    [message("tools/list"), session.finder, 200],
    [execute, session.runner, 200],
    [search, session.runner, 403],
    [search, service, 403],
  ] as const)
    assert.equal((await app.send("/mcp", withHeaders(init, headers))).status, status, init.body);
  const both = { ...execute, body: `[${search.body},${execute.body}]` };
  const refused = await app.send("/mcp", withHeaders(both, session.finder));
  assert.equal(refused.status, 403);
  const challenge = `Bearer error="insufficient_scope", scope="execute search", ${METADATA}`;
  assert.equal(refused.headers["www-authenticate"], challenge);
});

test("/metrics needs the scope metrics:read, and nothing in local mode for this user", async (t) => {
  const app = await start(t, REQUIRED);
  assert.equal((await app.send("/metrics")).status, 401);
  assert.equal((await app.send("/metrics", { headers: bearer(await create(app, "agent", "execute")) })).status, 403);
  const allowed = await app.send("/metrics", { headers: bearer(await create(app, "scraper", "metrics:read")) });
  assert.deepEqual([allowed.status, allowed.body], [200, "metrics"]);
  assert.equal((await (await start(t)).send("/metrics")).status, 200);
});

test("a session of MCP belongs to the principal that opened it", async (t) => {
  const app = await start(t, REQUIRED);
  const [ada, bob] = [bearer(await create(app, "ada", "search")), bearer(await create(app, "bob", "search"))];
  const session = await initialize(app, ada);
  assert.equal((await app.send("/mcp", withHeaders(message("tools/list"), { ...session, ...bob }))).status, 404);
  assert.equal((await app.send("/mcp", { method: "DELETE", headers: { ...session, ...bob } })).status, 404);
  assert.equal((await app.send("/mcp", withHeaders(message("tools/list"), session))).status, 200);
});

test("a session of MCP is not used with a token of the same name that allows less", async (t) => {
  const app = await start(t, REQUIRED);
  const replace = async (more: object): Promise<string> =>
    (await app.identity.tokens.create({ name: "ci", scopes: ["execute"], replace: true, ...more }, OPERATOR)).token;
  const run = async (token: string, session: Record<string, string>) =>
    (await app.send("/mcp", withHeaders(callOf("execute", { code: "1" }), { ...session, ...bearer(token) }))).status;
  const wide = await initialize(app, bearer(await replace({})));
  assert.equal(await run(await replace({}), wide), 200);
  for (const less of [{ scopes: ["execute:read"] }, { servers: ["files"] }, { executionsPerMinute: 1 }]) {
    const token = await replace(less);
    assert.equal(await run(token, wide), 404, JSON.stringify(less));
    const own = await initialize(app, bearer(token));
    assert.equal(await run(token, own), 200);
  }
  const reached = app.gateway.requests.map(({ principal }) => principal.access);
  assert.deepEqual(reached, [undefined, { effects: ["read"] }, { servers: ["files"] }, undefined]);
});

test("a service cannot open a session of MCP, and an agent can", async (t) => {
  const app = await start(t, REQUIRED);
  const status = async (...scopes: string[]) => {
    const more = bearer(await create(app, scopes.join("-").replaceAll(":", "."), ...scopes));
    return app.send("/mcp", withHeaders(INITIALIZE, more));
  };
  for (const scopes of [["metrics:read"], ["ledger:read", "approvals:read"]]) {
    const refused = await status(...scopes);
    assert.equal(refused.status, 403, scopes.join());
    assert.match(refused.headers["www-authenticate"] ?? "", /error="insufficient_scope", scope="execute search"/);
  }
  for (const scopes of [["search"], ["execute:read", "metrics:read"]])
    assert.equal((await status(...scopes)).status, 200, scopes.join());
});

test("the stream of a client ends when its token is revoked, and that of another stays", async (t) => {
  const app = await start(t, { auth: "required" });
  const open = async (name: string) => {
    const session = await initialize(app, bearer(await create(app, name, "search")));
    const headers = { ...session, accept: "text/event-stream" };
    const [stream] = (await once(get(`${app.listener.url}/mcp`, { headers }), "response")) as [IncomingMessage];
    assert.equal(stream.statusCode, 200);
    t.after(() => stream.destroy());
    return stream.resume();
  };
  const [revoked, other] = [await open("one"), await open("two")];
  const [token] = (await app.identity.tokens.list()).filter(({ name }) => name === "one");
  await app.identity.tokens.revoke(token?.id ?? "", OPERATOR);
  await once(revoked, "end");
  assert.equal(other.readableEnded, false);
});

test("a service reads what its scopes allow over the API and changes nothing", async (t) => {
  const app = await start(t, { ...REQUIRED, hasPage: true });
  const reader = bearer(await create(app, "archive", "ledger:read"));
  const agent = bearer(await create(app, "agent", "execute", "search"));
  assert.equal((await app.send("/api/ledger", { headers: reader })).status, 200);
  for (const [path, headers] of [
    ["/api/ledger", agent],
    ["/api/approvals", reader],
    ["/api/status", reader],
    ["/api/tokens", reader],
    ["/api/sessions", agent],
    ["/api/people", agent],
  ] as const)
    assert.equal((await app.send(path, { headers })).status, 403, path);
  const body = JSON.stringify({ name: "x", scopes: ["execute"] });
  assert.equal((await app.send("/api/tokens", { method: "POST", headers: agent, body })).status, 403);
  const decision = JSON.stringify({ verdict: "approve" });
  const target = `/api/approvals/ap_${"0".repeat(24)}`;
  const approver = bearer(await create(app, "approver", "approvals:read"));
  for (const headers of [agent, approver])
    assert.equal((await app.send(target, { method: "POST", headers, body: decision })).status, 403);
});

test("previews of arguments are in the ledger of those only who see arguments", async (t) => {
  const record = { seq: 1, at: 1, actor: "local", action: "call.intended", subject: "shop.pay" };
  for (const isShown of [true, false]) {
    const { approvals } = createMemoryGateway();
    const known = {
      records: async () => [
        { ...record, previous: "sha256:a", digest: "sha256:b", detail: { preview: "a-private-name", effect: "write" } },
      ],
      approvals: { ...approvals, showsArguments: () => isShown },
    };
    const app = await startApp(t, undefined, known);
    const { body } = await app.send("/api/ledger", { headers: SESSION });
    assert.deepEqual([body.includes("a-private-name"), body.includes("write")], [isShown, true]);
  }
});

test("a one-time code opens one session, and the session is new whatever cookie was sent", async (t) => {
  const app = await start(t);
  const { port } = app.listener;
  const origin = `http://127.0.0.1:${port}`;
  const fixed = "f".repeat(43);
  const code = await app.identity.sessions.createCode(OPERATOR);
  const enter = (more: Record<string, string> = { origin }) =>
    app.send("/api/session", {
      method: "POST",
      headers: { cookie: `glovebox-${port}=${fixed}`, ...more },
      body: JSON.stringify({ code }),
    });
  for (const more of [{}, { origin: "https://evil.example" }] as Record<string, string>[])
    assert.equal((await enter(more)).status, 403);
  const { status, headers } = await enter();
  assert.equal(status, 200);
  const [cookie = ""] = headers["set-cookie"] ?? [];
  assert.match(cookie, /^glovebox-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/);
  assert.ok(!cookie.includes(fixed));
  assert.equal((await enter()).status, 401);
  const session = { cookie: cookie.split(";")[0] ?? "" };
  assert.equal((await app.send("/api/status", { headers: session })).status, 200);
  const left = await app.send("/api/session", { method: "DELETE", headers: { ...session, origin } });
  assert.equal(left.status, 200);
  assert.equal((await app.send("/api/status", { headers: session })).status, 401);
});

test("a change with a session needs the origin of the page", async (t) => {
  const app = await start(t);
  const body = JSON.stringify({ name: "x", scopes: ["search"] });
  const { secret } = await app.identity.sessions.open(OPERATOR, "here");
  const cookie = `glovebox-${app.listener.port}=${secret}`;
  const post = (headers: Record<string, string>) => app.send("/api/tokens", { method: "POST", headers, body });
  assert.equal((await post({ cookie })).status, 403);
  assert.equal((await post({ cookie, origin: "https://evil.example" })).status, 403);
  assert.equal((await post({ cookie, "sec-fetch-site": "cross-site" })).status, 403);
  assert.equal((await post({ cookie, "sec-fetch-site": "same-origin" })).status, 200);
});

test("a person without the role is refused, and roles do not imply each other", async (t) => {
  const app = await start(t);
  const { people, sessions, resolve } = app.identity;
  await people.add("root", ["operator"], OPERATOR);
  for (const [name, role, statuses] of [
    ["ada", "agent", [403, 403]],
    ["bob", "reviewer", [200, 403]],
    ["eve", "operator", [200, 200]],
  ] as const) {
    const person = await people.add(name, [role], OPERATOR);
    const principal = (await app.identity.people.list()).find((one) => one.name === person.name);
    assert.ok(principal);
    const opened = await sessions.open({ ...OPERATOR, id: await idOf(name, resolve) }, "here");
    const headers = { cookie: `glovebox-${app.listener.port}=${opened.secret}` };
    const answers = [await app.send("/api/approvals", { headers }), await app.send("/api/tokens", { headers })];
    assert.deepEqual(
      answers.map(({ status }) => status),
      statuses,
      role,
    );
  }
});

async function idOf(name: string, resolve: StartedApp["identity"]["resolve"]) {
  const { parsePrincipalId } = await import("../../domain/index.ts");
  const id = parsePrincipalId(`person:${name}`);
  assert.ok(id && (await resolve(id)));
  return id;
}
