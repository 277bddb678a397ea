/** The HTTP application: guard, MCP, admin API, admin page, health. */

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

/** Dependencies of the application; it reads nothing from the environment. */
export interface AppOptions {
  readonly gateway: Gateway;
  /** The principal of MCP clients and of the admin page. */
  readonly principal: Principal;
  /** The principal of decisions with the token. */
  readonly operator: Principal;
  /** Grants access to `/api`; new at every start. */
  readonly token: string;
  /** The folder of the built admin page; everything else works without it. */
  readonly webFolder: string;
  /** Valid values of the Host header, lower case, with the port; provided by `listen`. */
  readonly allowedHosts: ReadonlySet<string>;
  /** The MCP routes. Closed with the application. */
  readonly mcp: { readonly routes: Hono; close(): Promise<void> };
  /** Logs an internal fault and returns the incident's id. */
  readonly report: (thrown: unknown) => string;
}

/** Closing ends MCP sessions and their running executions; `listen` closes the listener. */
export interface App {
  fetch(request: Request): Response | Promise<Response>;
  /** Running executions end as cancelled; their answers are still sent. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Trusted Types turn a mistake (`innerHTML`) into an error instead of a vulnerability, in browsers that support them. */
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

/** Builds the routes. The guard runs before all of them, also for unknown paths. */
export function createApp(options: AppOptions): App {
  const { gateway, principal, report, allowedHosts, mcp } = options;
  const app = new Hono();

  app.use(async (c, next) => {
    checkAddress(c.req.raw.headers, allowedHosts);
    checkBodySize(c.req.raw.headers);
    await next();
  });
  app.onError((thrown) => respondError(thrown, report));
  app.notFound(() => respondError(new GloveboxError("REQUEST_NOT_FOUND", "This address does not exist"), report));

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

/** Needs no credential, like `/health`: with metrics on, every user of this machine can read them. */
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

/** Applied to every answer, including errors, outside of the routes, so that no route can miss it. */
function secure(response: Response): Response {
  for (const [name, value] of SECURITY_HEADERS) response.headers.set(name, value);
  return response;
}
