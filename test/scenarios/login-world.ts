/** A real authorization server, an MCP server that it protects, and a person who agrees to whatever they are asked. */

import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

import { isJsonObject } from "../../src/domain/index.ts";

/** The part of `oidc-provider` that is used here; the package brings no types. */
interface Provider {
  callback(): RequestListener;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  readonly Grant: new (of: object) => Grant;
  readonly AccessToken: { find(value: string): Promise<Token | undefined> };
  readonly RefreshToken: { find(value: string): Promise<Token | undefined> };
}
interface Grant {
  addOIDCScope(scope: string): void;
  addResourceScope(resource: string, scope: string): void;
  save(): Promise<string>;
}
interface Interaction {
  readonly prompt: { readonly name: string };
  readonly params: { readonly client_id: string; readonly resource: string; readonly scope: string };
}
interface Token {
  readonly aud?: string;
  readonly scope?: string;
  readonly isValid: boolean;
  destroy(): Promise<void>;
}

/** Static client of the server; the secret is a canary that must be found nowhere. */
export const CLIENT = { id: "by-hand", secret: "canary-client-secret-7f3a" };

export interface World extends AsyncDisposable {
  readonly issuer: string;
  /** Of the protected MCP server. */
  readonly url: string;
  /** `host:port` of the authorization server, for `oauth.grants`. */
  readonly place: string;
  /** Every token that the MCP server was shown. */
  readonly shown: Set<string>;
  /** How often somebody asked the token endpoint to renew. */
  refreshes: number;
  /** What the metadata of the MCP server says, to be changed by a test. */
  resource: Record<string, unknown>;
  /** Tokens are made to last this long. */
  ttlSeconds: number;
  /** The scope that a call needs. */
  needs: string;
  isGood(token: string): Promise<boolean>;
  /** How each request for a revocation was authorized. */
  readonly revocations: string[];
  /** What such a request is answered with instead of being carried out. */
  revocationStatus: number | undefined;
  revoke(token: string): Promise<void>;
  revokeRefresh(token: string): Promise<void>;
  /** Goes through the pages of a login as a person would, and answers where the browser is sent back to. */
  agree(authorizationUrl: string | URL): Promise<URL>;
}

async function listen(): Promise<{ readonly server: ReturnType<typeof createServer>; readonly origin: string }> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Both servers are on loopback and gone with it. */
export async function openWorld({ revocation = false }: { readonly revocation?: boolean } = {}): Promise<World> {
  const [authority, mcp] = [await listen(), await listen()];
  const url = `${mcp.origin}/mcp`;
  const world: World = {
    issuer: authority.origin,
    url,
    place: new URL(authority.origin).host,
    shown: new Set(),
    refreshes: 0,
    resource: { resource: url, authorization_servers: [authority.origin], scopes_supported: ["notes:read"] },
    ttlSeconds: 3600,
    needs: "notes:read",
    isGood: async (token) => (await provider.AccessToken.find(token))?.isValid ?? false,
    revocations: [],
    revocationStatus: undefined,
    revoke: async (token) => (await provider.AccessToken.find(token))?.destroy(),
    revokeRefresh: async (token) => (await provider.RefreshToken.find(token))?.destroy(),
    agree,
    async [Symbol.asyncDispose]() {
      for (const { server } of [authority, mcp]) server.close().closeAllConnections();
    },
  };
  const provider = await createProvider(world, revocation);
  const answer = provider.callback();
  authority.server.on("request", (request, response) => {
    const isRevocation = request.url?.includes("/revocation") === true;
    if (isRevocation) world.revocations.push(request.headers.authorization ?? "none");
    if (request.url?.startsWith("/interaction/") === true) void consent(provider, request, response);
    else if (isRevocation && world.revocationStatus !== undefined) response.writeHead(world.revocationStatus).end("no");
    else answer(request, response);
  });
  mcp.server.on("request", (request, response) => void serve(world, provider, request, response));
  return world;
}

