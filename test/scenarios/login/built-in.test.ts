/** MCP clients that log in at the built-in authorization server, with the client of the SDK and a person's browser. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openEgress } from "../../../src/egress/index.ts";
import type { FetchLike } from "../../../src/egress/index.ts";
import { OPERATOR } from "../../../src/identity/index.ts";
import { sampleOpening } from "../../../src/store/fixtures/sample-opening.ts";
import { startApp } from "../../../src/surfaces/admin/fixtures/start-app.ts";
import { CALLBACK } from "../../fixtures/oauth-client.ts";
import type { OauthClientOptions } from "../../fixtures/oauth-client.ts";
import {
  CLIENT_DOCUMENT,
  STATIC_CLIENTS,
  VERIFIER,
  startOauthGateway,
  toExchange,
  toRequest,
} from "../../fixtures/oauth-gateway.ts";

const describeClient = (changes: object = {}): string =>
  JSON.stringify({
    client_id: CLIENT_DOCUMENT,
    client_name: "Editor",
    redirect_uris: ["http://127.0.0.1/callback"],
    ...changes,
  });

test("the SDK client logs in with dynamic registration, a static id and a client document", async (t) => {
  const fetched: string[] = [];
  const documents: FetchLike = async (address) => {
    fetched.push(String(address));
    return new Response(describeClient());
  };
  const { logIn, verify, room, mcp, identity } = await startOauthGateway(t, { documents });
  const ways: readonly (readonly [OauthClientOptions, RegExp, RegExp])[] = [
    [{}, /^agent:ada\/test-editor-[0-9a-f]{20}$/, /registered itself/],
    [{ clientId: "by-hand" }, /^agent:ada\/by-hand$/, /An operator of this gateway/],
    [{ clientMetadataUrl: CLIENT_DOCUMENT }, /^agent:ada\/editor\.example-[0-9a-f]{16}$/, /editor\.example describes/],
  ];
  for (const [options, agent, shown] of ways) {
    const { client, memory, tokens } = await logIn(options, (_, html) => {
      assert.match(html, shown);
      for (const one of [CALLBACK, mcp, "person:ada", "execute:read"]) assert.ok(html.includes(one), one);
    });
    assert.ok((await client.listTools()).tools.length > 0);
    const verified = await verify(tokens?.access_token);
    assert.match(verified?.principal.id ?? "", agent);
    assert.deepEqual(verified?.scopes, ["execute", "execute:read", "search"]);
    const elsewhere = { text: tokens?.access_token ?? "", origin: "", resource: "https://other.example/mcp" };
    assert.equal(await identity.verify(elsewhere), undefined);
    assert.equal(memory.seen.authorizationUrl?.searchParams.get("code_challenge_method"), "S256");
  }
  assert.deepEqual(fetched, [CLIENT_DOCUMENT]);
  const text = JSON.stringify(room.records);
  for (const action of ["client.registered", "consent.given", "token.issued"]) assert.ok(text.includes(action));
  assert.doesNotMatch(text, /[A-Za-z0-9_-]{43}/);
});

test("the metadata names the server once a person exists, with S256, `iss` and client documents", async (t) => {
  const { app, url } = await startOauthGateway(t);
  const read = async (path: string) => JSON.parse((await app.send(path)).body) as Record<string, unknown>;
  const resource = await read("/.well-known/oauth-protected-resource/mcp");
  assert.deepEqual([resource["resource"], resource["authorization_servers"]], [`${url}/mcp`, [url]]);
  const metadata = await read("/.well-known/oauth-authorization-server");
  assert.equal(metadata["issuer"], url);
  assert.deepEqual(metadata["code_challenge_methods_supported"], ["S256"]);
  assert.equal(metadata["authorization_response_iss_parameter_supported"], true);
  assert.equal(metadata["client_id_metadata_document_supported"], true);
  const egress = openEgress();
  t.after(() => egress[Symbol.asyncDispose]());
  const publicUrl = "https://gloves.example";
  const behind = await startApp(
    t,
    undefined,
    {},
    { auth: "required", publicUrl, oauth: { egress, clients: STATIC_CLIENTS } },
  );
  await behind.identity.people.add("ada", ["agent"], OPERATOR);
  const { pathname, search } = toRequest(publicUrl);
  const asked = await behind.send(`${pathname}${search}`, { headers: { host: "gloves.example" } });
  assert.match(asked.headers.location ?? "", /^https:\/\/gloves\.example\/oauth\/consent\//);
  assert.ok(asked.headers["set-cookie"]?.every((cookie) => /; secure; httponly|; secure/i.test(cookie)));
  const empty = await startApp(t, undefined, {}, { auth: "required", oauth: { egress } });
  assert.equal((await empty.send("/.well-known/oauth-authorization-server")).status, 404);
  assert.equal((await empty.send("/oauth/authorize?client_id=by-hand")).status, 404);
  const alone = JSON.parse((await empty.send("/.well-known/oauth-protected-resource")).body) as object;
  assert.equal("authorization_servers" in alone, false);
});

test("a person allows fewer scopes than the client asks for, and a denial leads back to the client", async (t) => {
  const { logIn, verify, mcp, url, openBrowser, actions } = await startOauthGateway(t);
  const { tokens } = await logIn({ clientId: "by-hand" }, (form) => {
    form.delete("scope");
    form.append("scope", "execute:read");
    form.append("scope", "metrics:read"); // not asked for, and not for clients
  });
  const verified = await verify(tokens?.access_token);
  assert.deepEqual([verified?.scopes, verified?.principal.access], [["execute:read"], { effects: ["read"] }]);
  const answer = await fetch(mcp, {
    method: "POST",
    headers: {
      authorization: `Bearer ${tokens?.access_token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "search" } }),
  });
  assert.equal(answer.status, 403);
  assert.match(answer.headers.get("www-authenticate") ?? "", /error="insufficient_scope", scope="search"/);
  const denying = await openBrowser("ada", (form) => form.set("decision", "deny"));
  const left = await denying.agree(toRequest(url));
  assert.deepEqual([left.searchParams.get("error"), left.searchParams.get("iss")], ["access_denied", url]);
  assert.ok(actions().includes("consent.denied"));
});

test("an expired token is renewed, and a refresh token that comes twice ends the login", async (t) => {
  const { logIn, verify, post, room } = await startOauthGateway(t);
  const { tokens } = await logIn({ clientId: "by-hand" });
  const renew = (refresh: unknown) =>
    post("/oauth/token", { grant_type: "refresh_token", client_id: "by-hand", refresh_token: String(refresh) });
  const second = await renew(tokens?.refresh_token);
  assert.equal(second.status, 200);
  assert.notEqual(second.body["refresh_token"], tokens?.refresh_token);
  assert.ok(await verify(String(second.body["access_token"])));
  const third = await renew(second.body["refresh_token"]);
  assert.equal(third.status, 200);

  const replayed = await renew(second.body["refresh_token"]);
  assert.deepEqual([replayed.status, replayed.body["error"]], [400, "invalid_grant"]);
  assert.equal((await renew(third.body["refresh_token"])).status, 400);
  for (const { body } of [second, third]) assert.equal(await verify(String(body["access_token"])), undefined);
  const anomaly = room.records.find(({ action }) => action === "anomaly.seen");
  assert.deepEqual(
    [anomaly?.subject, anomaly?.detail],
    ["agent:ada/by-hand", { kind: "tokenReuse", what: "RefreshToken" }],
  );
  assert.equal(room.records.filter(({ action }) => action === "consent.ended").length, 1);
});

test("a revoked token is refused at once, with everything of its login, and others stay", async (t) => {
  const { logIn, verify, post, room } = await startOauthGateway(t);
  const [one, other] = [await logIn({ clientId: "by-hand" }), await logIn({ clientId: "by-hand" })];
  const token = one.tokens?.access_token ?? "";
  const verified = await verify(token);
  assert.ok(verified);
  const running = { ...sampleOpening(1), principal: verified.principal.id };
  await room.store.executions.open(running);
  await room.store.executions.open(sampleOpening(2));
  assert.equal((await post("/oauth/revoke", { client_id: "unknown", token })).status, 401);
  await post("/oauth/revoke", { client_id: "another", token });
  assert.ok(await verify(token));
  assert.equal((await post("/oauth/revoke", { client_id: "by-hand", token })).status, 200);
  assert.equal(await verify(token), undefined);
  const renew = { grant_type: "refresh_token", client_id: "by-hand", refresh_token: one.tokens?.refresh_token ?? "" };
  assert.equal((await post("/oauth/token", renew)).status, 400);
  assert.ok(await verify(other.tokens?.access_token));
  // What the agent runs belongs to the other login, too.
  assert.deepEqual(await room.store.cancellations.list(), []);
  await post("/oauth/revoke", { client_id: "by-hand", token: other.tokens?.access_token ?? "" });
  assert.deepEqual(
    (await room.store.cancellations.list()).map(({ execution, askedBy }) => [execution, askedBy]),
    [[running.id, verified.principal.id]],
  );
});

test("tokens of a removed person end at once, and a person without the role cannot let a client in", async (t) => {
  const { logIn, verify, identity, room, openBrowser, url, post } = await startOauthGateway(t);
  const { tokens } = await logIn({ clientId: "by-hand" });
  assert.ok(await verify(tokens?.access_token));
  await identity.people.setRoles("ada", ["reviewer"], OPERATOR);
  await assert.rejects(verify(tokens?.access_token), { code: "REQUEST_FORBIDDEN" });
  await identity.people.setRoles("ada", ["agent"], OPERATOR);
  assert.ok(await verify(tokens?.access_token));
  await identity.people.add("zoe", ["operator"], OPERATOR);
  await identity.people.remove("ada", OPERATOR);
  await identity.people.add("ada", ["agent"], OPERATOR, { isAgain: true });
  assert.equal(await verify(tokens?.access_token), undefined);
  const renew = { grant_type: "refresh_token", client_id: "by-hand", refresh_token: tokens?.refresh_token ?? "" };
  assert.equal((await post("/oauth/token", renew)).status, 400);
  assert.equal(await room.store.identity.countOauthRecords("Grant", 0), 0);

  const bob = await openBrowser("bob");
  const page = await bob.open(toRequest(url));
  const form = new URLSearchParams({ decision: "allow", scope: "search" });
  assert.equal((await bob.submit(page, form)).status, 403);
});

test("codes work once, with the verifier, redirect, client and resource of their request", async (t) => {
  const { openBrowser, url, post, verify, room } = await startOauthGateway(t);
  const browser = await openBrowser("ada");
  const getCode = async () => (await browser.agree(toRequest(url))).searchParams.get("code");
  const wrong: readonly (readonly [Record<string, string>, string])[] = [
    [{ code_verifier: "w".repeat(43) }, "invalid_grant"],
    [{ code_verifier: "" }, "invalid_grant"],
    [{ redirect_uri: "http://127.0.0.1:33418/other" }, "invalid_grant"],
    [{ client_id: "unknown" }, "invalid_client"],
    [{ client_id: "another" }, "invalid_grant"],
    [{ resource: "https://other.example/mcp" }, "invalid_target"],
    [{ code: "x".repeat(43) }, "invalid_grant"],
    [{ code: "x".repeat(10_000) }, "invalid_grant"],
  ];
  for (const [changes, error] of wrong) {
    const refused = await post("/oauth/token", toExchange(await getCode(), changes));
    assert.equal(refused.body["error"], error, JSON.stringify(changes).slice(0, 99));
  }
  const code = await getCode();
  const exchanged = await post("/oauth/token", toExchange(code));
  assert.ok(await verify(String(exchanged.body["access_token"])));
  assert.equal((await post("/oauth/token", toExchange(code))).body["error"], "invalid_grant");
  assert.equal(await verify(String(exchanged.body["access_token"])), undefined);
  const anomaly = room.records.find(({ action }) => action === "anomaly.seen");
  assert.deepEqual(anomaly?.detail, { kind: "tokenReuse", what: "AuthorizationCode" });
});

test("requests without S256, with another redirect, client or resource are refused before anybody is asked", async (t) => {
  const { openBrowser, url } = await startOauthGateway(t);
  const browser = await openBrowser("ada");
  const refusals: readonly (readonly [Record<string, string | undefined>, string])[] = [
    [{ code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    [{ code_challenge: VERIFIER, code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge_method: undefined }, "invalid_request"],
    [{ resource: "https://other.example/mcp" }, "invalid_target"],
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ prompt: "none" }, "login_required"],
  ];
  for (const [changes, error] of refusals) {
    const { left } = await browser.open(toRequest(url, changes));
    assert.equal(left?.origin, "http://127.0.0.1:33418");
    const answer = left.hash === "" ? left.searchParams : new URLSearchParams(left.hash.slice(1));
    assert.deepEqual([answer.get("error"), answer.get("iss")], [error, url]);
  }
  const unsafe = [
    { redirect_uri: "https://evil.example/callback" },
    { redirect_uri: `${CALLBACK}/../other` },
    { redirect_uri: "http://127.0.0.1:33418@evil.example/callback" },
    { redirect_uri: "http://127.0.0.1.evil.example:33418/callback" },
    { client_id: "unknown" },
  ];
  for (const changes of unsafe) {
    const page = await browser.open(toRequest(url, changes));
    assert.deepEqual([page.left, page.status], [undefined, 400], JSON.stringify(changes));
    assert.match(page.html, /cannot be let in.*(redirect_uri|client)/s);
  }
  // The port of this machine is chosen by the client at each login.
  const other = await browser.agree(toRequest(url, { redirect_uri: "http://127.0.0.1:50123/callback" }));
  assert.deepEqual([other.port, other.searchParams.get("iss"), other.searchParams.get("state")], ["50123", url, "s1"]);
  assert.ok(other.searchParams.get("code"));
});

test("only the page in the person's own browser can decide, once", async (t) => {
  const { openBrowser, url, actions } = await startOauthGateway(t);
  const [ada, stranger] = [await openBrowser("ada"), await openBrowser()];
  const page = await ada.open(toRequest(url));
  assert.match(page.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
  assert.equal(page.headers.get("x-frame-options"), "DENY");
  const form = new URLSearchParams({ decision: "allow", scope: "search" });
  for (const headers of [{}, { origin: "https://evil.example" }, { origin: "null" }])
    assert.equal((await ada.submit(page, form, headers as Record<string, string>)).status, 403);
  assert.equal((await stranger.submit(page, form)).status, 404);
  assert.equal(actions().includes("consent.given"), false);

  // A stranger started this login and sent the address of the page to Ada: her decision does not help the stranger.
  const lured = await stranger.open(toRequest(url));
  const consent = new URL(lured.url.searchParams.get("next") ?? lured.url.pathname, url);
  const shown = await ada.open(consent);
  const after = await ada.submit(shown, form);
  assert.deepEqual([after.left, after.status], [undefined, 404]);
  const [uid = ""] = consent.pathname.split("/").slice(-1);
  assert.equal((await stranger.open(`/oauth/authorize/${uid}`)).left?.searchParams.has("code") ?? false, false);

  const decided = await ada.submit(page, form);
  assert.ok(decided.left?.searchParams.get("code"));
  assert.equal((await ada.submit(page, form)).status, 404);
});

test("without a session the browser goes to the login of the page and comes back", async (t) => {
  const { openBrowser, url } = await startOauthGateway(t);
  const browser = await openBrowser();
  const page = await browser.open(toRequest(url));
  assert.equal(page.url.pathname, "/login");
  assert.match(page.url.searchParams.get("next") ?? "", /^\/oauth\/consent\/[A-Za-z0-9_-]+$/);
  const strange = await browser.open("/oauth/consent/%2F%2Fevil.example?again=1");
  assert.equal(new URL(strange.url.searchParams.get("next") ?? "", url).origin, url);
  const ada = await openBrowser("ada");
  for (const [name, value] of ada.cookies) browser.cookies.set(name, value);
  assert.match((await browser.open(page.url.searchParams.get("next") ?? "")).html, /act for you/);
});

test("a client document is fetched over public https only, and is small and its own", async (t) => {
  const { url, openBrowser } = await startOauthGateway(t);
  const browser = await openBrowser("ada");
  const inside = [
    "https://127.0.0.1/c.json",
    "https://[::1]/c.json",
    "https://169.254.169.254/c.json",
    "http://a.example/c",
  ];
  for (const client_id of [...inside, "https://localhost/c.json", "https://user@editor.example/c.json"]) {
    const page = await browser.open(toRequest(url, { client_id }));
    assert.deepEqual([page.left, page.status], [undefined, 400], client_id);
  }
  const answers: readonly (readonly [() => Response, number])[] = [
    [() => new Response(describeClient({ client_id: "https://other.example/c.json" })), 400],
    [() => new Response(describeClient({ token_endpoint_auth_method: "client_secret_post" })), 400],
    [() => new Response(describeClient({ redirect_uris: ["http://evil.example/callback"] })), 400],
    [() => new Response(describeClient({ redirect_uris: ["javascript:alert(1)"] })), 400],
    [() => new Response(describeClient({ redirect_uris: "https://editor.example" })), 400],
    [() => new Response("[]"), 400],
    [() => new Response("", { status: 404 }), 400],
    [() => new Response(describeClient({ client_uri: "https://editor.example", logo_uri: "javascript:1" })), 200],
  ];
  let answer = (): Response => new Response();
  const other = await startOauthGateway(t, { documents: async () => answer() });
  const person = await other.openBrowser("ada");
  for (const [next, status] of answers) {
    answer = next;
    const page = await person.open(toRequest(other.url, { client_id: CLIENT_DOCUMENT }));
    assert.equal(page.status, status, await next().text());
  }
});

test("a registration is bounded in rate, size and fields, and can be turned off", async (t) => {
  const { url, room, post } = await startOauthGateway(t);
  const register = (client: object, base = url) =>
    fetch(`${base}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(client),
    });
  // As VS Code, Cursor and Claude Code describe themselves.
  const fine = [
    { client_name: "Visual Studio Code", redirect_uris: ["https://vscode.dev/redirect", "http://127.0.0.1:33418/"] },
    { client_name: "Cursor", redirect_uris: ["cursor://anysphere.cursor-mcp/oauth/callback"] },
    {
      client_name: "Claude Code (x)",
      redirect_uris: ["http://localhost:3118/callback"],
      client_id: "by-hand",
      token_endpoint_auth_method: "client_secret_post",
    },
  ];
  for (const client of fine) {
    const answer = await register({ grant_types: ["authorization_code", "refresh_token"], ...client });
    const { client_id: id, ...registered } = (await answer.json()) as { client_id: string };
    assert.equal(answer.status, 201);
    // A client that gets a secret sends it, and one of this method is refused with it.
    const { token_endpoint_auth_method: method } = Object({ token_endpoint_auth_method: "none", ...client });
    assert.equal("client_secret" in registered, method !== "none", id);
    assert.match(id, /^(visual-studio-code|cursor|claude-code-x)-[0-9a-f]{20}$/);
  }
  const wrong = [
    { redirect_uris: ["http://evil.example/callback"] },
    { redirect_uris: ["javascript:alert(1)"] },
    { redirect_uris: ["http://127.0.0.1@evil.example/"] },
    { redirect_uris: [] },
    { redirect_uris: Array.from({ length: 21 }, (_, index) => `https://a.example/${index}`) },
    { redirect_uris: [`https://a.example/${"x".repeat(2000)}`] },
    { redirect_uris: [CALLBACK], grant_types: ["client_credentials"] },
  ];
  for (const client of wrong) assert.equal((await register(client)).status, 400, JSON.stringify(client).slice(0, 99));
  assert.equal((await register({ redirect_uris: [CALLBACK], note: "x".repeat(20_000) })).status, 422);
  const statuses = [];
  for (let count = 0; count < 12; count += 1) statuses.push((await register({ redirect_uris: [CALLBACK] })).status);
  assert.ok(statuses.includes(201));
  assert.equal(statuses.at(-1), 429);
  room.clock.now += 3_600_000;
  assert.equal((await register({ redirect_uris: [CALLBACK] })).status, 201);
  // No person let these in: they are forgotten after a day.
  room.clock.now += 86_400_000;
  assert.equal(await room.store.identity.countOauthRecords("Client", room.clock.now), 0);
  assert.equal((await post("/oauth/token", { grant_type: "client_credentials", client_id: "by-hand" })).status, 400);
  const closed = await startOauthGateway(t, { registration: false });
  assert.equal((await register({ redirect_uris: [CALLBACK] }, closed.url)).status, 404);
});
