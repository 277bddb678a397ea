/** An attacker around the page: the text and the redirects of a client, and requests at the same moment. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { OPERATOR } from "../../../src/identity/index.ts";
import { CALLBACK } from "../../fixtures/oauth-client.ts";
import { CLIENT_DOCUMENT, startOauthGateway, toExchange, toRequest } from "../../fixtures/oauth-gateway.ts";

const ALLOW = new URLSearchParams({ decision: "allow", scope: "search" });
const AT_ONCE = 20;

test("an attacker around the page gets nothing that a person did not allow", async (t: TestContext) => {
  let description: object = {};
  const documents = async () => new Response(JSON.stringify({ client_id: CLIENT_DOCUMENT, ...description }));
  const gateway = await startOauthGateway(t, { documents });
  const { url, openBrowser, post, verify, room, identity, app } = gateway;
  const getCode = async () => (await (await openBrowser("ada")).agree(toRequest(url))).searchParams.get("code");
  const register = async (client: object) => {
    room.clock.now += 3_600_000;
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/oauth/register`, { method: "POST", headers, body: JSON.stringify(client) });
    return { status: answer.status, id: String(((await answer.json()) as { client_id?: string }).client_id) };
  };

  await t.test(
    "a client that registers itself gets no redirect into the browser, the system or a network",
    async () => {
      for (const one of [
        "javascript:alert(1)",
        "JAVASCRIPT://a.example/%0aalert(1)",
        "data:text/html,x",
        "blob:https://a.example/1",
        "file:///etc/passwd",
        "view-source://a.example",
        "chrome://settings",
        "ms-msdt:/id",
        "search-ms:query=x",
        "smb://a.example/share",
        "ws://a.example/",
        "mailto:eve@a.example",
        "urn:ietf:wg:oauth:2.0:oob",
        "http://0.0.0.0/",
        "http://localhost.evil.example/",
        "http://10.0.0.1/",
        "https://localhost/",
        "https://a.example/#part",
        "https://ada@a.example/",
        "//a.example/",
        "https://\u0430.example/",
      ])
        assert.equal((await register({ redirect_uris: [CALLBACK, one] })).status, 400, one);
      for (const one of [
        "cursor://a/callback",
        "com.example.app:/callback",
        "https://a.example/x?y=1",
        "http://[::1]/x",
      ])
        assert.equal((await register({ redirect_uris: [one] })).status, 201, one);
    },
  );

  await t.test("a redirect fits only whole: host, path, query and scheme", async () => {
    const { id } = await register({ redirect_uris: [CALLBACK, "https://a.example/x?y=1", "cursor://a/callback"] });
    const browser = await openBrowser("ada");
    const open = (redirect_uri: string) => browser.open(toRequest(url, { client_id: id, redirect_uri }));
    for (const wrong of [
      "http://localhost:33418/callback",
      "http://127.0.0.1:33418/callback/",
      "http://127.0.0.1:33418/callback?x=1",
      "https://127.0.0.1:33418/callback",
      "https://a.example/x",
      "https://a.example/x?y=1&z=2",
      "https://a.example.evil.example/x?y=1",
      "https://a.example:8443/x?y=1",
      "HTTPS://A.EXAMPLE/x?y=1",
      "cursor://a/callback/../x",
      "cursor://b/callback",
      "",
    ]) {
      const page = await open(wrong);
      assert.deepEqual([page.left, page.status], [undefined, 400], wrong);
    }
    for (const fine of [CALLBACK, "http://127.0.0.1:1/callback", "https://a.example/x?y=1", "cursor://a/callback"])
      assert.match((await open(fine)).html, /act for you/, fine);
  });

  await t.test("what a client says about itself stays text, on one line, beside where it leads", async () => {
    const name = `Claude Code</h1><script>1</script>"'&\u202e\u0000\n\n\nAn operator set up this client.`;
    const redirect = "https://evil.example/x?y=%22%3e<b>'";
    const browser = await openBrowser("ada");
    const show = async (client_id: string, source: RegExp) => {
      const { html, status } = await browser.open(toRequest(url, { client_id, redirect_uri: redirect }));
      assert.equal(status, 200, html);
      assert.doesNotMatch(html, /<script|<b>'|\u202e|\0/);
      assert.match(
        html,
        /<h1>Let “Claude Code&lt;\/h1&gt;[^\n]* An operator set up this client\.” act for you\?<\/h1>/,
      );
      assert.match(html, /<dt>Host<\/dt><dd><code>evil\.example<\/code>/);
      assert.match(html, source);
    };
    await show((await register({ client_name: name, redirect_uris: [redirect] })).id, /Its name was not checked/);
    description = { client_name: name, redirect_uris: [redirect], logo_uri: "https://evil.example/logo.png" };
    await show(CLIENT_DOCUMENT, />editor\.example describes this client/);
  });

  await t.test("of many decisions and many exchanges at once, one counts", async () => {
    const browser = await openBrowser("ada");
    const page = await browser.open(toRequest(url));
    const decided = await Promise.all(
      Array.from({ length: AT_ONCE }, () => browser.submit(page, ALLOW).catch(() => undefined)),
    );
    const codes = new Set(decided.flatMap((one) => one?.left?.searchParams.get("code") ?? []));
    assert.equal(codes.size, 1);
    const [code = ""] = codes;
    const exchanged = await Promise.all(Array.from({ length: AT_ONCE }, () => post("/oauth/token", toExchange(code))));
    assert.ok(exchanged.filter(({ status }) => status === 200).length <= 1);
    // It came more than once, so it was stolen: what it gave has ended.
    for (const { body } of exchanged) assert.equal(await verify(String(body["access_token"])), undefined);
    assert.equal((await post("/oauth/token", toExchange(await getCode()))).status, 200);
  });

  await t.test("of many uses of a one-time code or an invite at once, one counts", async () => {
    const headers = { origin: url };
    const send = (path: string, body: object) =>
      app.send(path, { method: "POST", headers, body: JSON.stringify(body) }).then(({ status }) => status);
    const code = await identity.sessions.createCode(OPERATOR);
    const { code: invite } = await identity.logins.invite("bob", OPERATOR);
    for (const [path, body] of [
      ["/api/session", { code }],
      ["/api/invite", { code: invite, password: "correct horse battery" }],
    ] as const) {
      const statuses = await Promise.all(Array.from({ length: AT_ONCE }, () => send(path, body)));
      assert.equal(statuses.filter((status) => status === 200).length, 1, path);
    }
  });

  await t.test("a person who is removed or reset between the steps of a login lets no client in", async () => {
    await identity.people.add("zoe", ["operator"], OPERATOR);
    for (const end of ["remove", "reset"] as const) {
      const browser = await openBrowser("ada");
      const page = await browser.open(toRequest(url));
      const code = await getCode();
      await identity.people[end]("ada", OPERATOR);
      assert.equal((await post("/oauth/token", toExchange(code))).status, 400, end);
      const late = await browser.submit(page, ALLOW);
      assert.deepEqual([late.left, late.status], [undefined, 404], end);
      if (end === "remove") await identity.people.add("ada", ["agent"], OPERATOR, { isAgain: true });
      assert.equal((await post("/oauth/token", toExchange(code))).status, 400, end);
      assert.equal((await browser.submit(page, ALLOW)).status, 404, "the session has ended");
      assert.equal((await post("/oauth/token", toExchange(await getCode()))).status, 200);
    }
  });
});
