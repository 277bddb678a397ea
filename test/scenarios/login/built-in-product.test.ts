/** The built product as an authorization server: a login survives `kill -9`, and nothing works twice because of it. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { openAdminSession } from "../../fixtures/admin-session.ts";
import { createBrowser } from "../../fixtures/consent-browser.ts";
import { CALLBACK, connectByOauth, createOauthMemory } from "../../fixtures/oauth-client.ts";
import {
  findStore,
  makeUntypedFolder,
  runGlovebox,
  startFor,
  untilEnded,
  waitForOutput,
} from "../../fixtures/product.ts";
import type { Addresses } from "../../fixtures/product.ts";

const VERIFIER = "v".repeat(43);

test("the SDK client logs in, and codes and tokens outlive a kill and work as often as before", async (t) => {
  const clients = { "by-hand": { redirectUris: [CALLBACK] } };
  const folder = makeUntypedFolder(t, { server: { auth: "required", oauth: { clients } } });
  const added = await runGlovebox(["people", "add", "ada", "--role", "agent"], { folder });
  assert.equal(added.code, 0, added.stderr);
  const serve = async (port: string) => {
    const child = startFor(t, ["serve", "--json", "--port", port], folder);
    return { child, ...(JSON.parse(await waitForOutput(child, /\}\n$/)) as Addresses) };
  };
  const first = await serve("0");
  const { url, mcp } = first;
  const printed: string[] = [];
  first.child.stdout.on("data", (chunk: Buffer) => printed.push(chunk.toString()));
  const { cookie } = await openAdminSession(first.admin);
  const browser = createBrowser({ url, session: cookie.slice(cookie.indexOf("=") + 1) });
  const memory = createOauthMemory({ clientId: "by-hand" });
  const client = await connectByOauth(mcp, memory, (address) => browser.agree(address));
  assert.ok((await client.listTools()).tools.length > 0);
  await client.close();

  const asked = new URL(memory.seen.authorizationUrl ?? "");
  asked.searchParams.set("code_challenge", createHash("sha256").update(VERIFIER).digest("base64url"));
  const code = (await browser.agree(asked)).searchParams.get("code") ?? "";
  first.child.kill("SIGKILL");
  await untilEnded(first.child);
  await serve(new URL(url).port);

  const post = async (fields: Record<string, string>) => {
    const body = new URLSearchParams({ client_id: "by-hand", ...fields });
    const response = await fetch(`${url}/oauth/token`, { method: "POST", body });
    return { status: response.status, ...((await response.json()) as { readonly access_token?: string }) };
  };
  const use = (token = "") =>
    fetch(mcp, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status);
  const exchange = { grant_type: "authorization_code", code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
  const exchanged = await post(exchange);
  assert.equal(exchanged.status, 200);
  assert.notEqual(await use(exchanged.access_token), 401);
  assert.equal((await post(exchange)).status, 400);
  assert.equal(await use(exchanged.access_token), 401);
  assert.notEqual(await use(memory.seen.tokens?.access_token), 401);
  const renew = { grant_type: "refresh_token", refresh_token: memory.seen.tokens?.refresh_token ?? "" };
  assert.equal((await post(renew)).status, 200);
  assert.equal((await post(renew)).status, 400);
  assert.deepEqual(printed, []);
  // Neither the store nor its log has a credential in the clear.
  const store = findStore(folder);
  const kept = [store, `${store}-wal`].map((file) => readFileSync(file, "latin1")).join("");
  assert.ok(kept.includes("oauth_records"));
  const { access_token: access = "", refresh_token: refresh = "" } = memory.seen.tokens ?? {};
  for (const secret of [access, refresh, code]) assert.ok(secret !== "" && !kept.includes(secret));
});

test("no module of the product loads the authorization server at its start", () => {
  const read = (name: string): string => readFileSync(join("dist", name), "utf8");
  const parts = readdirSync("dist").filter((name) => name.endsWith(".js"));
  const own = parts.filter((name) => read(name).includes("oidc-provider NOTICE"));
  assert.equal(own.length, 1);
  const [part = ""] = own;
  const loaders = parts.filter((name) => name !== part && read(name).includes(part));
  assert.ok(loaders.length > 0);
  for (const name of loaders) {
    const uses = read(name).split(part).slice(0, -1);
    assert.ok(
      uses.every((text) => text.endsWith('import("./')),
      name,
    );
  }
});
