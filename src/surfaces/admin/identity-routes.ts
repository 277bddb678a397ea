/** Sessions, people and access tokens over the admin API. Everything but the own session is for operators. */

import { Hono } from "hono";
import * as z from "zod";

import { GloveboxError, defined, parsePrincipalId } from "../../domain/index.ts";
import type { Identity } from "../../identity/index.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import { refuseCrossSite, requireRole, writeCookie } from "./authenticate.ts";
import type { AppEnv, Caller } from "./authenticate.ts";
import type { SessionAnswer } from "./contract.ts";

const CODE = z.strictObject({ code: z.string().max(200) });
const TOKEN = z.strictObject({
  name: z.string(),
  scopes: z.array(z.string()),
  servers: z.array(z.string()).optional(),
  tools: z.array(z.string()).optional(),
  person: z.string().optional(),
  executionsPerMinute: z.int().min(1).optional(),
  expiresAt: z.int().optional(),
  replace: z.boolean().optional(),
});

/** Mounted under `/api/session`, before a caller is known. A session is always new: what a browser sends is not reused. */
export function createLoginRoutes({ sessions }: Identity, now: () => number): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.post("/", async (c) => {
    refuseCrossSite(c.req.raw.headers);
    const { code } = parseRequest(CODE, await readBody(c.req.raw), "body");
    const client = c.get("client");
    const opened = await sessions.redeem(code, client.origin);
    if (!opened)
      throw new GloveboxError("REQUEST_UNAUTHENTICATED", "The code is unknown, used or older than a minute", {
        hint: "Run `glovebox open` again",
      });
    c.header("set-cookie", writeCookie(c.req.raw.headers, client, opened, now()));
    return c.json({ opened: opened.id, expiresAt: opened.expiresAt });
  });
  return routes;
}

/** Mounted under `/api`, after the caller is known. */
export function createIdentityRoutes({ sessions, tokens, people }: Identity): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get("/session", (c) => c.json(describeSession(c.get("caller"))));
  routes.delete("/session", async (c) => {
    const { session, principal } = c.get("caller");
    if (session) await sessions.end({ id: session.id }, principal);
    c.header("set-cookie", writeCookie(c.req.raw.headers, c.get("client")));
    return c.json({ ended: session ? 1 : 0 });
  });
  for (const path of ["/sessions", "/sessions/*", "/tokens", "/tokens/*", "/people"])
    routes.use(path, async (c, next) => {
      requireRole(c.get("caller"), ["operator"]);
      await next();
    });
  routes.get("/sessions", async (c) => c.json({ sessions: await sessions.list() }));
  routes.delete("/sessions", async (c) => c.json({ ended: await sessions.end("all", c.get("caller").principal) }));
  routes.delete("/sessions/:id", async (c) =>
    c.json({ ended: await sessions.end({ id: c.req.param("id") }, c.get("caller").principal) }),
  );
  routes.get("/people", async (c) => c.json({ people: await people.list() }));
  routes.get("/tokens", async (c) => c.json({ tokens: await tokens.list() }));
  routes.post("/tokens", async (c) => {
    const { person, ...request } = parseRequest(TOKEN, await readBody(c.req.raw), "body");
    const behind = person === undefined ? undefined : parsePrincipalId(`person:${person}`);
    const whole = { ...request, name: request.name, scopes: request.scopes, person: behind };
    const { token, summary } = await tokens.create(withoutAbsent(whole), c.get("caller").principal);
    return c.json({ token, ...summary });
  });
  routes.delete("/tokens/:id", async (c) => c.json(await tokens.revoke(c.req.param("id"), c.get("caller").principal)));
  return routes;
}

type WholeToken = Omit<z.output<typeof TOKEN>, "person"> & { readonly person: ReturnType<typeof parsePrincipalId> };

function withoutAbsent({ name, scopes, ...rest }: WholeToken) {
  return { name, scopes, ...defined(rest) };
}

function describeSession({ principal, session }: Caller): SessionAnswer {
  const { id, roles = [] } = principal;
  return { principal: id, roles: [...roles], authenticatedAt: session?.authenticatedAt ?? 0 };
}
