/** Logins and sessions over the admin API. A person has their own sessions, an operator those of all. */

import { Hono } from "hono";
import type { Context } from "hono";
import * as z from "zod";

import { GloveboxError, defined, hasRole } from "../../domain/index.ts";
import type { Identity, OpenedSession } from "../../identity/index.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import { findSession, refuseCrossSite, requireRole, writeCookie } from "./authenticate.ts";
import type { AppEnv, Caller } from "./authenticate.ts";
import type { LoginAnswer, SessionAnswer, SessionsAnswer, TokenAnswer } from "./contract.ts";
import { addPeople } from "./people-routes.ts";
import { addPasskeyLogin, addPasskeys, findPasskeyPlace } from "./passkey-routes.ts";

const CODE = z.strictObject({ code: z.string().max(200) });
const PASSWORD = z.strictObject({ name: z.string().max(200), password: z.string().max(1_000) });
const INVITE = z.strictObject({ code: z.string().max(200), password: z.string().max(1_000) });
const LOGOUT = z.strictObject({ all: z.enum(["true", "false"]).default("false") });
const OTHER_LOGIN = /^\/api\/login\/(?:providers\/[^/]+|passkey|passkey\/start)$/;

/** Requests that need no caller: they make one. */
export function isLogin(method: string, path: string, auth: LoginDoor["auth"]): boolean {
  if (method === "GET") return path === "/api/login";
  if (method !== "POST") return false;
  if (path === "/api/session") return true;
  return auth === "required" && (path === "/api/login" || path === "/api/invite" || OTHER_LOGIN.test(path));
}

interface LoginDoor {
  readonly identity: Identity;
  /** People log in with a password where a login is required; on this machine they use `glovebox open`. */
  readonly auth: "local" | "required";
  readonly now: () => number;
  readonly pageUrl: () => string;
}

/**
 * Mounted under `/api`, before a caller is known. A session is always new, and ends the one that the browser had: what a
 * browser sends is never reused.
 */
export function createLoginRoutes({ identity, auth, now, pageUrl }: LoginDoor): Hono<AppEnv> {
  const { sessions, logins, providers } = identity;
  const routes = new Hono<AppEnv>();
  const hasPasswords = auth === "required";
  const answer = async (c: Context<AppEnv>, opened: OpenedSession | undefined, refusal: readonly [string, string]) => {
    const { headers } = c.req.raw;
    const client = c.get("client");
    if (!opened) throw new GloveboxError("REQUEST_UNAUTHENTICATED", refusal[0], { hint: refusal[1] });
    const former = await findSession(headers, client, sessions);
    if (former) await sessions.end({ id: former.id }, former.principal);
    c.header("set-cookie", writeCookie(headers, client, opened, now()));
    return c.json({ opened: opened.id, expiresAt: opened.expiresAt });
  };
  routes.get("/login", (c) => {
    if (!hasPasswords) return c.json({ password: false, providers: [] } satisfies LoginAnswer);
    const passkeyOrigin = findPasskeyPlace(pageUrl())?.pageOrigin;
    const offer = { password: true, providers: [...(providers?.list() ?? [])], ...defined({ passkeyOrigin }) };
    return c.json(offer satisfies LoginAnswer);
  });
  routes.post("/session", async (c) => {
    refuseCrossSite(c.req.raw.headers);
    const { code } = parseRequest(CODE, await readBody(c.req.raw), "body");
    return answer(c, await sessions.redeem(code, c.get("client").origin), UNKNOWN_CODE);
  });
  if (!hasPasswords) return routes;
  addPasskeyLogin(routes, { identity, pageUrl, answer });
  routes.post("/login", async (c) => {
    refuseCrossSite(c.req.raw.headers);
    const who = parseRequest(PASSWORD, await readBody(c.req.raw), "body");
    return answer(c, await logins.enter(who, c.get("client").origin), WRONG_PASSWORD);
  });
  routes.post("/invite", async (c) => {
    refuseCrossSite(c.req.raw.headers);
    const { code, password } = parseRequest(INVITE, await readBody(c.req.raw), "body");
    return answer(c, await logins.accept(code, password, c.get("client").origin), UNKNOWN_INVITE);
  });
  return routes;
}

const UNKNOWN_CODE = ["The code is unknown, used or older than a minute", "Run `glovebox open` again"] as const;
const WRONG_PASSWORD = [
  "The name or the password is wrong",
  "An operator can make a new link: glovebox people invite",
] as const;
const UNKNOWN_INVITE = [
  "The link is unknown, used or expired",
  "Ask an operator for a new one: glovebox people invite",
] as const;

/** Mounted under `/api`, after the caller is known. */
export function createIdentityRoutes({ identity, auth, pageUrl }: LoginDoor): Hono<AppEnv> {
  const { sessions, providers } = identity;
  const routes = new Hono<AppEnv>();
  if (auth === "required") addPasskeys(routes, { identity, pageUrl });
  routes.get("/session", async (c) => {
    const caller = c.get("caller");
    return c.json(describeSession(caller, await providers?.findOf(caller.principal)));
  });
  routes.delete("/session", async (c) => {
    const { session, principal } = c.get("caller");
    const { all } = parseRequest(LOGOUT, c.req.query(), "query");
    const which = all === "true" ? { principal: principal.id } : { id: session?.id ?? "" };
    const ended = session ? await sessions.end(which, principal) : 0;
    c.header("set-cookie", writeCookie(c.req.raw.headers, c.get("client")));
    return c.json({ ended });
  });
  routes.post("/session/token", async (c) => {
    const { session, isProgram = false } = c.get("caller");
    // A token that could renew itself would live as long as the session.
    const issued = session && !isProgram ? await sessions.createToken(session.id) : undefined;
    if (!issued) throw needsBrowser();
    return c.json(issued satisfies TokenAnswer);
  });
  addSessions(routes, sessions);
  addPeople(routes, { identity, auth, pageUrl });
  return routes;
}

/** A person lists and ends their own sessions; an operator those of all. A session of another is like one that ended. */
function addSessions(routes: Hono<AppEnv>, sessions: Identity["sessions"]): void {
  const list = async (caller: Caller) => {
    if (!caller.session) requireRole(caller, ["operator"]);
    const { principal } = caller;
    const found = await sessions.list();
    return hasRole(principal, "operator") ? found : found.filter((one) => one.principal === principal.id);
  };
  routes.get("/sessions", async (c) => {
    const caller = c.get("caller");
    const answer = { sessions: await list(caller), ...defined({ current: caller.session?.id }) };
    return c.json(answer satisfies SessionsAnswer);
  });
  routes.delete("/sessions", async (c) => {
    const caller = c.get("caller");
    requireRole(caller, ["operator"]);
    return c.json({ ended: await sessions.end("all", caller.principal) });
  });
  routes.delete("/sessions/:id", async (c) => {
    const caller = c.get("caller");
    const found = (await list(caller)).find(({ id }) => id === c.req.param("id"));
    return c.json({ ended: found ? await sessions.end({ id: found.id }, caller.principal) : 0 });
  });
}

function needsBrowser(): GloveboxError {
  return new GloveboxError("REQUEST_FORBIDDEN", "Only the session of a browser gets a token for a program", {
    hint: "Log in with POST /api/login, and ask for the token with the cookie of the session",
  });
}

function describeSession({ principal, session }: Caller, provider: string | undefined): SessionAnswer {
  const { id, roles = [] } = principal;
  const authenticatedAt = session?.authenticatedAt ?? 0;
  return { principal: id, roles: [...roles], authenticatedAt, ...defined({ provider }) };
}
