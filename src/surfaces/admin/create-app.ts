/** The HTTP application: guard, MCP, admin API, admin page, health, readiness. */

import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";

import { Hono } from "hono";
import type { MiddlewareHandler } from "hono";

import { ERRORS, GloveboxError, toPublicError } from "../../domain/index.ts";
import type { HttpDoor, McpHandler } from "../gateway.ts";
import { createApiRoutes, createApprovalRoutes, toHealth, toReadiness } from "./api-routes.ts";
import { AuthenticationError, createAuthenticator, describeResource, isSame } from "./authenticate.ts";
import type { AppEnv, AuthOptions, Authenticator, ClientConnection } from "./authenticate.ts";
import { createClientAddress } from "./client-address.ts";
import { checkAddress, checkBodySize, isLoopback } from "./guard.ts";
import type { OwnAddresses } from "./guard.ts";
import { createExecutionRoutes } from "./execution-routes.ts";
import { createIdentityRoutes, createLoginRoutes, isLogin } from "./identity-routes.ts";
import { createLedgerRoutes } from "./ledger-routes.ts";
import { createLive } from "./live-routes.ts";
import type { LiveDoor } from "./live-routes.ts";
import { addAuthorization, addConsent } from "./oauth-routes.ts";
import type { OauthServer } from "./oauth-routes.ts";
import { addProviderLogins } from "./provider-routes.ts";
import { runNode } from "./run-node.ts";
import { createSecretRoutes } from "./secret-routes.ts";
import { createSkillRoutes } from "./skill-routes.ts";
import { secure } from "./security-headers.ts";
import { CONNECT_PATH, createServerRoutes } from "./server-routes.ts";
import { createWithheldRoutes } from "./withheld-routes.ts";

export interface AppOptions extends HttpDoor {
  readonly addresses: OwnAddresses;
  /** The address that clients use, without a slash at the end. */
  readonly url: string;
  /** The address of the page; by default `url`. */
  readonly pageUrl?: () => string;
  readonly auth: AuthOptions["auth"];
  readonly localToken?: string | undefined;
  readonly stepUpMs?: number;
  readonly trustedProxies?: readonly string[];
  readonly proxyToken?: string | undefined;
  /** True for a page on an address of its own: a browser on this machine needs no proxy, as `glovebox open` says. */
  readonly isReachedDirectly?: boolean;
  /** Answers `/mcp`. Closed with the application. Absent on the address of the page alone. */
  readonly mcp?: McpHandler;
  /** True if the page and its API are served here. */
  readonly hasPage: boolean;
  readonly now: () => number;
}

