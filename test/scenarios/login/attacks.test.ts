/** What must not become a login, and what must not stay one: each attack beside the honest case. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";

import { beginLogin } from "../../../src/connectors/login/begin-login.ts";
import type { PendingLogin } from "../../../src/connectors/login/begin-login.ts";
import { GloveboxError, parseConnectorId } from "../../../src/domain/index.ts";
import { openEgress } from "../../../src/egress/index.ts";
import { listenForAnswer } from "../../../src/surfaces/cli/servers/listen-for-answer.ts";
import { Secret } from "../../../src/vault/index.ts";
import { CLIENT, openLoginProvider } from "../../fixtures/login-provider.ts";
import type { LoginProvider } from "../../fixtures/login-provider.ts";
import { readHostPort } from "../../../src/config/schema/values/host-pattern.ts";

const id = parseConnectorId("notes");
assert.ok(id);
const egress = openEgress();
const STATE = "state-of-this-attempt-0123456789abcdef";

function begin(
  provider: LoginProvider,
  more: { url?: string; grants?: readonly string[] } = {},
): Promise<PendingLogin> {
  assert.ok(id);
  const grants = (more.grants ?? [provider.hostAndPort]).flatMap((text) => {
    const read = readHostPort(text);
    return read.ok ? [read.value] : [];
  });
  return beginLogin({
    id,
    kind: "http",
    url: more.url ?? provider.url,
    egress,
    grants,
    choice: { clientId: CLIENT.id, clientSecret: new Secret(CLIENT.secret) },
    scopes: [],
    moreScopes: [],
    redirectUri: "http://127.0.0.1:1/callback",
    state: STATE,
    now: Date.now,
  });
}

const refusal = (code: string, message: RegExp) => (thrown: unknown) =>
  thrown instanceof GloveboxError && thrown.code === code && message.test(thrown.message);
const OTHER_LOGIN = refusal("UPSTREAM_AUTH_REQUIRED", /does not belong to this login/);
const OTHER_ISSUER = refusal("UPSTREAM_AUTH_REQUIRED", /another authorization server/);

describe("the redirect of a login", () => {
  test("a login accepts the redirect with the state, issuer and code of this attempt", async () => {
    await using provider = await openLoginProvider();
    const begun = await begin(provider);
    const { searchParams } = await provider.agree(begun.authorizationUrl);
    assert.equal(searchParams.get("iss"), provider.issuer);
    const { access, refresh, ...login } = await begun.finish(searchParams);
    assert.equal(access.reveal().length > 20 && refresh !== undefined, true);
    assert.deepEqual([login.upstream, login.issuer, login.resource], [id, provider.issuer, provider.url]);
    assert.equal(JSON.stringify({ access, refresh }), '{"access":"[secret]","refresh":"[secret]"}');
  });

  const changes: readonly (readonly [
    string,
    (answer: URLSearchParams, provider: LoginProvider) => void,
    typeof OTHER_LOGIN,
  ])[] = [
    ["another state", (answer) => answer.set("state", "forged"), OTHER_LOGIN],
    ["no state", (answer) => answer.delete("state"), OTHER_LOGIN],
    ["two codes", (answer) => answer.append("code", "forged"), OTHER_LOGIN],
    ["two issuers", (answer) => answer.append("iss", "http://evil.example"), OTHER_LOGIN],
    ["another issuer", (answer) => answer.set("iss", "http://evil.example"), OTHER_ISSUER],
    ["an issuer that only looks the same", (answer, { issuer }) => answer.set("iss", `${issuer}/`), OTHER_ISSUER],
    ["no issuer, though one was announced", (answer) => answer.delete("iss"), OTHER_ISSUER],
    [
      "an error that another issuer wrote, which is not repeated",
      (answer) => {
        answer.delete("code");
        answer.set("error", "call_this_number");
        answer.set("iss", "http://evil.example");
      },
      OTHER_ISSUER,
    ],
    [
      "an error beside the code",
      (answer) => answer.set("error", "access_denied"),
      refusal("UPSTREAM_AUTH_REQUIRED", /answered access_denied/),
    ],
  ];
  for (const [what, change, expected] of changes) {
    test(`a login refuses a redirect with ${what}, and does not redeem the code`, async () => {
      await using provider = await openLoginProvider();
      const begun = await begin(provider);
      const { searchParams } = await provider.agree(begun.authorizationUrl);
      const answer = new URLSearchParams(searchParams);
      change(answer, provider);
      await assert.rejects(begun.finish(answer), expected);
    });
  }

  test("a login redirect works once: neither the attempt nor its code can be used again", async () => {
    await using provider = await openLoginProvider();
    const [first, second] = [await begin(provider), await begin(provider)];
    const { searchParams } = await provider.agree(first.authorizationUrl);
    await first.finish(searchParams);
    await assert.rejects(first.finish(searchParams), refusal("UPSTREAM_AUTH_REQUIRED", /answered already/));
    await assert.rejects(second.finish(searchParams), refusal("UPSTREAM_AUTH_REQUIRED", /answered invalid_grant/));
  });

  test("a login refuses the redirect of another authorization server despite the right state, as in a mix-up attack", async () => {
    await using honest = await openLoginProvider();
    await using evil = await openLoginProvider();
    const begun = await begin(honest);
    const { searchParams } = await evil.agree((await begin(evil)).authorizationUrl);
    assert.deepEqual([searchParams.get("state"), searchParams.get("iss")], [STATE, evil.issuer]);
    await assert.rejects(begun.finish(searchParams), OTHER_ISSUER);
  });
});

describe("the login metadata of an upstream", () => {
  test("login metadata is refused if it describes another resource", async () => {
    await using provider = await openLoginProvider();
    provider.resource = { ...provider.resource, resource: "https://bank.example/mcp" };
    await assert.rejects(begin(provider), refusal("UPSTREAM_AUTH_REQUIRED", /another resource/));
  });

  test("login metadata is refused if the authorization server names another issuer", async () => {
    await using provider = await openLoginProvider();
    provider.resource = { ...provider.resource, authorization_servers: [`${provider.issuer}/tenant`] };
    await assert.rejects(
      begin(provider),
      refusal("UPSTREAM_AUTH_REQUIRED", /no authorization server|another authorization/),
    );
  });

  for (const target of [
    "http://169.254.169.254/",
    "https://169.254.169.254/",
    "https://10.0.0.1/",
    "https://[::1]:1/",
  ]) {
    test(`login metadata does not lead to a request to ${target}`, async () => {
      await using provider = await openLoginProvider();
      provider.resource = { ...provider.resource, authorization_servers: [target] };
      await assert.rejects(begin(provider), refusal("EGRESS_DENIED", /was not continued/));
    });
  }

  test("login metadata may name a loopback server only with a grant for that port", async () => {
    await using provider = await openLoginProvider();
    await assert.rejects(begin(provider, { grants: [] }), refusal("EGRESS_DENIED", /not encrypted/));
    await assert.rejects(begin(provider, { grants: ["127.0.0.1:1"] }), refusal("EGRESS_DENIED", /not encrypted/));
    assert.equal((await begin(provider)).issuer, provider.issuer);
  });

  test("a login opens only http and https URLs in the browser, and requires PKCE", async () => {
    await using provider = await openLoginProvider();
    const metadata = {
      authorization_endpoint: "file:///etc/passwd",
      token_endpoint: "https://as.example/token",
      response_types_supported: ["code"],
    };
    const offer = async (more: object): Promise<unknown> => {
      const server = createServer((_, response) =>
        response.end(JSON.stringify({ issuer: origin, ...metadata, ...more })),
      );
      await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      provider.resource = { ...provider.resource, authorization_servers: [origin] };
      return begin(provider, { grants: [new URL(origin).host] })
        .catch((thrown: unknown) => (thrown instanceof GloveboxError ? thrown.message : thrown))
        .finally(() => server.close().closeAllConnections());
    };
    const methods = { code_challenge_methods_supported: ["S256"] };
    assert.match(String(await offer(methods)), /not a plain http or https URL|malformed/);
    const page = "https://as.example/authorize";
    assert.match(String(await offer({ authorization_endpoint: page })), /does not announce PKCE/);
    assert.match(
      String(await offer({ authorization_endpoint: page, code_challenge_methods_supported: ["plain"] })),
      /does not announce PKCE/,
    );
    const good = await offer({ authorization_endpoint: page, ...methods });
    assert.equal(typeof good === "object" && good !== null && "authorizationUrl" in good, true);
  });
});

describe("the listener for the redirect", () => {
  const open = () => listenForAnswer({ state: STATE, port: 0, answerMs: 60_000 });
  const ask = async (address: string, init?: RequestInit): Promise<number> => (await fetch(address, init)).status;

  test("the listener accepts the redirect with the right state and ignores other requests", async () => {
    await using listener = await open();
    const right = `${listener.redirectUri}?code=c&state=${STATE}`;
    const { origin } = new URL(listener.redirectUri);
    assert.equal(await ask(`${listener.redirectUri}?code=c&state=forged`), 400);
    assert.equal(await ask(`${listener.redirectUri}?code=c`), 400);
    assert.equal(await ask(`${right}&state=${STATE}`), 400);
    assert.equal(await ask(`${origin}/other?code=c&state=${STATE}`), 400);
    assert.equal(await ask(right, { method: "POST" }), 400);
    assert.equal(await ask(right.replace("127.0.0.1", "localhost")), 400);
    assert.equal(await ask(right), 200);
    assert.equal((await listener.answer).get("code"), "c");
  });

  test("the listener gives up after a timeout or when it is aborted", async () => {
    await using late = await listenForAnswer({ state: STATE, port: 0, answerMs: 1 });
    await assert.rejects(late.answer, refusal("REQUEST_CANCELLED", /in time/));
    await using stopped = await open();
    stopped.stop();
    await assert.rejects(stopped.answer, refusal("REQUEST_CANCELLED", /interrupted/));
  });
});
