/**
 * The "client" that the official conformance suite starts in its authorization scenarios: our connector, and for each
 * login that it requires a person who agrees at once.
 */

import { beginLogin } from "../../src/connectors/login/begin-login.ts";
import { createLoginFetch } from "../../src/connectors/login/login-fetch.ts";
import { createMcpConnector } from "../../src/connectors/mcp/mcp-connector.ts";
import { createTokenSource } from "../../src/connectors/login/token-source.ts";
import type { Login, LoginStore } from "../../src/connectors/login/login-store.ts";
import { GloveboxError, isJsonObject, parseConnectorId } from "../../src/domain/index.ts";
import type { HostPort } from "../../src/domain/index.ts";
import { openEgress } from "../../src/egress/index.ts";
import { Secret } from "../../src/vault/index.ts";

const MAX_LOGINS = 3;
const REDIRECT = "http://127.0.0.1:3000/callback";
const url = process.argv.at(-1) ?? "";
const id = parseConnectorId("suite");
if (!id) throw new TypeError("A constant of this file is malformed");

/** The suite's servers are on loopback, on ports that are not known in advance. */
const anyPort: readonly HostPort[] = Array.from({ length: 65_535 }, (_, port) => ({
  host: "localhost",
  port: port + 1,
}));
const egress = openEgress();
const context: unknown = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}");
const { client_id: clientId, client_secret: clientSecret } = isJsonObject(context) ? context : {};
const choice = {
  clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  ...(typeof clientId === "string" && { clientId }),
  ...(typeof clientSecret === "string" && { clientSecret: new Secret(clientSecret) }),
};

let kept: Login | undefined;
const keeper: Pick<LoginStore, "find" | "keep" | "alone"> = {
  find: async () => kept,
  keep: async (login) => void (kept = login),
  alone: (_, work) => work(),
};
const reach = { egress, url, grants: anyPort };
await using connector = createMcpConnector({
  id,
  settings: {
    kind: "http",
    url,
    resolveHeaders: async () => ({}),
    startMs: 10_000,
    tokens: createTokenSource({ id, url, logins: keeper, fetch: createLoginFetch(reach), now: Date.now }),
  },
  environment: {},
  keeper: { keep: () => undefined, release: () => undefined },
  egress,
  now: Date.now,
  clean: (text) => text,
});

async function logIn(moreScopes: readonly string[]): Promise<void> {
  if (!id) return;
  const state = crypto.randomUUID();
  const request = {
    ...reach,
    id,
    kind: "http",
    choice,
    scopes: [],
    redirectUri: REDIRECT,
    state,
    now: Date.now,
  } as const;
  const begun = await beginLogin({ ...request, moreScopes: kept?.scope ? [...moreScopes, kept.scope] : moreScopes });
  const answer = await fetch(begun.authorizationUrl, { redirect: "manual" });
  const location = URL.parse(answer.headers.get("location") ?? "");
  if (!location) throw new Error(`No redirect: ${answer.status}`);
  kept = await begun.finish(location.searchParams);
  await connector.restart?.();
}

/** Runs the command that the error names, as an operator would. */
async function withLogins<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let logins = 0; ; logins += 1) {
    try {
      return await work();
    } catch (thrown) {
      const isLogin = thrown instanceof GloveboxError && thrown.code === "UPSTREAM_AUTH_REQUIRED";
      if (!isLogin || logins === MAX_LOGINS) throw thrown;
      const [, scopes] = /--scope "([^"]*)"/.exec(thrown.details.hint ?? "") ?? [];
      await logIn(scopes === undefined ? [] : [scopes]);
    }
  }
}

const tools = await withLogins(() => connector.tools());
for (const { name } of tools) {
  await withLogins(() => connector.call(name, {}, { signal: AbortSignal.timeout(5000) }));
}
