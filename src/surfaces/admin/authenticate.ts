/** Who makes an HTTP request: by a bearer token, by the cookie of a session, or as a process of this user. */

import { createHash, timingSafeEqual } from "node:crypto";

import { GloveboxError, defined, hasRole } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import { AGENT_SCOPES, isOfAgent } from "../../identity/index.ts";
import type { FoundSession, Identity, OpenedSession, TokenScope } from "../../identity/index.ts";
import type { ClientAddress } from "./client-address.ts";
import { STEP_UP } from "./contract.ts";

/** The verified maker of a request. */
export interface Caller {
  readonly principal: Principal;
  /** What its token allows; absent for a process of this user and for a person, who are not limited by scopes. */
  readonly scopes?: readonly TokenScope[];
  /** Present for a person in a browser, and for a program with a token of that session. */
  readonly session?: FoundSession;
  /** True for a program with a token of a session. */
  readonly isProgram?: boolean;
}

/** One connection, as far as the application needs it. */
export interface ClientConnection {
  readonly address: string;
  readonly isEncrypted: boolean;
  /** True if the other end is a process of this user on this machine; looked up once. */
  isOfOwner(): Promise<boolean>;
}

/** The variables and bindings of the application. */
export interface AppEnv {
  Bindings: { readonly connection: ClientConnection };
  Variables: { client: ClientAddress; caller: Caller };
}

export interface AuthOptions {
  readonly identity: Identity;
  readonly auth: "local" | "required";
  /** Accepted as the local client in local mode. */
  readonly localToken?: string | undefined;
  /** The public address, without a slash at the end. */
  readonly url: string;
  /** How long after a login a session may change something; without it or with 0, as long as it lasts. */
  readonly stepUpMs?: number;
  readonly now: () => number;
}

/** An error with the challenge that tells a client what to send. */
export class AuthenticationError extends GloveboxError {
  readonly challenge: string;

  constructor(code: "REQUEST_UNAUTHENTICATED" | "REQUEST_FORBIDDEN", message: string, hint: string, challenge: string) {
    super(code, message, { hint });
    this.challenge = challenge;
  }
}

const MAX_AUTHORIZATION_CHARS = 8_192;

