/** What a finished login consists of, and the interface of its store. Tokens are plain text only inside this folder. */

import type { OAuthMetadata, OAuthTokens } from "@modelcontextprotocol/client";

import { defined, isJsonObject } from "../../domain/index.ts";
import type { ConnectorId, Instant, JsonObject } from "../../domain/index.ts";
import { SECOND_MS } from "../../timing/index.ts";
import { Secret } from "../../vault/index.ts";

/** Identifies a login: a token of one issuer, for one resource, used by one upstream. Not secret. */
export interface LoginKey {
  readonly upstream: ConnectorId;
  readonly issuer: string;
  /** The audience that the token was requested for (RFC 8707). */
  readonly resource: string;
}

/** Discovered at the login and never looked up again. */
export interface TokenEndpoint {
  readonly url: string;
  readonly authMethods: readonly string[] | undefined;
}

/** The OAuth client of Glovebox at this issuer. */
export interface LoginClient {
  readonly id: string;
  readonly secret?: Secret;
  /** The authentication method, if the registration set one. */
  readonly authMethod?: string;
}

export interface Login extends LoginKey {
  readonly client: LoginClient;
  readonly tokenEndpoint: TokenEndpoint;
  /** Where tokens are revoked; absent if the server announced no such endpoint. */
  readonly revocation?: TokenEndpoint;
  readonly access: Secret;
  readonly refresh?: Secret;
  /** Absent if the server did not set one. */
  readonly expiresAt?: Instant;
  /** The granted scopes, or the requested ones if the server did not list them; separated by spaces. */
  readonly scope?: string;
}

/** Stores one login for each upstream, sealed. Several processes share it. */
export interface LoginStore {
  find(upstream: ConnectorId): Promise<Login | undefined>;
  /** Replaces the login of that upstream. */
  keep(login: Login, actor: string): Promise<void>;
  /** Removes the login of an upstream. Returns false if there was none. */
  drop(upstream: ConnectorId, actor: string): Promise<boolean>;
  /** Runs `work` while no other process does so for this upstream. */
  alone<Value>(upstream: ConnectorId, work: () => Promise<Value>): Promise<Value>;
}

/** From a successful answer of a token endpoint. `before` has the fields that the answer may omit. */
export function withTokens(before: Omit<Login, "access">, tokens: OAuthTokens, now: Instant): Login {
  const { refresh: _, expiresAt: __, scope: asked, ...rest } = before;
  const refresh = tokens.refresh_token === undefined ? before.refresh : new Secret(tokens.refresh_token);
  const scope = tokens.scope ?? asked;
  return {
    ...rest,
    access: new Secret(tokens.access_token),
    ...defined({
      refresh,
      expiresAt: tokens.expires_in === undefined ? undefined : now + tokens.expires_in * SECOND_MS,
      scope,
    }),
  };
}

/** Only the metadata that a token request needs. */
export function toMetadata({ issuer, tokenEndpoint }: Pick<Login, "issuer" | "tokenEndpoint">): OAuthMetadata {
  const { url, authMethods } = tokenEndpoint;
  return {
    issuer,
    authorization_endpoint: url,
    token_endpoint: url,
    response_types_supported: ["code"],
    ...defined({ token_endpoint_auth_methods_supported: authMethods && [...authMethods] }),
  };
}

/** The client in the form of the protocol. */
export function toClientInformation({ id, secret, authMethod }: LoginClient): {
  client_id: string;
  client_secret?: string;
  token_endpoint_auth_method?: string;
} {
  return {
    client_id: id,
    ...defined({ client_secret: secret?.reveal(), token_endpoint_auth_method: authMethod }),
  };
}

/** The string that the vault seals. */
export function toLoginText(login: Login): Secret {
  const { client, access, refresh, ...rest } = login;
  return new Secret(
    JSON.stringify({
      ...rest,
      client: { ...client, ...defined({ secret: client.secret?.reveal() }) },
      access: access.reveal(),
      ...defined({ refresh: refresh?.reveal() }),
    }),
  );
}

/** Returns `undefined` for a text that is not the login of exactly this key. */
export function parseLoginText(text: Secret, key: LoginKey): Login | undefined {
  const raw: unknown = parseJson(text.reveal());
  if (!isJsonObject(raw)) return undefined;
  const { upstream, issuer, resource, client, tokenEndpoint, revocation, access, refresh, expiresAt, scope } = raw;
  if (upstream !== key.upstream || issuer !== key.issuer || resource !== key.resource) return undefined;
  if (!isJsonObject(client) || !isJsonObject(tokenEndpoint) || typeof access !== "string") return undefined;
  return {
    ...key,
    client: parseClient(client),
    tokenEndpoint: parseEndpoint(tokenEndpoint),
    ...(isJsonObject(revocation) && { revocation: parseEndpoint(revocation) }),
    access: new Secret(access),
    ...(typeof refresh === "string" && { refresh: new Secret(refresh) }),
    ...(typeof expiresAt === "number" && { expiresAt }),
    ...(typeof scope === "string" && { scope }),
  };
}

function parseClient({ id, secret, authMethod }: JsonObject): LoginClient {
  return {
    id: typeof id === "string" ? id : "",
    ...(typeof secret === "string" && { secret: new Secret(secret) }),
    ...(typeof authMethod === "string" && { authMethod }),
  };
}

function parseEndpoint({ url, authMethods }: JsonObject): TokenEndpoint {
  const methods = Array.isArray(authMethods) ? authMethods.filter((one) => typeof one === "string") : undefined;
  return { url: typeof url === "string" ? url : "", authMethods: methods };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
