/**
 * The authorization code flow (OAuth 2.1) with PKCE, for one login of one upstream. An attempt has one state, one
 * verifier, one issuer and one answer. Everything that does not belong to it is refused.
 */

import {
  computeScopeUnion,
  exchangeAuthorization,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import type { AuthorizationServerMetadata } from "@modelcontextprotocol/client";

import { defined } from "../../domain/index.ts";
import type { ConnectorId, Instant } from "../../domain/index.ts";

import { chooseClient } from "./choose-client.ts";
import type { ClientChoice } from "./choose-client.ts";
import { discoverLogin } from "./discover.ts";
import type { DiscoveredLogin } from "./discover.ts";
import { toClientInformation, withTokens } from "./login.ts";
import type { Login, LoginClient } from "./login.ts";
import { explainLogin, loginRefused } from "./login-errors.ts";
import { checkLoginUrl, createLoginFetch } from "./login-fetch.ts";
import type { LoginReach } from "./login-fetch.ts";

export interface LoginRequest extends LoginReach {
  readonly id: ConnectorId;
  readonly kind: "http" | "sse";
  readonly choice: ClientChoice;
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
  const { id } = request;
  try {
    return await begin(request);
  } catch (thrown) {
    throw explainLogin(thrown, id);
  }
}

interface LoginAttempt {
  readonly discovered: DiscoveredLogin;
  readonly client: LoginClient;
  readonly codeVerifier: string;
  readonly scope: string | undefined;
}

async function begin(request: LoginRequest): Promise<PendingLogin> {
  const { id, redirectUri, state, choice } = request;
  const fetch = createLoginFetch(request);
  const discovered = await discoverLogin({ ...request, fetch });
  const { metadata, resource } = discovered;
  const scope = chooseScope(request, discovered);
  const client = await chooseClient({ id, choice, metadata, redirectUri, scope, fetch });
  const { authorizationUrl, codeVerifier } = await startAuthorization(metadata.issuer, {
    metadata,
    clientInformation: toClientInformation(client),
    redirectUrl: redirectUri,
    state,
    resource,
    ...defined({ scope }),
  });
  let isUsed = false;
  return {
    authorizationUrl: checkLoginUrl(authorizationUrl.href, request),
    issuer: metadata.issuer,
    finish: async (answer) => {
      if (isUsed) throw loginRefused(id, "this login was answered already", "Start another one");
      isUsed = true;
      try {
        return await finish(request, { discovered, client, codeVerifier, scope }, answer);
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

async function finish(request: LoginRequest, attempt: LoginAttempt, answer: URLSearchParams): Promise<Login> {
  const { id, redirectUri, now } = request;
  const { discovered, client, codeVerifier, scope } = attempt;
  const { metadata, resource } = discovered;
  const { code, iss } = readAnswer(request, metadata, answer);
  const tokens = await exchangeAuthorization(metadata.issuer, {
    metadata,
    clientInformation: toClientInformation(client),
    authorizationCode: code,
    codeVerifier,
    redirectUri,
    resource,
    fetchFn: createLoginFetch(request),
    ...defined({ iss }),
  });
  if (tokens.token_type.toLowerCase() !== "bearer") {
    throw loginRefused(
      id,
      "the token has a type that Glovebox does not support",
      "Set a credential in headers instead",
    );
  }
  const { issuer, token_endpoint: url, token_endpoint_auth_methods_supported: authMethods } = metadata;
  const tokenEndpoint = { url, authMethods };
  const key = { upstream: id, issuer, resource };
  const more = { ...findRevocation(metadata, authMethods), ...defined({ scope }) };
  return withTokens({ ...key, client, tokenEndpoint, ...more }, tokens, now());
}

/** The client authenticates as at the token endpoint, unless the server specifies otherwise (RFC 8414 §2). */
function findRevocation(
  metadata: AuthorizationServerMetadata,
  usual: readonly string[] | undefined,
): Pick<Login, "revocation"> {
  if (!("revocation_endpoint" in metadata) || typeof metadata.revocation_endpoint !== "string") return {};
  const { revocation_endpoint: url, revocation_endpoint_auth_methods_supported: own } = metadata;
  const isList = Array.isArray(own) && own.every((method) => typeof method === "string");
  return { revocation: { url, authMethods: isList ? own : usual } };
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
  throw loginRefused(
    id,
    `the authorization server answered ${error}`,
    "Start another login, or ask the server's operator",
  );
}
