/** Requests to the authorization server, as far as they are checked before the package sees them. */

import type { TokenScope } from "../scopes.ts";

import { PATHS } from "./create-provider.ts";
import { readScopes } from "./oauth-agent.ts";

/** A request for the package, which wants objects of Node's HTTP server. */
export interface PreparedRequest {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface OauthRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  /** The address of the client. */
  readonly origin: string;
}

export const UID = /^[A-Za-z0-9_-]{21,43}$/;
/** Of an authorization request. Others, such as those of OpenID Connect, are ignored. */
const PARAMETERS: readonly string[] = [
  "client_id",
  "redirect_uri",
  "response_type",
  "state",
  "code_challenge",
  "code_challenge_method",
  "resource",
];
const DEFAULT_SCOPES: readonly TokenScope[] = ["execute", "search"];
const PASSED_HEADERS = ["authorization", "content-type", "cookie"] as const;

export type Route =
  | { readonly kind: "start" | "resume"; readonly window: "authorization" }
  | { readonly kind: "token" | "revocation"; readonly window: "token" }
  | { readonly kind: "registration"; readonly window: "registration" }
  | { readonly kind: "finish"; readonly window: "authorization"; readonly uid: string };

export function findRoute(method: string, path: string): Route | undefined {
  if (method === "POST") {
    if (path === PATHS.token) return { kind: "token", window: "token" };
    if (path === PATHS.revocation) return { kind: "revocation", window: "token" };
    return path === PATHS.registration ? { kind: "registration", window: "registration" } : undefined;
  }
  if (method !== "GET") return undefined;
  if (path === PATHS.authorization) return { kind: "start", window: "authorization" };
  const [, resumed = ""] = /^\/oauth\/authorize\/([^/]+)$/.exec(path) ?? [];
  if (UID.test(resumed)) return { kind: "resume", window: "authorization" };
  const [, uid = ""] = /^\/oauth\/consent\/([^/]+)\/finish$/.exec(path) ?? [];
  return UID.test(uid) ? { kind: "finish", window: "authorization", uid } : undefined;
}

/** A client that names no scope of this gateway asks for the usual ones. Repeated parameters stay, to be refused. */
export function toAuthorizationQuery(given: URLSearchParams): URLSearchParams {
  const kept = new URLSearchParams([...given].filter(([name]) => PARAMETERS.includes(name)));
  if (given.get("prompt") === "none") kept.set("prompt", "none");
  const known = readScopes(given.getAll("scope").join(" ").split(" "));
  kept.set("scope", (known.length > 0 ? known : DEFAULT_SCOPES).join(" "));
  return kept;
}

/** The package trusts these: the address is the one of the configuration, whatever the request says. */
export function toHeaders(issuer: string, { headers }: OauthRequest, body: string): Record<string, string> {
  const { host, protocol } = new URL(issuer);
  const passed = PASSED_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(passed),
    accept: "application/json",
    host,
    "x-forwarded-proto": protocol.slice(0, -1),
    ...(body !== "" && { "content-length": String(Buffer.byteLength(body)) }),
  };
}
