/** Clients that people have, as they describe themselves and ask: each logs in at the built-in authorization server. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { startOauthGateway, toExchange, toRequest } from "../../fixtures/oauth-gateway.ts";

interface KnownClient {
  /** By its document, if that has a `client_id`; otherwise it registers itself. */
  readonly description: Readonly<Record<string, unknown>> & { readonly client_id?: string };
  /** Where this login leads back to. */
  readonly redirect: string;
  readonly scope?: string;
  /** Without it the client names no resource. */
  readonly hasResource?: boolean;
  readonly agent: RegExp;
}

const CODE = { response_types: ["code"], token_endpoint_auth_method: "none" };
const USUAL = { grant_types: ["authorization_code", "refresh_token"], ...CODE };
const VSCODE = {
  client_name: "Visual Studio Code",
  grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
  ...CODE,
  application_type: "native",
  redirect_uris: [
    "https://insiders.vscode.dev/redirect",
    "https://vscode.dev/redirect",
    "http://localhost/",
    "http://127.0.0.1/",
    "http://localhost:33418/",
    "http://127.0.0.1:33418/",
  ],
};

const CLIENTS: Readonly<Record<string, KnownClient>> = {
  "Claude Code by its document": {
    description: {
      client_id: "https://claude.ai/oauth/claude-code-client-metadata",
      client_name: "Claude Code",
      client_uri: "https://claude.ai",
      redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
      ...USUAL,
    },
    redirect: "http://localhost:53682/callback",
    agent: /^agent:ada\/claude\.ai-[0-9a-f]{16}$/,
  },
  "Claude Code by registration": {
    description: { client_name: "Claude Code (team)", redirect_uris: ["http://localhost:3118/callback"], ...USUAL },
    redirect: "http://localhost:3118/callback",
    scope: "execute search",
    agent: /^agent:ada\/claude-code-team-/,
  },
  "VS Code by its document": {
    description: {
      client_id: "https://vscode.dev/oauth/client-metadata.json",
      client_uri: "https://code.visualstudio.com",
      ...VSCODE,
    },
    redirect: "https://vscode.dev/redirect",
    agent: /^agent:ada\/vscode\.dev-/,
  },
  "VS Code by registration": {
    description: { client_uri: "https://code.visualstudio.com", scope: "execute execute:read search", ...VSCODE },
    redirect: "http://127.0.0.1:61023/",
    agent: /^agent:ada\/visual-studio-code-/,
  },
  Codex: {
    description: { client_name: "Codex", redirect_uris: ["http://127.0.0.1:50117/callback"], ...USUAL },
    redirect: "http://127.0.0.1:50117/callback",
    hasResource: false,
    agent: /^agent:ada\/codex-/,
  },
  OpenCode: {
    description: {
      client_name: "OpenCode",
      client_uri: "https://opencode.ai",
      redirect_uris: ["http://127.0.0.1:19876/mcp/oauth/callback"],
      ...USUAL,
    },
    redirect: "http://127.0.0.1:19876/mcp/oauth/callback",
    agent: /^agent:ada\/opencode-/,
  },
  "a client that asks for scopes of OpenID Connect": {
    description: { redirect_uris: ["cursor://anysphere.cursor-mcp/oauth/callback"], ...USUAL, scope: "openid" },
    redirect: "cursor://anysphere.cursor-mcp/oauth/callback",
    scope: "openid profile offline_access",
    agent: /^agent:ada\/client-/,
  },
};

test("clients that people have log in as they describe themselves", async (t) => {
  let document: object = {};
  const documents = async () => Response.json(document);
  const { url, openBrowser, post, verify } = await startOauthGateway(t, { documents });
  const browser = await openBrowser("ada");
  const register = async (description: object): Promise<string> => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/oauth/register`, { method: "POST", headers, body: JSON.stringify(description) });
    const registered = (await answer.json()) as { client_id: string };
    assert.equal(answer.status, 201, JSON.stringify(registered));
    return registered.client_id;
  };
  for (const [name, { description, redirect, scope, hasResource = true, agent }] of Object.entries(CLIENTS)) {
    document = description;
    const client_id = description.client_id ?? (await register(description));
    const resource = hasResource ? `${url}/mcp` : undefined;
    const asked = toRequest(url, { client_id, redirect_uri: redirect, scope, ...(!hasResource && { resource }) });
    if (!hasResource) asked.searchParams.delete("resource");
    const left = await browser.agree(asked);
    assert.equal(left.href.startsWith(redirect), true, `${name}: ${left.href}`);
    assert.equal(left.searchParams.get("iss"), url, name);
    const code = left.searchParams.get("code");
    const tokens = await post("/oauth/token", toExchange(code, { client_id, redirect_uri: redirect }));
    assert.equal(tokens.status, 200, `${name}: ${JSON.stringify(tokens.body)}`);
    const verified = await verify(String(tokens.body["access_token"]));
    assert.match(verified?.principal.id ?? "", agent, name);
    const renewed = await post("/oauth/token", {
      grant_type: "refresh_token",
      client_id,
      refresh_token: String(tokens.body["refresh_token"]),
    });
    assert.equal(renewed.status, 200, `${name}: ${JSON.stringify(renewed.body)}`);
  }
});
