/** An attacker with an OAuth client, against one gateway: each attempt beside the same one done right. */

import assert from "node:assert/strict";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { CALLBACK } from "../../fixtures/oauth-client.ts";
import { VERIFIER, startOauthGateway, toExchange, toRequest } from "../../fixtures/oauth-gateway.ts";

type Gateway = Awaited<ReturnType<typeof startOauthGateway>>;

/** Requests with any headers, which `fetch` would not send. */
async function send({ url }: Gateway, path: string, init: { method?: string; headers?: object; body?: string } = {}) {
  const { method = "GET", headers = {}, body = "" } = init;
  const sent = request(new URL(path, url), { method, headers: { ...headers }, agent: false });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve).once("error", reject);
  });
  sent.end(body);
  const answer = await answered;
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

const MCP = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const clientInfo = { name: "test", version: "1" };
const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
const HELLO = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });

async function getTokens({ openBrowser, url, post }: Gateway, scope = "search") {
  const browser = await openBrowser("ada");
  const code = (await browser.agree(toRequest(url, { scope }))).searchParams.get("code");
  const { body } = await post("/oauth/token", toExchange(code));
  return { code: String(code), access: String(body["access_token"]), refresh: String(body["refresh_token"]) };
}

test("an attacker with a client gets nothing that a person did not allow", async (t: TestContext) => {
  const gateway = await startOauthGateway(t);
  const { url, mcp, openBrowser, post, verify } = gateway;
  const ask = (headers: object, path = "/mcp", body = HELLO) =>
    send(gateway, path, { method: "POST", headers: { ...MCP, ...headers }, body });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  await t.test("a renewal gives no more scopes, another resource or a token to another client", async () => {
    const renew = async (changes: Record<string, string>) => {
      const { refresh } = await getTokens(gateway);
      const fields = { grant_type: "refresh_token", client_id: "by-hand", refresh_token: refresh };
      return (await post("/oauth/token", { ...fields, ...changes })).body;
    };
    assert.equal((await renew({ scope: "search execute" }))["error"], "invalid_scope");
    assert.equal((await renew({ resource: "https://other.example/mcp" }))["error"], "invalid_target");
    assert.equal((await renew({ client_id: "another" }))["error"], "invalid_grant");
    const renewed = await renew({ scope: "search", resource: mcp });
    assert.deepEqual((await verify(String(renewed["access_token"])))?.scopes, ["search"]);
  });

  await t.test("a credential of one kind is none of another kind, and counts in the header only", async () => {
    const { code, access, refresh } = await getTokens(gateway);
    for (const wrong of [code, refresh, `${access}x`, access.slice(1), `${access} ${access}`, `${access},`])
      assert.equal((await ask(bearer(wrong))).status, 401, wrong);
    const renewal = { grant_type: "refresh_token", client_id: "by-hand", refresh_token: access };
    assert.equal((await post("/oauth/token", renewal)).status, 400);
    assert.equal((await post("/oauth/token", toExchange(access))).status, 400);
    const { port } = new URL(url);
    const elsewhere: readonly (readonly [object, string, string])[] = [
      [{}, `/mcp?access_token=${access}`, HELLO],
      [{ "content-type": "application/x-www-form-urlencoded" }, "/mcp", `access_token=${access}`],
      [{ cookie: `glovebox-${port}=${access}; access_token=${access}` }, "/mcp", HELLO],
      [{ authorization: `Basic ${Buffer.from(`x:${access}`).toString("base64")}` }, "/mcp", HELLO],
      [{ "proxy-authorization": `Bearer ${access}`, "x-access-token": access }, "/mcp", HELLO],
      [{ authorization: ["Bearer wrong", `Bearer ${access}`] }, "/mcp", HELLO],
    ];
    for (const [headers, path, body] of elsewhere) assert.equal((await ask(headers, path, body)).status, 401, path);
    assert.equal((await ask(bearer(access))).status, 200);
  });

  await t.test("an agent with a token decides and changes nothing over the API, with or without a cookie", async () => {
    const { access } = await getTokens(gateway);
    const ada = await openBrowser("ada");
    const [[name, secret] = ["", ""]] = [...ada.cookies];
    const cookie = { cookie: `${name}=${secret}` };
    const decision = JSON.stringify({ verdict: "approve" });
    const id = "0".repeat(24);
    for (const [method, path] of [
      ["GET", "/api/approvals"],
      ["POST", `/api/approvals/ap_${id}`],
      ["POST", `/api/executions/ex_${id}/cancel`],
      ["POST", "/api/people"],
      ["POST", "/api/tokens"],
      ["POST", "/api/withheld"],
      ["DELETE", "/api/sessions"],
      ["GET", "/api/clients"],
      ["POST", "/api/session/token"],
      ["GET", "/api/ledger"],
      ["GET", "/api/events"],
    ] as const) {
      // The cookie adds no right to those of the token.
      for (const headers of [bearer(access), { ...bearer(access), ...cookie, origin: url }])
        assert.equal(
          (await send(gateway, path, { method, headers, body: method === "POST" ? decision : "" })).status,
          403,
          path,
        );
      const wrong = { ...bearer("x"), ...cookie, origin: url };
      assert.equal((await send(gateway, path, { method, headers: wrong })).status, 401, path);
    }
    assert.equal((await send(gateway, "/api/clients", { headers: cookie })).status, 200);
    assert.equal((await ask({ ...cookie, origin: url })).status, 401);
  });

  await t.test("parameters that would move the answer elsewhere are ignored, and repeated ones refused", async () => {
    const browser = await openBrowser("ada");
    const smuggled = {
      response_mode: "form_post",
      request: "eyJhbGciOiJub25lIn0.e30.",
      request_uri: "https://evil.example/request",
      redirect_url: "https://evil.example/",
      claims: "{}",
      id_token_hint: "x",
      authorization_details: "[]",
      registration: "{}",
    };
    const left = await browser.agree(toRequest(url, smuggled));
    assert.equal(`${left.origin}${left.pathname}`, CALLBACK);
    assert.ok(left.searchParams.get("code"));
    const others = {
      client_id: "another",
      redirect_uri: "https://evil.example/",
      resource: "https://evil.example/mcp",
      code_challenge: "A".repeat(43),
      code_challenge_method: "plain",
      response_type: "token",
    };
    for (const [parameter, value] of Object.entries(others)) {
      const doubled = toRequest(url);
      doubled.searchParams.append(parameter, value);
      const page = await browser.open(doubled);
      const code = page.left?.searchParams.get("code") ?? null;
      assert.deepEqual([code, /act for you/.test(page.html)], [null, false], parameter);
      assert.ok(page.left === undefined || page.left.href.startsWith(CALLBACK), parameter);
    }
  });

  await t.test("a code does not fit a guessed verifier, nor the login of another client", async () => {
    const browser = await openBrowser("ada");
    const getCode = async (changes: Record<string, string> = {}) =>
      (await browser.agree(toRequest(url, changes))).searchParams.get("code");
    const challenge = toRequest(url).searchParams.get("code_challenge") ?? "";
    for (const verifier of [challenge, VERIFIER.toUpperCase(), `${VERIFIER} `, VERIFIER.slice(1)])
      assert.equal(
        (await post("/oauth/token", toExchange(await getCode(), { code_verifier: verifier }))).status,
        400,
        verifier,
      );
    // The attacker's code in the login of an honest client, which has another verifier.
    const planted = await getCode({ code_challenge: "A".repeat(43) });
    assert.equal((await post("/oauth/token", toExchange(planted))).status, 400);
    assert.equal((await post("/oauth/token", toExchange(await getCode()))).status, 200);
  });

  await t.test("the addresses of the server never follow a header", async () => {
    const forged = {
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      forwarded: "host=evil.example;proto=https",
      "x-original-url": "https://evil.example/",
    };
    for (const path of ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"]) {
      const [plain, spoofed] = [await send(gateway, path), await send(gateway, path, { headers: forged })];
      assert.deepEqual([spoofed.status, spoofed.body], [200, plain.body]);
      assert.equal((await send(gateway, path, { headers: { host: "evil.example" } })).status, 403);
    }
    const { pathname, search } = toRequest(url);
    const asked = await send(gateway, `${pathname}${search}`, { headers: forged });
    assert.ok(asked.headers.location?.startsWith(`${url}/oauth/consent/`), asked.headers.location);
    assert.match(String((await ask(forged)).headers["www-authenticate"]), new RegExp(`"${url}/`));
  });

  await t.test("pages of other origins can neither register, exchange, revoke nor read", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded", origin: "https://evil.example" };
    for (const path of ["/oauth/token", "/oauth/revoke", "/oauth/register", "/mcp"]) {
      assert.equal((await send(gateway, path, { method: "POST", headers: form, body: "a=1" })).status, 403, path);
      const asking = { origin: "https://evil.example", "access-control-request-method": "POST" };
      const preflight = await send(gateway, path, { method: "OPTIONS", headers: asking });
      assert.deepEqual([preflight.status, preflight.headers["access-control-allow-origin"]], [403, undefined], path);
    }
    const { code } = await getTokens(gateway);
    assert.equal((await post("/oauth/token", toExchange(code))).status, 400);
  });

  await t.test("an endpoint has one method and one form, and other endpoints do not exist", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const { access } = await getTokens(gateway);
    const body = new URLSearchParams({ token: access, client_id: "by-hand" }).toString();
    const overridden = { ...form, "x-http-method-override": "GET", "x-http-method": "GET" };
    for (const [method, path, headers] of [
      ["GET", `/oauth/revoke?${body}`, {}],
      ["PUT", "/oauth/revoke", form],
      ["POST", "/oauth/authorize", form],
      ["POST", "/oauth/introspect", form],
      ["POST", "/oauth/device", form],
      ["POST", "/oauth/par", form],
      ["GET", "/oauth/userinfo", bearer(access)],
      ["GET", "/oauth/unused/userinfo", bearer(access)],
      ["GET", "/oauth/unused/end", {}],
      ["GET", "/oauth/register/by-hand", bearer(access)],
      ["GET", "/.well-known/openid-configuration", {}],
      ["POST", "/oauth//revoke", form],
      ["POST", "/oauth/revoke/", form],
    ] as const) {
      const sent = method === "GET" ? "" : body;
      assert.equal((await send(gateway, path, { method, headers, body: sent })).status, 404, `${method} ${path}`);
    }
    const json = { method: "POST", headers: MCP, body: JSON.stringify({ token: access, client_id: "by-hand" }) };
    assert.equal((await send(gateway, "/oauth/revoke", json)).status, 400);
    assert.ok(await verify(access));
    const revoked = await send(gateway, "/oauth/revoke", { method: "POST", headers: overridden, body });
    assert.deepEqual([revoked.status, await verify(access)], [200, undefined]);
  });

  await t.test("what is too large is refused, and the next request is served", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const large = `grant_type=authorization_code&code=${"x".repeat(17_000)}`;
    assert.equal((await send(gateway, "/oauth/token", { method: "POST", headers: form, body: large })).status, 422);
    assert.equal((await ask(bearer("x".repeat(12_000)))).status, 401);
    assert.equal((await ask(bearer("x".repeat(40_000)))).status, 431);
    assert.equal((await send(gateway, `/oauth/authorize?state=${"x".repeat(40_000)}`)).status, 431);
    assert.equal((await send(gateway, `/oauth/authorize/${"x".repeat(4_000)}`)).status, 404);
    assert.ok(await verify((await getTokens(gateway)).access));
  });
});
