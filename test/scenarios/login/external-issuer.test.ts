/** MCP clients that log in to a real authorization server in another process. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { UnauthorizedError } from "@modelcontextprotocol/client";

import { openEgress } from "../../../src/egress/index.ts";
import { OPERATOR } from "../../../src/identity/index.ts";
import { startApp } from "../../../src/surfaces/admin/fixtures/start-app.ts";
import { startExternalIssuer } from "../../fixtures/external-issuer.ts";
import { agree } from "../../fixtures/login-provider.ts";
import { connectByOauth, createOauthMemory } from "../../fixtures/oauth-client.ts";

async function start(t: TestContext) {
  const external = await startExternalIssuer(t);
  const egress = openEgress();
  const settings = { algorithm: "ES256", personClaim: "sub", clockToleranceSeconds: 0 };
  const oauth = { egress, external: { issuer: external.issuer, ...settings } };
  const app = await startApp(t, undefined, {}, { auth: "required", oauth });
  t.after(() => egress[Symbol.asyncDispose]());
  app.room.clock.now = Date.now();
  await app.identity.people.add("ada", ["agent"], OPERATOR);
  const mcp = `${app.listener.url}/mcp`;
  const pass = (ms: number): void => void (app.room.clock.now += ms);
  return { external, app, mcp, pass };
}

test("the SDK client logs in, is an agent of the person, renews an expired token, and follows a rotated key", async (t) => {
  const { external, app, mcp, pass } = await start(t);
  const memory = createOauthMemory();
  const client = await connectByOauth(mcp, memory, agree);
  t.after(() => client.close());
  assert.ok((await client.listTools()).tools.length > 0);
  const first = memory.seen.tokens?.access_token ?? "";
  const verify = (text: string) => app.identity.verify({ text, origin: "", resource: mcp });
  assert.match((await verify(first))?.principal.id ?? "", /^agent:ada\//);
  const elsewhere = { text: first, origin: "", resource: "https://other.example/mcp" };
  assert.equal(await app.identity.verify(elsewhere), undefined);

  pass(301_000);
  await external.order({ ttl: 900 });
  assert.equal(await verify(first), undefined);
  const search = { name: "search", arguments: { query: "x" } };
  await client.callTool(search);
  const second = memory.seen.tokens?.access_token ?? "";
  assert.notEqual(second, first);
  assert.ok(await verify(second));

  await external.order({ rotate: "k2" });
  const other = createOauthMemory();
  const searcher = await connectByOauth(mcp, other, (url) => {
    url.searchParams.set("scope", "search");
    return agree(url);
  });
  t.after(() => searcher.close());
  await searcher.callTool(search);
  const refused = await app.send("/mcp", {
    method: "POST",
    headers: {
      authorization: `Bearer ${other.seen.tokens?.access_token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify([
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "execute" } },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "search" } },
    ]),
  });
  assert.equal(refused.status, 403);
  assert.match(String(refused.headers["www-authenticate"]), /error="insufficient_scope", scope="execute search"/);
});

test("a login that was revoked at the server ends with its last token, and the person can log in again", async (t) => {
  const { external, mcp, pass } = await start(t);
  const memory = createOauthMemory();
  const client = await connectByOauth(mcp, memory, agree);
  t.after(() => client.close());
  const { refresh_token: token = "" } = memory.seen.tokens ?? {};
  const body = new URLSearchParams({ token, client_id: memory.seen.clientId ?? "" });
  assert.equal((await fetch(`${external.issuer}/token/revocation`, { method: "POST", body })).status, 200);
  const search = { name: "search", arguments: { query: "x" } };
  await client.callTool(search);
  pass(301_000);
  await assert.rejects(client.callTool(search), UnauthorizedError);
  await external.order({ ttl: 900 }); // its clock was not changed
  const again = await connectByOauth(mcp, memory, agree);
  t.after(() => again.close());
  await again.callTool(search);
});

test("while the server is down, JWTs get an error that names it and access tokens still work", async (t) => {
  const { external, app, mcp } = await start(t);
  const memory = createOauthMemory();
  await (await connectByOauth(mcp, memory, agree)).close();
  const { token } = await app.identity.tokens.create({ name: "ci", scopes: ["search"] }, OPERATOR);
  await external.stop();
  app.room.clock.now += 3_700_000;
  const send = (text: string) => app.send("/mcp", { headers: { authorization: `Bearer ${text}` } });
  const refused = await send(memory.seen.tokens?.access_token ?? "");
  assert.equal(refused.status, 502);
  assert.ok(refused.body.includes(external.issuer));
  assert.notEqual((await send(token)).status, 401);
});
