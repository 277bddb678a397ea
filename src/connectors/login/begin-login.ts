/**
 * The authorization code flow (OAuth 2.1) with PKCE, for one login of one upstream. An attempt has one state, one
 * verifier, one issuer and one answer. Everything that does not belong to it is refused.
 */

import {
  computeScopeUnion,
  exchangeAuthorization,
  registerClient,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import type { AuthorizationServerMetadata } from "@modelcontextprotocol/client";

import { defined } from "../../domain/index.ts";
import type { ConnectorId, Instant } from "../../domain/index.ts";
import { Secret } from "../../vault/index.ts";

import { discoverLogin } from "./discover.ts";
import type { DiscoveredLogin } from "./discover.ts";
import { explainLogin, loginRefused } from "./login-errors.ts";
import { checkLoginUrl, createLoginFetch } from "./login-fetch.ts";
import type { LoginReach } from "./login-fetch.ts";
import { toClientInformation, withTokens } from "./login-store.ts";
import type { Login } from "./login-store.ts";

export interface LoginRequest extends LoginReach {
  readonly id: ConnectorId;
  readonly kind: "http" | "sse";
  /** The client that the operator configured. */
  readonly choice: {
    readonly clientId?: string;
    readonly clientSecret?: Secret;
    /** An https URL of the operator with a client ID metadata document. */
    readonly clientMetadataUrl?: string;
  };
  /** The scopes that the operator wants; if empty, those that the server requires. */
  readonly scopes: readonly string[];
  /** Requested in addition: scopes that a call lacked, and those of an earlier login. */
  readonly moreScopes: readonly string[];
  /** Receives the answer, on this machine. */
  readonly redirectUri: string;
  /** Unguessable, and new for each attempt. */
  readonly state: string;
  readonly now: () => Instant;
}

/** A login that waits for a person. */
export interface PendingLogin {
  /** To be opened in the person's browser. */
  readonly authorizationUrl: URL;
  readonly issuer: string;
  /** Takes the parameters of the redirect, once. Rejects with a remedy. */
  finish(answer: URLSearchParams): Promise<Login>;
}

/**
 * Discovers the authorization server, chooses a client and creates the URL that a person has to open. Stores nothing.
 */
export async function beginLogin(request: LoginRequest): Promise<PendingLogin> {
  try {
    return await begin(request);
  } catch (thrown) {
    throw explainLogin(thrown, request.id);
  }
}

async function begin(request: LoginRequest): Promise<PendingLogin> {
  const { id, redirectUri, state, now } = request;
  const fetchFn = createLoginFetch(request);
  const discovered = await discoverLogin({ ...request, fetch: fetchFn });
  const { metadata, resource } = discovered;
  const { issuer, token_endpoint: url, token_endpoint_auth_methods_supported: authMethods } = metadata;
  const scope = chooseScope(request, discovered);
  const client = await chooseClient(request, metadata, scope);
  const query = { metadata, resource, redirectUrl: redirectUri, state, ...defined({ scope }) };
  // A client secret is plain text only while it is used, not while the person logs in.
  const identify = () => ({ clientInformation: toClientInformation(client) });
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, { ...query, ...identify() });

  async function finish(answer: URLSearchParams): Promise<Login> {
    const { code: authorizationCode, iss } = readAnswer(request, metadata, answer);
    const proof = { metadata, resource, authorizationCode, codeVerifier, redirectUri, ...defined({ iss }) };
    const tokens = await exchangeAuthorization(issuer, { ...proof, ...identify(), fetchFn });
    if (tokens.token_type.toLowerCase() !== "bearer") {
      const hint = "Set a credential in headers instead";
      throw loginRefused(id, "the token has a type that Glovebox does not support", hint);
    }
    const revocation = findRevocation(metadata, authMethods);
    const tokenEndpoint = { url, authMethods };
    return withTokens({ upstream: id, issuer, resource, client, tokenEndpoint, revocation, scope }, tokens, now());
  }

  let isUsed = false;
  return {
    authorizationUrl: checkLoginUrl(authorizationUrl.href, request),
    issuer,
    finish: async (answer) => {
      if (isUsed) throw loginRefused(id, "this login was answered already", "Start another one");
      isUsed = true;
      try {
        return await finish(answer);
      } catch (thrown) {
        throw explainLogin(thrown, id);
      }
    },
  };
}

