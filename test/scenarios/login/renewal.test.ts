/** Tokens that expire, are renewed, rotated and revoked, in one process and in several, with a real store and vault. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { openLedger } from "../../../src/ledger/open-ledger.ts";
import { createLease, createLoginStore } from "../../../src/connectors/index.ts";
import { beginLogin } from "../../../src/connectors/login/begin-login.ts";
import { createLoginFetch } from "../../../src/connectors/login/login-fetch.ts";
import { createMcpConnector } from "../../../src/connectors/mcp/mcp-connector.ts";
import { createTokenSource } from "../../../src/connectors/login/token-source.ts";
import { parseLoginText, toLoginText } from "../../../src/connectors/login/login-store.ts";
import type { Connector } from "../../../src/connectors/index.ts";
import type { Login, LoginStore } from "../../../src/connectors/login/login-store.ts";
import { GloveboxError, parseConnectorId } from "../../../src/domain/index.ts";
import { openEgress } from "../../../src/egress/index.ts";
import { openStore } from "../../../src/store/index.ts";
import { openVault } from "../../../src/vault/index.ts";
import { openLoginProvider } from "../../fixtures/login-provider.ts";
import type { LoginProvider } from "../../fixtures/login-provider.ts";
import { makeFolder } from "../../fixtures/product.ts";
import { readHostPort } from "../../../src/config/schema/values/host-pattern.ts";

const id = parseConnectorId("notes");
assert.ok(id);
const otherId = parseConnectorId("other");
assert.ok(otherId);
const egress = openEgress();
const KEY = randomBytes(32).toString("hex");

interface Installation {
  readonly keeper: LoginStore;
  /** A separate connector, as another gateway on the same store would have one. */
  connect(url?: string): Connector;
  call(connector: Connector): Promise<unknown>;
  close(): Promise<void>;
}

async function install(folder: string, provider: LoginProvider): Promise<Installation> {
  const store = await openStore({ path: join(folder, "store.db"), now: Date.now });
  const ledger = await openLedger({ store, now: Date.now });
  const keyFile = join(folder, "glovebox.key");
  const vault = openVault({ store, ledger, keyFile, random: randomBytes, now: Date.now, environmentKey: KEY });
  const keeper = createLoginStore({
    values: store.meta,
    vault,
    holdLease: createLease({
      places: store.quotas,
      now: Date.now,
      createHolder: () => randomBytes(12).toString("hex"),
    }),
    onToken: () => undefined,
  });
  const connectors: Connector[] = [];
  const connect = (url = provider.url): Connector => {
    assert.ok(id);
    const fetch = createLoginFetch({ egress, url, grants: grantsOf(provider) });
    const tokens = createTokenSource({ id, url, logins: keeper, fetch, now: Date.now });
    const connector = createMcpConnector({
      id,
      settings: { kind: "http", url, startMs: 10_000, resolveHeaders: async () => ({}), tokens },
      environment: {},
      keeper: { keep: () => undefined, release: () => undefined },
      egress,
      now: Date.now,
      clean: (text) => text,
    });
    connectors.push(connector);
    return connector;
  };
  return {
    keeper,
    connect,
    call: async (connector) => (await connector.call("list", {}, { signal: AbortSignal.timeout(20_000) })).value,
    close: async () => {
      for (const connector of connectors) await connector.close();
      await ledger.close();
      await store.close();
    },
  };
}

const grantsOf = ({ hostAndPort: place }: LoginProvider) => {
  const read = readHostPort(place);
  return read.ok ? [read.value] : [];
};

/** With dynamic registration; the test may read the tokens. */
async function logIn(provider: LoginProvider, { keeper }: Installation): Promise<Login> {
  assert.ok(id);
  const request = { id, kind: "http", url: provider.url, egress, grants: grantsOf(provider), choice: {} } as const;
  const redirectUri = "http://127.0.0.1:1/callback";
  const begun = await beginLogin({ ...request, scopes: [], moreScopes: [], redirectUri, state: "s", now: Date.now });
  const login = await begun.finish((await provider.agree(begun.authorizationUrl)).searchParams);
  await keeper.keep(login, "operator");
  return login;
}

async function prepare(context: TestContext, provider: LoginProvider, processes = 1): Promise<readonly Installation[]> {
  const folder = makeFolder(context);
  const all: Installation[] = [];
  for (let count = 0; count < processes; count += 1) all.push(await install(folder, provider));
  context.after(async () => {
    for (const one of all) await one.close();
  });
  return all;
}