/** Closing ends MCP sessions and their running executions; `listen` closes the listener. */
export interface App {
  fetch(request: Request, connection: ClientConnection): Response | Promise<Response>;
  /** Running executions end as cancelled; their answers are still sent. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

const METRICS_HEADERS = { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" };

const TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml"],
]);

/** Addresses of views inside the page. */
const VIEWS =
  /^\/(?:login|setup|servers|tools|ledger|people|policy|secrets|sessions|settings|usage|skills(\/[a-z][a-z0-9-]{0,63})?|approvals(\/(?:ap|ir)_[0-9a-f]{24})?|executions(\/ex_[0-9a-f]{24})?)$/;
/** How often open pages are compared with the store. */
const LIVE_MS = 1_000;

/** Scopes that a client can ask for at `/mcp`. */
const MCP_SCOPES = ["execute", "execute:read", "search"] as const;

/** Builds the routes. The guard runs before all of them, also for unknown paths. */
export function createApp(options: AppOptions): App {
  const { gateway, report, mcp, hasPage } = options;
  const app = new Hono<AppEnv>();
  const authenticator = createAuthenticator(options);

  app.use(createGuard(options));
  app.onError((thrown) => respondError(thrown, report));
  app.notFound(() => respondError(new GloveboxError("REQUEST_NOT_FOUND", "This address does not exist"), report));

  app.get("/health", async (c) => c.json(toHealth(gateway, await gateway.check())));
  app.get("/ready", async (c) => {
    const check = await gateway.check();
    return c.json(toReadiness(check), check.isReady ? 200 : 503);
  });
  const place = { pageUrl: () => options.url, ...options, runNode };
  const authorization = options.auth === "required" ? options.identity.openAuthorization?.(place) : undefined;
  if (mcp) addMcp(app, { ...options, mcp, authorization }, authenticator);
  if (authorization && mcp) addAuthorization(app, { ...options, authorization });
  if (authorization && hasPage) addConsent(app, { ...options, authorization });
  const page = hasPage ? addPage(app, options, authenticator) : undefined;
  return {
    fetch: async (request, connection) => secure(await app.fetch(request, { connection })),
    stop: async () => {
      page?.close();
      if (mcp) await gateway.stop();
    },
    close: async () => mcp?.close(),
  };
}

/** Runs before every route. A request that did not pass the proxy, where one is required, reaches only health checks. */
function createGuard(options: AppOptions): MiddlewareHandler<AppEnv> {
  const { addresses, proxyToken, isReachedDirectly = false, identity } = options;
  const findClient = createClientAddress(options.trustedProxies ?? []);
  return async (c, next) => {
    const { headers } = c.req.raw;
    checkAddress(headers, addresses);
    checkBodySize(headers);
    c.set("client", findClient(headers, c.env.connection));
    const isDirect = isReachedDirectly && !c.get("client").isForwarded && isLoopback(c.get("client").origin);
    const isOpen = isDirect || c.req.path === "/health" || c.req.path === "/ready";
    if (proxyToken !== undefined && !isOpen && !isSame(headers.get("x-glovebox-proxy-token") ?? "", proxyToken)) {
      identity.refuse({ what: "proxy", reason: "wrong or missing proxy token", origin: c.get("client").origin });
      throw new GloveboxError("REQUEST_FORBIDDEN", "The request did not pass the proxy of this gateway", {
        hint: "Use the public address",
      });
    }
    await next();
  };
}

/** A provider that is down says nothing about a credential. */
function isOtherFault(thrown: unknown): boolean {
  const { code } = thrown instanceof GloveboxError ? thrown : { code: "INTERNAL_BUG" };
  return code !== "REQUEST_UNAUTHENTICATED" && code !== "REQUEST_FORBIDDEN";
}

function addMcp(
  app: Hono<AppEnv>,
  options: AppOptions & { readonly mcp: McpHandler; readonly authorization: OauthServer | undefined },
  authenticator: Authenticator,
): void {
  const { gateway, mcp, auth, url, identity, authorization } = options;
  const findIssuers = async (): Promise<readonly string[] | undefined> => {
    if (identity.issuer !== undefined) return [identity.issuer];
    return (await authorization?.describe()) ? [url] : undefined;
  };
  app.all("/mcp", async (c) => {
    const { raw } = c.req;
    const identify = () => authenticator.identify(raw.headers, c.get("client"), c.env.connection);
    const caller = await identify();
    authenticator.requireAgent(caller);
    return mcp.handle(raw, caller.principal, {
      admit: (needed) => authenticator.requireScopes(caller, ...needed),
      isValid: () => identify().then(() => true, isOtherFault),
    });
  });
  if (auth === "required")
    for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"])
      app.get(path, async (c) => c.json(describeResource(url, MCP_SCOPES, await findIssuers())));
  if (gateway.metrics)
    app.get("/metrics", async (c) => {
      const caller = await authenticator.identify(c.req.raw.headers, c.get("client"), c.env.connection);
      authenticator.requireScopes(caller, "metrics:read");
      return c.body(gateway.metrics?.() ?? "", 200, METRICS_HEADERS);
    });
}

/** Returns the open streams of the page. */
function addPage(app: Hono<AppEnv>, options: AppOptions, authenticator: Authenticator): { close(): void } {
  const { gateway, identity } = options;
  const identify: LiveDoor["identify"] = (headers, client) => authenticator.identifyForApi(headers, "GET", client);
  const live = createLive({ gateway, identify, everyMs: LIVE_MS });
  app.use("/api/*", async (c, next) => {
    c.header("cache-control", "no-store");
    const { method, raw, path } = c.req;
    if (isLogin(method, path, options.auth)) return next();
    const caller = await authenticator.identifyForApi(raw.headers, method, c.get("client"));
    // Every change of every route, so that none is forgotten; only the own session can always be ended.
    if (method !== "GET" && method !== "HEAD" && path !== "/api/session") authenticator.requireRecentLogin(caller);
    c.set("caller", caller);
    return next();
  });
  const door = { pageUrl: () => options.url, ...options };
  app.route("/api", createLoginRoutes(door));
  if (options.auth === "required") addProviderLogins(app, door);
  app.route("/api", createIdentityRoutes(door));
  app.route("/api/approvals", createApprovalRoutes(gateway.approvals));
  app.route("/api/executions", createExecutionRoutes(gateway));
  app.route("/api/skills", createSkillRoutes(gateway));
  app.route("/api/withheld", createWithheldRoutes(gateway));
  app.route("/api/ledger", createLedgerRoutes(options));
  app.route("/api/secrets", createSecretRoutes(options.operator));
  const servers = createServerRoutes(door);
  app.route("/api/servers", servers.routes);
  app.get(CONNECT_PATH, servers.finish);
  app.route("/api/events", live.routes);
  app.route(
    "/api",
    createApiRoutes(gateway, () => identity.local()),
  );
  const files = readWebFiles(options.webFolder);
  app.get("*", async (c, next) => {
    const file = files.get(VIEWS.test(c.req.path) ? "/" : c.req.path);
    if (!file) return next();
    return c.body(file.body, 200, { "content-type": file.type, "cache-control": "no-cache" });
  });
  return live;
}

/**
 * The built admin page, read once: requests are looked up in a map and never touch the file system, so no path of a
 * request can reach another file. Keys are URL paths; `/` is the page. Empty if the folder does not exist. Links and
 * other file types are skipped.
 */
function readWebFiles(folder: string) {
  const files = new Map<string, { readonly body: Uint8Array<ArrayBuffer>; readonly type: string }>();
  for (const name of listFiles(folder)) {
    const type = TYPES.get(extname(name));
    if (type === undefined) continue;
    const body = Uint8Array.from(readFileSync(join(folder, name)));
    files.set(name === "index.html" ? "/" : `/${name}`, { body, type });
  }
  return files;
}

function listFiles(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

function respondError(thrown: unknown, report: AppOptions["report"]): Response {
  const error = toPublicError(thrown, report);
  const headers = thrown instanceof AuthenticationError ? { "www-authenticate": thrown.challenge } : {};
  return Response.json({ error }, { status: ERRORS[error.code].http, headers });
}
