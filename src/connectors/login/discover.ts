/**
 * Finds the authorization server of an upstream: protected resource metadata (RFC 9728), then the metadata of the
 * authorization server (RFC 8414 or OpenID Connect). Both are checked against their origin.
 */

import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  resourceUrlFromServerUrl,
} from "@modelcontextprotocol/client";
import type { OAuthProtectedResourceMetadata } from "@modelcontextprotocol/client";

import type { ConnectorId } from "../../domain/index.ts";
import type { FetchLike } from "../../egress/index.ts";

import { loginRefused } from "./login-errors.ts";

export type DiscoveredLogin = Awaited<ReturnType<typeof discoverLogin>>;

/** Sends a request without a credential and follows the challenge. */
export async function discoverLogin({
  id,
  kind,
  url,
  fetch,
}: {
  readonly id: ConnectorId;
  readonly kind: "http" | "sse";
  readonly url: string;
  readonly fetch: FetchLike;
}) {
  const challenge = await askForChallenge(kind, url, fetch);
  const found = await findResource(url, challenge.resourceMetadataUrl, fetch);
  // A token for another resource than the upstream would be valid elsewhere (RFC 9728 §3.3).
  if (found && !isForResource(url, found.resource)) {
    const hint = "Configure the upstream with the address in its metadata, or report it to the server's operator";
    throw loginRefused(id, "its metadata is for another resource than this upstream", hint);
  }
  const issuer = found?.authorization_servers?.[0] ?? new URL("/", url).href;
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  if (!metadata) throw loginRefused(id, "no authorization server was found", "Set a credential in headers instead");
  // Without PKCE a stolen code is a stolen login. A server that does not announce it counts as one without.
  if (!metadata.code_challenge_methods_supported?.includes("S256")) {
    const hint = "Set a credential in headers instead, or ask the server's operator to support PKCE";
    throw loginRefused(id, "its authorization server does not announce PKCE with S256", hint);
  }
  return {
    metadata,
    /** As the server writes it: the resource that a token is requested for. */
    resource: found?.resource ?? resourceUrlFromServerUrl(url).href,
    /** The scopes that the server requires. */
    scope: challenge.scope ?? found?.scopes_supported?.join(" "),
  };
}

/** Whether a token for `resource` may be sent to `url`. */
export function isForResource(url: string, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  return checkResourceAllowed({ requestedResource: resourceUrlFromServerUrl(url), configuredResource: resource });
}

/** Opens no session, and is refused even by servers that accept an anonymous handshake. */
const QUESTION = {
  method: "POST",
  headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
  body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "tools/list", params: {} }),
};

/** A server that does not refuse may still need a login for some calls. Its well-known address is tried then. */
async function askForChallenge(
  kind: "http" | "sse",
  url: string,
  fetch: FetchLike,
): Promise<ReturnType<typeof extractWWWAuthenticateParams>> {
  const response = await fetch(url, kind === "sse" ? { headers: { accept: "text/event-stream" } } : QUESTION);
  await response.body?.cancel();
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

/** An address that the server named must answer; a well-known address may not exist. */
async function findResource(
  url: string,
  named: URL | undefined,
  fetch: FetchLike,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const options = named ? { resourceMetadataUrl: named } : {};
  return discoverOAuthProtectedResourceMetadata(url, options, fetch).catch((thrown: unknown) => {
    if (named === undefined && thrown instanceof Error && NOTHING_THERE.test(thrown.message)) return undefined;
    throw thrown;
  });
}

/** The client has no error class for these. */
const NOTHING_THERE = /^(?:Resource server does not implement|HTTP 4\d\d trying to load)/;
