/** Puts the token on each request to an upstream, on the host and at the last moment, and reads its refusals. */

import { extractWWWAuthenticateParams } from "@modelcontextprotocol/client";

import type { ConnectorId } from "../../domain/index.ts";
import type { FetchLike } from "../../egress/index.ts";
import type { Secret } from "../../vault/index.ts";

import { LoginNeeded, scopesMissing } from "./login-errors.ts";
import type { TokenSource } from "./token-source.ts";

/**
 * `fetch` is bound to the upstream's own origin, so the token goes nowhere else. A refused request is repeated once
 * with a renewed token: a server that answers 401 has not acted on it.
 */
export function authorizeFetch(id: ConnectorId, fetch: FetchLike, source: TokenSource): FetchLike {
  return async (url, init) => {
    const token = await source.current();
    const response = await fetch(url, withToken(init, token));
    if (response.status !== 401) return checkScope(id, response);
    await response.body?.cancel();
    const next = token && (await source.renew(token));
    if (!next) throw new LoginNeeded(id, token ? "its login has ended" : "it asks for a login");
    const again = await fetch(url, withToken(init, next));
    if (again.status !== 401) return checkScope(id, again);
    await again.body?.cancel();
    throw new LoginNeeded(id, "it does not accept the token of its login");
  };
}

function withToken(init: RequestInit = {}, token: Secret | undefined): RequestInit {
  if (!token) return init;
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token.reveal()}`);
  return { ...init, headers };
}

async function checkScope(id: ConnectorId, response: Response): Promise<Response> {
  if (response.status !== 403) return response;
  const { error, scope } = extractWWWAuthenticateParams(response);
  if (error !== "insufficient_scope") return response;
  await response.body?.cancel();
  throw scopesMissing(id, scope);
}
