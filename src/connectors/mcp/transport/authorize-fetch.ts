/** Adds the token to each request to an upstream, on the host, and handles its refusals. */

import { extractWWWAuthenticateParams } from "@modelcontextprotocol/client";

import { GloveboxError, serverCommand } from "../../../domain/index.ts";
import type { ConnectorId } from "../../../domain/index.ts";
import type { FetchLike } from "../../../egress/index.ts";
import type { Secret } from "../../../vault/index.ts";

import type { TokenSource } from "../../settings.ts";
import { LoginNeeded } from "../../upstream-error.ts";

/** Scopes are shown in a shell command, so only harmless ones are. */
const PLAIN_SCOPE = /^[A-Za-z0-9_.:/-]{1,128}$/;
const MAX_SCOPES = 20;

/**
 * `fetch` is bound to the upstream's own origin, so the token is sent nowhere else. Repeats a refused request once with
 * a renewed token: a server that answers 401 has not acted on it.
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

/** Throws if the login does not cover this call; the connection itself works. */
async function checkScope(id: ConnectorId, response: Response): Promise<Response> {
  if (response.status !== 403) return response;
  const { error, scope = "" } = extractWWWAuthenticateParams(response);
  if (error !== "insufficient_scope") return response;
  await response.body?.cancel();
  const plain = scope.split(" ").filter((one) => PLAIN_SCOPE.test(one));
  const scopes = plain.slice(0, MAX_SCOPES).join(" ");
  const message = `${id}: this call needs scopes that the login lacks${scopes && ` (${scopes})`}`;
  throw new GloveboxError("UPSTREAM_AUTH_REQUIRED", message, {
    hint: `An operator can log in again with them: ${serverCommand("login", id)}${scopes && ` --scope "${scopes}"`}`,
  });
}