export function createAuthenticator({ identity, auth, localToken, url, stepUpMs = 0, now }: AuthOptions) {
  const metadata = auth === "required" ? `resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"` : "";
  const challenge = (...parts: readonly string[]): string =>
    `Bearer ${[...parts, metadata].filter((part) => part !== "").join(", ") || 'realm="glovebox"'}`;
  const unauthenticated = (message: string, ...parts: readonly string[]): AuthenticationError =>
    new AuthenticationError("REQUEST_UNAUTHENTICATED", message, HINTS[auth], challenge(...parts));

  /** Returns `undefined` without a bearer token. Rejects for a wrong one: it must not fall back to another identity. */
  const readBearer = async (headers: Headers, origin: string): Promise<Caller | undefined> => {
    const sent = headers.get("authorization");
    if (sent === null) return undefined;
    const token = parseBearer(sent);
    if (token !== undefined && auth === "local" && localToken !== undefined && isSame(token, localToken))
      return { principal: await identity.local() };
    const verified = await identity.verify({ text: token ?? "", origin, resource: `${url}/mcp` });
    if (verified) return { principal: verified.principal, scopes: verified.scopes };
    throw unauthenticated("The access token is not valid", 'error="invalid_token"');
  };
  /** A forwarded request comes from elsewhere, even if the proxy runs as this user. */
  const readOwner = async (client: ClientAddress, connection: ClientConnection): Promise<Caller | undefined> => {
    if (auth !== "local" || client.isForwarded || !(await connection.isOfOwner())) return undefined;
    return { principal: await identity.local() };
  };

  return {
    /** For `/mcp` and `/metrics`. */
    async identify(headers: Headers, client: ClientAddress, connection: ClientConnection): Promise<Caller> {
      const caller = (await readBearer(headers, client.origin)) ?? (await readOwner(client, connection));
      if (caller) return caller;
      throw unauthenticated("This gateway needs an access token");
    },
    /** For the API of the page: a person with a session or a token of it, or a service with a token. */
    async identifyForApi(headers: Headers, method: string, client: ClientAddress): Promise<Caller> {
      const program = await findProgram(headers, client, identity.sessions);
      if (program === "refused") throw unauthenticated("The access token is not valid", 'error="invalid_token"');
      if (program) return program;
      const bearer = await readBearer(headers, client.origin);
      if (bearer) return bearer;
      const session = await findSession(headers, client, identity.sessions);
      if (!session) throw unauthenticated("This needs a session; open the page with `glovebox open`");
      if (method !== "GET" && method !== "HEAD") refuseCrossSite(headers);
      return { principal: session.principal, session };
    },
    /** Rejects, as RFC 9470 describes, a change in a session whose last login is too long ago or in the future. */
    requireRecentLogin({ session }: Caller): void {
      if (!session || stepUpMs === 0 || Math.abs(now() - session.authenticatedAt) <= stepUpMs) return;
      const sent = challenge(`error="${STEP_UP}"`, `max_age="${stepUpMs / 1000}"`);
      throw new AuthenticationError("REQUEST_UNAUTHENTICATED", ...STALE_LOGIN, sent);
    },
    /** Rejects with REQUEST_FORBIDDEN unless the caller's token has all of these scopes. Names all of them at once. */
    requireScopes({ scopes }: Caller, ...wanted: readonly TokenScope[]): void {
      if (!scopes || wanted.every((scope) => isCovered(scope, scopes))) return;
      throw lacksScope(wanted, challenge);
    },
    /** The same unless the caller is an agent: a service has no business at `/mcp`. */
    requireAgent({ scopes }: Caller): void {
      if (scopes && !isOfAgent(scopes)) throw lacksScope(["execute", "search"], challenge);
    },
  };
}

/** An agent has no business at the API of the page, unless its token has a scope of a service, too. */
export function refuseAgent({ principal, session, scopes = [] }: Caller): void {
  if (session || principal.kind !== "agent" || scopes.some((scope) => !AGENT_SCOPES.includes(scope))) return;
  throw new GloveboxError("REQUEST_FORBIDDEN", `${principal.id} is an agent, and the admin API is for people`, {
    hint: "Open the page with `glovebox open`, or use an access token with ledger:read or approvals:read",
  });
}

