/** A team's gateway behind a real nginx or Caddy, with the configuration of the guide. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { CLIENT, PROXIES, findPort } from "../../fixtures/reverse-proxy.ts";
import { INVENTORY, makeUntypedFolder, runGlovebox, startFor, waitForOutput } from "../../fixtures/product.ts";

const PUBLIC = "https://gloves.example.com";
const SECRET = "a-random-string-of-the-proxy";
const PASSWORD = "several words are enough";

async function openTeam(context: TestContext, start: (typeof PROXIES)["nginx"]["start"]) {
  const folder = makeUntypedFolder(context, {
    mcpServers: { inventory: INVENTORY },
    server: { publicUrl: PUBLIC, trustedProxies: ["127.0.0.1"], proxyToken: SECRET },
  });
  const run = (...args: readonly string[]) => runGlovebox(args, { folder });
  const added = await run("people", "add", "ada", "--role", "operator", "--json");
  const made = await run("tokens", "create", "ci", "--scopes", "execute,search,ledger:read", "--json");
  const [invite, token] = [Object(JSON.parse(added.stdout)), Object(JSON.parse(made.stdout))];
  const port = await findPort();
  const url = `http://127.0.0.1:${port}`;
  await waitForOutput(startFor(context, ["serve", "--json", "--port", String(port)], folder), /\}\n$/);
  const proxy = await start({ folder, gateway: url, token: SECRET });
  context.after(() => proxy[Symbol.asyncDispose]());
  return { url, proxy, invite, token: String(token.token) };
}

for (const [name, { isMissing, start }] of Object.entries(PROXIES)) {
  const skip = isMissing ? `no ${name}; install nginx-light or caddy to run this` : false;
  test(`a team works through ${name}, and nothing past it`, { skip }, (context) => useTeam(context, start));
}

async function useTeam(context: TestContext, start: (typeof PROXIES)["nginx"]["start"]): Promise<void> {
  const { proxy, url, token, invite } = await openTeam(context, start);
  const bearer = { authorization: `Bearer ${token}` };

  await context.test("a client of MCP runs a program and hears its progress", async () => {
    const requestInit = { headers: bearer };
    const transport = new StreamableHTTPClientTransport(new URL(`${PUBLIC}/mcp`), { fetch: proxy.fetch, requestInit });
    const client = new Client({ name: "team", version: "1" });
    await client.connect(transport);
    const seen: unknown[] = [];
    const code = "const found = await inventory.listProducts({}); return typeof found";
    const request = { name: "execute", arguments: { code } };
    const result = await client.callTool(request, { onprogress: (progress) => seen.push(progress) });
    assert.equal(Object(result.structuredContent).value, "object", JSON.stringify(result));
    assert.ok(seen.length > 0);
    await client.close();
  });

  await context.test("a request without a token is told where the metadata is, at the public address", async () => {
    const refused = await proxy.fetch(`${PUBLIC}/mcp`, { method: "POST", body: "{}" });
    assert.equal(refused.status, 401);
    const [, metadata = ""] = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "") ?? [];
    assert.ok(metadata.startsWith(`${PUBLIC}/`), metadata);
    assert.equal(Object(await (await proxy.fetch(metadata)).json()).resource, `${PUBLIC}/mcp`);
  });

  await context.test("a person logs in and gets a cookie that only https sends", async () => {
    const [, code = ""] = /#invite=([\w-]+)/.exec(String(invite.invite.url)) ?? [];
    const headers = { "content-type": "application/json", origin: PUBLIC };
    const post = (path: string, body: object, more: Record<string, string> = {}) =>
      proxy.fetch(PUBLIC + path, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) });
    const accepted = await post("/api/invite", { code, password: PASSWORD });
    assert.equal(accepted.status, 200, await accepted.clone().text());
    const who = { name: "ada", password: PASSWORD };
    const entered = await post("/api/login", who);
    const [cookie = ""] = entered.headers.getSetCookie();
    assert.match(cookie, /^__Host-[^;]+;.*Secure/);
    const own = await proxy.fetch(`${PUBLIC}/api/session`, { headers: { cookie: cookie.split(";")[0] ?? "" } });
    assert.equal(own.status, 200);
    assert.equal((await post("/api/login", who, { origin: "https://evil.example.com" })).status, 403);
  });

  await context.test("records have the address of the client, which it cannot choose", async () => {
    const headers = { authorization: "Bearer gbx_wrong", "x-forwarded-for": "203.0.113.9" };
    assert.equal((await proxy.fetch(`${PUBLIC}/mcp`, { method: "POST", headers, body: "{}" })).status, 401);
    const ledger = await (await proxy.fetch(`${PUBLIC}/api/ledger?limit=50`, { headers: bearer })).text();
    assert.ok(ledger.includes(`"origin":"${CLIENT}"`), ledger);
    assert.ok(!ledger.includes("203.0.113.9"), ledger);
  });

  await context.test("requests past the proxy and for other hosts are refused", async () => {
    const ask = async (at: string, headers: Record<string, string>): Promise<number> =>
      (await fetch(`${at}/api/ledger`, { headers: { ...bearer, ...headers } })).status;
    const past = { host: "gloves.example.com" };
    assert.notEqual(await ask(url, past), 200);
    assert.notEqual(await ask(url, { ...past, "x-glovebox-proxy-token": `${SECRET}x` }), 200);
    assert.equal(await ask(url, { "x-glovebox-proxy-token": SECRET }), 200);
    const other = await proxy.fetch("https://evil.example.com/api/ledger", { headers: bearer });
    // Caddy answers for hosts that it does not know, with nothing.
    assert.ok(other.status !== 200 || (await other.text()) === "");
    const health = await proxy.fetch(`${PUBLIC}/health`);
    assert.equal(health.status, 200);
  });
}
