/** The HTTP application: guard, MCP, admin API, admin page, health, readiness. */

import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";

import { Hono } from "hono";

import { ERRORS, GloveboxError, toPublicError } from "../../domain/index.ts";
import type { HttpDoor } from "../gateway.ts";
import { createApiRoutes, createApprovalRoutes, toHealth, toReadiness } from "./api-routes.ts";
import { checkAddress, checkBodySize, checkToken } from "./guard.ts";

export interface AppOptions extends HttpDoor {
  /** Valid values of the Host header, lower case, with the port; provided by `listen`. */
  readonly allowedHosts: ReadonlySet<string>;
  /** The MCP routes. Closed with the application. */
  readonly mcp: { readonly routes: Hono; close(): Promise<void> };
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

const SECURITY_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

const METRICS_HEADERS = { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" };

const TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml"],
]);

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
  app.get("/health", async (c) => c.json(toHealth(gateway, await gateway.check())));
  app.get("/ready", async (c) => {
    const check = await gateway.check();
    return c.json(toReadiness(check), check.isReady ? 200 : 503);
  });
  // Needs no credential, like `/health`: with metrics on, every user of this machine can read them.
  if (gateway.metrics) app.get("/metrics", (c) => c.body(gateway.metrics?.() ?? "", 200, METRICS_HEADERS));
  app.use("/api/*", async (c, next) => {
    checkToken(c.req.header("authorization"), options.token);
    c.header("cache-control", "no-store");
    await next();
  });
  app.route("/api/approvals", createApprovalRoutes(gateway.approvals, options.operator));
  app.route("/api", createApiRoutes(gateway, principal));
  const files = readWebFiles(options.webFolder);
  app.get("*", async (c, next) => {
    const file = files.get(c.req.path);
    if (!file) return next();
    return c.body(file.body, 200, { "content-type": file.type, "cache-control": "no-cache" });
  });

  return {
    fetch: async (request) => secure(await app.fetch(request)),
    stop: () => gateway.stop(),
    close: () => mcp.close(),
  };
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
  return Response.json({ error }, { status: ERRORS[error.code].http });
}

/** Applied to every answer, including errors, outside of the routes, so that no route can miss it. */
function secure(response: Response): Response {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
  return response;
}
