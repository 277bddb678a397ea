/** Past and running executions, and withheld definitions of tools, over the admin API. */

import { Hono } from "hono";
import * as z from "zod";

import { GloveboxError, defined, parseConnectorId, parseExecutionId } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import type { ExecutionDetails } from "../../execution/index.ts";
import type { Gateway } from "../gateway.ts";
import { pageSize, parseId, parseRequest, readBody } from "./api-routes.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import type { WithheldAnswer } from "./contract.ts";
import { MAX_EXECUTIONS } from "./contract/executions.ts";
import type { ExecutionAnswer, ExecutionsAnswer } from "./contract/executions.ts";

const MAX_SEARCH_CHARS = 200;

const LIST_QUERY = z.strictObject({
  limit: pageSize(MAX_EXECUTIONS),
  before: z.string().optional(),
  state: z.enum(["running", "completed", "failed", "paused", "cancelled"]).optional(),
  search: z.string().max(MAX_SEARCH_CHARS).optional(),
});
const DECISION = z.strictObject({
  verdict: z.enum(["approve", "reject"]),
  server: z.string(),
  tool: z.string(),
  /** Of the definition that the person saw. */
  digest: z.string(),
});

/** Mounted under `/api/executions`, after the caller is known. */
export function createExecutionRoutes({ history, approvals }: Gateway): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), c.req.method === "GET" ? ["operator", "reviewer"] : ["operator"]);
    await next();
  });
  const show = (details: ExecutionDetails, viewer: Principal): ExecutionAnswer =>
    approvals.showsArguments(viewer) ? details : hidePrograms(details);
  routes.get("/", async (c) => {
    const { before, ...query } = parseRequest(LIST_QUERY, c.req.query(), "query");
    const page = { ...query, before: parseId(parseExecutionId, before) };
    return c.json({
      executions: await history.list({ ...defined(page), limit: page.limit }),
    } satisfies ExecutionsAnswer);
  });
  routes.get("/:id", async (c) => c.json(show(await history.show(c.req.param("id")), c.get("caller").principal)));
  routes.post("/:id/cancel", async (c) => {
    const { principal } = c.get("caller");
    return c.json(show(await history.cancel(c.req.param("id"), principal.id), principal));
  });
  return routes;
}

/** The program contains the arguments of its calls; the value, the logs and the error what they returned. */
function hidePrograms({ source: _, result, ...line }: ExecutionDetails): ExecutionAnswer {
  const { value: __, error, truncated: ___, ...rest } = result;
  const code = error && { code: error.code, message: "Only reviewers see it", retry: error.retry };
  return { ...line, result: { ...rest, logs: [], findings: [], ...defined({ error: code }) } };
}

/** Mounted under `/api/withheld`, after the caller is known. */
export function createWithheldRoutes({ held }: Gateway): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), ["operator"]);
    await next();
  });
  routes.get("/", async (c) => c.json({ tools: await held.list() } satisfies WithheldAnswer));
  routes.post("/", async (c) => {
    const { verdict, server, tool, digest } = parseRequest(DECISION, await readBody(c.req.raw), "body");
    const request = { server: parseServer(server), tools: [tool], principal: c.get("caller").principal };
    const isShown = (found: readonly { readonly digest: string }[]): boolean => found[0]?.digest === digest;
    if (verdict === "reject" && !isShown((await held.list(request.server)).filter((one) => one.tool === tool)))
      throw changed(tool);
    const tools = verdict === "reject" ? await held.reject(request) : await held.approve(request, isShown);
    if (!tools) throw changed(tool);
    return c.json({ tools } satisfies WithheldAnswer);
  });
  return routes;
}

function parseServer(raw: string) {
  const id = parseConnectorId(raw);
  if (id) return id;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(raw)} is not a server`, { hint: "Use one of the list" });
}

function changed(tool: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `The definition of ${tool} is not the one that was shown`, {
    hint: "Look at it again",
  });
}
