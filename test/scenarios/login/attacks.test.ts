/** What must not become a login, and what must not keep being one: each attack beside the honest way. */

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

describe("the answer of a login", () => {
  test("is taken when state, issuer and code are those of this attempt", async () => {
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
    test(`is refused with ${what}, and the code is not redeemed`, async () => {
      await using provider = await openLoginProvider();
      const begun = await begin(provider);
      const { searchParams } = await provider.agree(begun.authorizationUrl);
      const answer = new URLSearchParams(searchParams);
      change(answer, provider);
      await assert.rejects(begun.finish(answer), expected);
    });
  }

  test("is good once: neither the attempt nor its code can be used again", async () => {
    await using provider = await openLoginProvider();
    const [first, second] = [await begin(provider), await begin(provider)];
    const { searchParams } = await provider.agree(first.authorizationUrl);
    await first.finish(searchParams);
    await assert.rejects(first.finish(searchParams), refusal("UPSTREAM_AUTH_REQUIRED", /answered already/));
    await assert.rejects(second.finish(searchParams), refusal("UPSTREAM_AUTH_REQUIRED", /answered invalid_grant/));
  });

  test("of another authorization server is refused though its state is right, as in a mix-up", async () => {
    await using honest = await openLoginProvider();
    await using evil = await openLoginProvider();
    const begun = await begin(honest);
    const { searchParams } = await evil.agree((await begin(evil)).authorizationUrl);
    assert.deepEqual([searchParams.get("state"), searchParams.get("iss")], [STATE, evil.issuer]);
    await assert.rejects(begun.finish(searchParams), OTHER_ISSUER);
  });
});

describe("what an upstream says about its login", () => {
  test("is refused when it describes another resource", async () => {
    await using provider = await openLoginProvider();
    provider.resource = { ...provider.resource, resource: "https://bank.example/mcp" };
    await assert.rejects(begin(provider), refusal("UPSTREAM_AUTH_REQUIRED", /another resource/));
  });

  test("is refused when the metadata of the authorization server names another issuer", async () => {
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
    test(`is not followed to ${target}`, async () => {
      await using provider = await openLoginProvider();
      provider.resource = { ...provider.resource, authorization_servers: [target] };
      await assert.rejects(begin(provider), refusal("EGRESS_DENIED", /was not continued/));
    });
  }

  test("may name a loopback server only with a grant for that very port", async () => {
    await using provider = await openLoginProvider();
    await assert.rejects(begin(provider, { grants: [] }), refusal("EGRESS_DENIED", /not encrypted/));
    await assert.rejects(begin(provider, { grants: ["127.0.0.1:1"] }), refusal("EGRESS_DENIED", /not encrypted/));
    assert.equal((await begin(provider)).issuer, provider.issuer);
  });

  test("does not make a browser open anything but http and https, nor go without PKCE", async () => {
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

describe("the address for the answer", () => {
  const open = () => listenForAnswer({ state: STATE, port: 0, answerMs: 60_000 });
  const ask = async (address: string, init?: RequestInit): Promise<number> => (await fetch(address, init)).status;

  test("takes the answer with the right state and lets everything else pass", async () => {
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

  test("gives up when nobody answers, and when it is told to", async () => {
    await using late = await listenForAnswer({ state: STATE, port: 0, answerMs: 1 });
    await assert.rejects(late.answer, refusal("REQUEST_CANCELLED", /in time/));
    await using stopped = await open();
    stopped.stop();
    await assert.rejects(stopped.answer, refusal("REQUEST_CANCELLED", /interrupted/));
  });
});