const needsLogin = (message: RegExp) => (thrown: unknown) =>
  thrown instanceof GloveboxError && thrown.code === "UPSTREAM_AUTH_REQUIRED" && message.test(thrown.message);

test("an expired token is renewed once for all calls of all processes, and its successor is kept", async (context) => {
  await using provider = await openLoginProvider();
  const [one, two] = await prepare(context, provider, 2);
  assert.ok(one && two);
  provider.ttlSeconds = 20; // expires within the time in which a token counts as expired
  const first = await logIn(provider, one);
  provider.ttlSeconds = 3600;
  const connectors = [one.connect(), one.connect(), two.connect(), two.connect()];
  const answers = await Promise.all(connectors.flatMap((connector) => [one.call(connector), two.call(connector)]));
  assert.equal(answers.length, 8);
  assert.equal(provider.refreshes, 1);
  const second = await two.keeper.find(first.upstream);
  assert.notEqual(second?.refresh?.reveal(), first.refresh?.reveal());
  assert.deepEqual([...provider.seenTokens], [second?.access.reveal()]);
});

test("a revoked token is renewed; a revoked login ends and is reported until the next login", async (context) => {
  await using provider = await openLoginProvider();
  const [gateway] = await prepare(context, provider);
  assert.ok(gateway);
  const login = await logIn(provider, gateway);
  const connector = gateway.connect();
  await gateway.call(connector);
  await provider.revoke(login.access.reveal());
  await gateway.call(connector);
  assert.deepEqual([provider.refreshes, connector.status().state], [1, "ready"]);

  const renewed = await gateway.keeper.find(login.upstream);
  await provider.revoke(renewed?.access.reveal() ?? "");
  await provider.revokeRefresh(renewed?.refresh?.reveal() ?? "");
  await assert.rejects(gateway.call(connector), needsLogin(/its login has ended/));
  assert.equal(connector.status().state, "needs-login");
  assert.match(connector.status().hint ?? "", /glovebox servers login notes/);
  assert.equal((await gateway.keeper.find(login.upstream))?.refresh, undefined);

  await logIn(provider, gateway);
  await connector.restart?.();
  await gateway.call(connector);
  assert.equal(connector.status().state, "ready");
});

test("a refresh token that was used before is refused, and ends the login", async (context) => {
  await using provider = await openLoginProvider();
  const [gateway] = await prepare(context, provider);
  assert.ok(gateway);
  const login = await logIn(provider, gateway);
  const connector = gateway.connect();
  await gateway.call(connector);
  await provider.revoke(login.access.reveal());
  await gateway.call(connector);
  await gateway.keeper.keep(login, "operator"); // as from a copy of the store
  await connector.restart?.();
  await assert.rejects(gateway.call(connector), needsLogin(/its login has ended/));
});

test("a login is bound to its URL: a server at another URL gets no token", async (context) => {
  await using provider = await openLoginProvider();
  await using other = await openLoginProvider();
  const [gateway] = await prepare(context, provider);
  assert.ok(gateway);
  await logIn(provider, gateway);
  await assert.rejects(gateway.call(gateway.connect(other.url)), needsLogin(/it asks for a login/));
  await assert.rejects(gateway.call(gateway.connect(`${provider.url}-other`)), needsLogin(/it asks for a login/));
  assert.deepEqual([...other.seenTokens, ...provider.seenTokens], []);
  await gateway.call(gateway.connect());
  assert.equal(provider.seenTokens.size, 1);
});

test("a login that was sealed for one upstream does not open under another key", async (context) => {
  await using provider = await openLoginProvider();
  const [gateway] = await prepare(context, provider);
  assert.ok(gateway);
  const login = await logIn(provider, gateway);
  const { upstream, issuer, resource } = login;
  const key = { upstream, issuer, resource };
  assert.equal(parseLoginText(toLoginText(login), key)?.access.reveal(), login.access.reveal());
  for (const other of [{ issuer: "https://evil.example" }, { resource: `${resource}/x` }, { upstream: otherId }]) {
    assert.equal(parseLoginText(toLoginText(login), { ...key, ...other }), undefined);
  }
});

test("a server refuses a token for another audience, and only a login helps", async (context) => {
  await using provider = await openLoginProvider();
  await using other = await openLoginProvider();
  const [gateway] = await prepare(context, provider);
  assert.ok(gateway);
  const good = await logIn(provider, gateway);
  const stolen = await logIn(other, gateway);
  const { refresh: _, ...forged } = { ...good, access: stolen.access };
  await gateway.keeper.keep(forged, "operator");
  await assert.rejects(gateway.call(gateway.connect()), needsLogin(/its login has ended/));
});