async function createProvider(world: World, revocation: boolean): Promise<Provider> {
  const name: string = "oidc-provider";
  const { default: Class } = (await import(name)) as { default: new (issuer: string, options: object) => Provider };
  const client = {
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    application_type: "native",
    redirect_uris: ["http://127.0.0.1/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "client_secret_basic",
  };
  const info = (_: unknown, resource: string): object => ({
    scope: "notes:read notes:write",
    audience: resource,
    accessTokenTTL: world.ttlSeconds,
    accessTokenFormat: "opaque",
  });
  const warn = console.warn;
  console.warn = () => undefined; // that it is not meant for production
  try {
    return new Class(world.issuer, {
      clients: [client],
      scopes: ["openid", "offline_access", "notes:read", "notes:write"],
      cookies: { keys: ["only-a-test"] },
      clientDefaults: { grant_types: ["authorization_code", "refresh_token"] },
      findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      issueRefreshToken: () => true,
      rotateRefreshToken: () => {
        world.refreshes += 1;
        return true;
      },
      ttl: { Session: 3600, Interaction: 3600, Grant: 3600, RefreshToken: 3600, AccessToken: () => world.ttlSeconds },
      features: {
        devInteractions: { enabled: false },
        registration: { enabled: true },
        revocation: { enabled: revocation },
        resourceIndicators: { enabled: true, getResourceServerInfo: info, useGrantedResource: () => true },
      },
    });
  } finally {
    console.warn = warn;
  }
}

async function consent(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, params } = await provider.interactionDetails(request, response);
  if (prompt.name === "login") {
    return provider.interactionFinished(request, response, { login: { accountId: "somebody" } });
  }
  const grant = new provider.Grant({ accountId: "somebody", clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  grant.addResourceScope(params.resource, params.scope);
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

async function serve(
  world: World,
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const reply = (status: number, body?: object, headers: Record<string, string> = {}): void =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body ?? {}));
  const metadata = new URL("/.well-known/oauth-protected-resource/mcp", world.url).href;
  if (request.url?.startsWith("/.well-known/") === true) {
    return metadata.endsWith(request.url) ? reply(200, world.resource) : reply(404);
  }
  const [, token = ""] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
  if (token !== "") world.shown.add(token);
  const found = token === "" ? undefined : await provider.AccessToken.find(token);
  const challenge = `Bearer resource_metadata="${metadata}"`;
  if (!found?.isValid || found.aud !== world.url) return reply(401, {}, { "www-authenticate": challenge });
  if (request.method !== "POST") return reply(405);
  const message: unknown = await json(request);
  if (!isJsonObject(message) || message["id"] === undefined) return reply(202);
  const { id, method } = message;
  if (method === "tools/call" && !(found.scope ?? "").split(" ").includes(world.needs)) {
    const scope = `error="insufficient_scope", scope="${world.needs}"`;
    return reply(403, {}, { "www-authenticate": `${challenge}, ${scope}` });
  }
  reply(200, { jsonrpc: "2.0", id, ...answerTo(typeof method === "string" ? method : "", token) });
}

/** The tool gives back the token that it was sent, as a careless server would. */
function answerTo(method: string, token: string): object {
  const info = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
  const tool = { name: "list", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
  switch (method) {
    case "initialize":
      return { result: info };
    case "tools/list":
      return { result: { tools: [tool] } };
    case "tools/call":
      return { result: { content: [{ type: "text", text: `one note; you came with ${token}` }] } };
    default:
      return { error: { code: -32_601, message: "Method not found" } };
  }
}

async function agree(authorizationUrl: string | URL): Promise<URL> {
  const cookies = new Map<string, string>();
  let next = new URL(authorizationUrl);
  for (let step = 0; step < 10; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(next, { redirect: "manual", headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`The login ended with ${response.status}: ${await response.text()}`);
    next = new URL(location, next);
    if (next.pathname === "/callback") return next;
  }
  throw new Error("The login goes round in circles");
}
