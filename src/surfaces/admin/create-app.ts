/** Everything that listens on HTTP, as one application: guard, MCP, admin API, admin page, health. */

import { Hono } from "hono";

import { ERRORS, GloveboxError, toPublicError } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";
import { createApiRoutes, toHealth } from "./api-routes.ts";
import { createApprovalRoutes } from "./approval-routes.ts";
import { checkToken } from "./check-token.ts";
import { checkAddress, checkBodySize } from "./guard.ts";
import { readWebFiles } from "./read-web-files.ts";
import type { WebFile } from "./read-web-files.ts";

/** What the application is made of; it reads nothing from the environment. */
export interface AppOptions {
  readonly gateway: Gateway;
  /** In whose name MCP clients ask, and the admin page looks. */
  readonly principal: Principal;
  /** Whom the token stands for when something is decided. */
  readonly operator: Principal;
  /** Opens `/api`; made anew at every start. */
  readonly token: string;
  /** Where the built admin page is; without it everything else still works. */
  readonly webFolder: string;
  /** Values of the Host header that mean this server, lower case, with the port; `listen` knows them. */
  readonly allowedHosts: ReadonlySet<string>;
  /** The routes of MCP. Closed with the application. */
  readonly mcp: { readonly routes: Hono; close(): Promise<void> };
  /** Logs an internal fault and returns the incident's id. */
  readonly report: (thrown: unknown) => string;
}

/** Closing ends MCP sessions and the executions under way in them; the listener is closed by `listen`. */
export interface App {
  fetch(request: Request): Response | Promise<Response>;
  /** Executions under way end as cancelled; their answers still go out. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Trusted Types turn a slip (`innerHTML`) into an error instead of a hole, where the browser knows them. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const SECURITY_HEADERS: readonly (readonly [string, string])[] = [
  ["content-security-policy", CONTENT_SECURITY_POLICY],
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-resource-policy", "same-origin"],
  ["cross-origin-opener-policy", "same-origin"],
];

/** Builds the routes; the guard is in front of all of them, also of those that do not exist. */
export function createApp(options: AppOptions): App {
  const { gateway, principal, report, allowedHosts, mcp } = options;
  const app = new Hono();

  app.use(async (c, next) => {
    checkAddress(c.req.raw.headers, allowedHosts);
    checkBodySize(c.req.raw.headers);
    await next();
  });
  app.onError((thrown) => respondError(thrown, report));
  app.notFound(() => respondError(new GloveboxError("REQUEST_NOT_FOUND", "There is nothing at this address"), report));

  app.route("/", mcp.routes);
  app.get("/health", (c) => c.json(toHealth(gateway)));
  if (gateway.metrics) mountMetrics(app, gateway.metrics);
  app.use("/api/*", async (c, next) => {
    checkToken(c.req.header("authorization"), options.token);
    c.header("cache-control", "no-store");
    await next();
  });
  app.route("/api/approvals", createApprovalRoutes(gateway.approvals, options.operator));
  app.route("/api", createApiRoutes(gateway, principal));
  mountPage(app, readWebFiles(options.webFolder));

  return {
    fetch: async (request) => secure(await app.fetch(request)),
    stop: () => gateway.stop(),
    close: () => mcp.close(),
  };
}

/** Without a credential, as `/health`: whoever turns metrics on lets everybody on this machine read them. */
function mountMetrics(app: Hono, render: () => string): void {
  const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" };
  app.get("/metrics", (c) => c.body(render(), 200, headers));
}

function mountPage(app: Hono, files: ReadonlyMap<string, WebFile>): void {
  app.get("*", async (c, next) => {
    const file = files.get(c.req.path);
    if (!file) return next();
    return c.body(file.body, 200, { "content-type": file.type, "cache-control": "no-cache" });
  });
}

function respondError(thrown: unknown, report: AppOptions["report"]): Response {
  const error = toPublicError(thrown, report);
  return Response.json({ error }, { status: ERRORS[error.code].http });
}

/** On every answer, errors included; outside of the routes, so that none can forget it. */
function secure(response: Response): Response {
  for (const [name, value] of SECURITY_HEADERS) response.headers.set(name, value);
  return response;
}
