/**
 * The client of the official conformance suite in its authorization scenarios: our connector, and for each login that
 * it requires a person who agrees at once.
 */

import { beginLogin } from "../../src/connectors/login/begin-login.ts";
import { createLoginFetch } from "../../src/connectors/login/login-fetch.ts";
import { createMcpConnector } from "../../src/connectors/mcp/mcp-connector.ts";
import { createTokenSource } from "../../src/connectors/login/token-source.ts";
import type { Login, LoginStore } from "../../src/connectors/login/login-store.ts";
import { GloveboxError, parseConnectorId } from "../../src/domain/index.ts";
import type { HostPort, JsonObject } from "../../src/domain/index.ts";
import { openEgress } from "../../src/egress/index.ts";
import { Secret } from "../../src/vault/index.ts";

const MAX_LOGINS = 3;
const REDIRECT = "http://127.0.0.1:3000/callback";
const id = parseConnectorId("suite");
if (!id) throw new TypeError("A constant of this file is malformed");

/** The suite's servers are on loopback, on ports that are not known in advance. */
const anyPort: readonly HostPort[] = Array.from({ length: 65_535 }, (_, port) => ({
  host: "localhost",
  port: port + 1,
}));

/** Calls every tool once, and logs in when the connector requires it. */
export async function callToolsWithLogins(url: string, context: JsonObject): Promise<void> {
  if (!id) return;
  const egress = openEgress();
  const { client_id: clientId, client_secret: clientSecret } = context;
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
  const logIn = async (moreScopes: readonly string[]): Promise<void> => {
    const scopes = { scopes: [], moreScopes: kept?.scope ? [...moreScopes, kept.scope] : moreScopes };
    const request = { ...reach, ...scopes, id, choice, redirectUri: REDIRECT, now: Date.now } as const;
    const begun = await beginLogin({ ...request, kind: "http", state: crypto.randomUUID() });
    const answer = await fetch(begun.authorizationUrl, { redirect: "manual" });
    const location = URL.parse(answer.headers.get("location") ?? "");
    if (!location) throw new Error(`No redirect: ${answer.status}`);
    kept = await begun.finish(location.searchParams);
    await connector.restart?.();
  };
  const tools = await withLogins(() => connector.tools(), logIn);
  for (const { name } of tools) {
    await withLogins(() => connector.call(name, {}, { signal: AbortSignal.timeout(5000) }), logIn);
  }
}

/** Runs the command that the error names, as an operator would. */
async function withLogins<Value>(
  work: () => Promise<Value>,
  logIn: (moreScopes: readonly string[]) => Promise<void>,
): Promise<Value> {
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