function lacksScope(
  wanted: readonly TokenScope[],
  challenge: (...parts: readonly string[]) => string,
): AuthenticationError {
  return new AuthenticationError(
    "REQUEST_FORBIDDEN",
    `The access token lacks a scope; this needs ${wanted.join(", ")}`,
    "Use a token that has them: glovebox tokens create NAME --scopes …",
    challenge('error="insufficient_scope"', `scope="${wanted.join(" ")}"`),
  );
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

/** A program with a token of a person's session. */
async function findProgram(
  headers: Headers,
  { origin }: ClientAddress,
  sessions: Identity["sessions"],
): Promise<Caller | "refused" | undefined> {
  const text = parseBearer(headers.get("authorization") ?? "") ?? "";
  const found = await sessions.findByToken(text, origin);
  return typeof found === "object" ? { principal: found.principal, session: found, isProgram: true } : found;
}

function parseBearer(sent: string): string | undefined {
  return sent.length > MAX_AUTHORIZATION_CHARS ? undefined : /^Bearer +(\S+)$/i.exec(sent)?.[1];
}

const HINTS = {
  local: "Run the client as the user who started Glovebox, or send the token in local.token beside the store",
  required: "Send `Authorization: Bearer gbx_…`; an operator makes one with `glovebox tokens create`",
} as const;

const STALE_LOGIN = [
  "A change needs a recent login, and that of this session is too long ago",
  "Log in again and repeat it; on the machine of the gateway use `glovebox open`",
] as const;

/** `execute` covers `execute:read`, and reads are all that `execute:read` allows: the bridge refuses the rest. */
function isCovered(scope: TokenScope, scopes: readonly TokenScope[]): boolean {
  if (scopes.includes(scope)) return true;
  return scope === "execute" ? scopes.includes("execute:read") : scope === "execute:read" && scopes.includes("execute");
}

/** A person with one of these roles, or a service with the scope where one is named. */
export function requireRole(caller: Caller, roles: Parameters<typeof hasRole>[1][], scope?: TokenScope): void {
  if (hasRole(caller.principal, ...roles)) return;
  if (scope !== undefined && caller.scopes?.includes(scope)) return;
  const need = [
    `the role ${roles.join(" or ")}`,
    ...(scope === undefined ? [] : [`an access token with the scope ${scope}`]),
  ];
  throw new GloveboxError(
    "REQUEST_FORBIDDEN",
    `${caller.principal.id} may not do this; it needs ${need.join(", or ")}`,
    {
      hint: "An operator changes roles with `glovebox people roles`",
    },
  );
}

/** Browsers state where a request comes from. A request with a cookie that does not is refused. */
export function refuseCrossSite(headers: Headers): void {
  // `Origin` was compared with the own addresses before.
  if (headers.has("origin") || headers.get("sec-fetch-site") === "same-origin") return;
  throw new GloveboxError("REQUEST_FORBIDDEN", "A change with a session needs the Origin header of the page", {
    hint: "Use the page, or an access token",
  });
}

/** Cookies are shared by all ports of a host, so the name has the port; over https the prefix binds it to the host. */
function cookieName(headers: Headers, { isEncrypted }: ClientAddress, use?: string): string {
  const name = use === undefined ? "glovebox" : `glovebox-${use}`;
  if (isEncrypted) return `__Host-${name}`;
  const [, port = "80"] = /:(\d{1,5})$/.exec(headers.get("host") ?? "") ?? [];
  return `${name}-${port}`;
}

/** Without `use` that of a session. */
export function readCookie(headers: Headers, client: ClientAddress, use?: string): string | undefined {
  const wanted = `${cookieName(headers, client, use)}=`;
  const found = (headers.get("cookie") ?? "").split(";").map((one) => one.trim());
  return found.find((one) => one.startsWith(wanted))?.slice(wanted.length);
}

/** The session of a browser. */
export async function findSession(
  headers: Headers,
  client: ClientAddress,
  sessions: Pick<Identity["sessions"], "find">,
): Promise<FoundSession | undefined> {
  const secret = readCookie(headers, client);
  return secret === undefined ? undefined : sessions.find(secret, client.origin);
}

/** A header that stores something for navigations from other sites, or removes it after 0 seconds. */
export function toCookie(
  headers: Headers,
  client: ClientAddress,
  { use, value, seconds }: { readonly use: string; readonly value: string; readonly seconds: number },
): string {
  const attributes = ["Path=/", "HttpOnly", "SameSite=Lax", `Max-Age=${seconds}`];
  return [`${cookieName(headers, client, use)}=${value}`, ...attributes, ...secure(client)].join("; ");
}

/** The header that stores a session in the browser, or removes it. */
export function writeCookie(headers: Headers, client: ClientAddress, session?: OpenedSession, now = 0): string {
  const seconds = session ? Math.floor((session.expiresAt - now) / 1000) : 0;
  const attributes = ["Path=/", "HttpOnly", "SameSite=Strict", `Max-Age=${seconds}`];
  return [`${cookieName(headers, client)}=${session?.secret ?? ""}`, ...attributes, ...secure(client)].join("; ");
}

function secure({ isEncrypted }: ClientAddress): readonly string[] {
  return isEncrypted ? ["Secure"] : [];
}

/** RFC 9728. `issuers` are the authorization servers of this gateway. */
export function describeResource(url: string, scopes: readonly TokenScope[], issuers?: readonly string[]) {
  return {
    resource: `${url}/mcp`,
    resource_name: "Glovebox",
    bearer_methods_supported: ["header"],
    scopes_supported: scopes,
    ...defined({ authorization_servers: issuers }),
  };
}

/** Digests are compared, so that the time reveals neither the length nor a common prefix. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