/** Some servers give out a refresh token only for `offline_access`. */
function chooseScope({ scopes, moreScopes }: LoginRequest, { scope, metadata }: DiscoveredLogin): string | undefined {
  const wanted = computeScopeUnion(scopes.length > 0 ? scopes.join(" ") : scope, ...moreScopes);
  const offersRefresh = metadata.scopes_supported?.includes("offline_access") === true;
  return wanted !== undefined && offersRefresh ? computeScopeUnion(wanted, "offline_access") : wanted;
}

/** A public client if possible: a program on a user's machine cannot keep a client secret. */
const METHODS = ["none", "client_secret_basic", "client_secret_post"];

/**
 * Configured, described by a metadata document, or registered now: for one login only, because the port of its callback
 * differs each time.
 */
async function chooseClient(
  request: LoginRequest,
  metadata: AuthorizationServerMetadata,
  scope: string | undefined,
): Promise<Login["client"]> {
  const { clientId, clientSecret, clientMetadataUrl } = request.choice;
  if (clientId !== undefined) return { id: clientId, secret: clientSecret };
  const takesDocument =
    "client_id_metadata_document_supported" in metadata && metadata.client_id_metadata_document_supported === true;
  if (takesDocument && clientMetadataUrl !== undefined) return { id: clientMetadataUrl, authMethod: "none" };
  if (metadata.registration_endpoint === undefined) {
    const document = takesDocument ? ", or oauth.clientMetadataUrl" : "";
    const hint = `Register a client there with the redirect URI http://127.0.0.1/callback, and set oauth.clientId${document}`;
    throw loginRefused(request.id, "its authorization server does not support client registration", hint);
  }
  const method = METHODS.find((one) => metadata.token_endpoint_auth_methods_supported?.includes(one));
  const registered = await registerClient(metadata.issuer, {
    metadata,
    clientMetadata: {
      client_name: "Glovebox",
      redirect_uris: [request.redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      application_type: "native",
      ...defined({ token_endpoint_auth_method: method }),
    },
    ...defined({ scope }),
    fetchFn: createLoginFetch(request),
  });
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: authMethod = method } = registered;
  return { id, secret: secret === undefined ? undefined : new Secret(secret), authMethod };
}

/** The client authenticates as at the token endpoint, unless the server specifies otherwise (RFC 8414 §2). */
function findRevocation(metadata: AuthorizationServerMetadata, usual: string[] | undefined): Login["revocation"] {
  if (!("revocation_endpoint" in metadata) || typeof metadata.revocation_endpoint !== "string") return undefined;
  const { revocation_endpoint: url, revocation_endpoint_auth_methods_supported: own } = metadata;
  const isList = Array.isArray(own) && own.every((method) => typeof method === "string");
  return { url, authMethods: isList ? own : usual };
}

/** State and issuer are checked first: until both are right, nothing else in the answer is trusted (RFC 9207 §2.4). */
function readAnswer(
  { id, state }: LoginRequest,
  metadata: AuthorizationServerMetadata,
  answer: URLSearchParams,
): { readonly code: string; readonly iss: string | undefined } {
  const repeated = ["state", "iss", "code", "error"].some((name) => answer.getAll(name).length > 1);
  if (repeated || answer.get("state") !== state) {
    throw loginRefused(id, "the answer does not belong to this login", "Start another one");
  }
  const iss = answer.get("iss") ?? undefined;
  const issParameterSupported =
    "authorization_response_iss_parameter_supported" in metadata &&
    metadata.authorization_response_iss_parameter_supported === true;
  validateAuthorizationResponseIssuer({ iss, expectedIssuer: metadata.issuer, issParameterSupported });
  const code = answer.get("code");
  if (code !== null && code !== "" && !answer.has("error")) return { code, iss };
  const error = /^[a-z_]{1,60}$/.exec(answer.get("error") ?? "")?.[0] ?? "no code";
  const hint = "Start another login, or ask the server's operator";
  throw loginRefused(id, `the authorization server answered ${error}`, hint);
}
