/** Past and running executions over the admin API. */

import { Hono } from "hono";
import * as z from "zod";

import { defined, parseExecutionId } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import type { ExecutionDetails } from "../../execution/index.ts";
import type { Gateway } from "../gateway.ts";
import { pageSize, parseId, parseRequest } from "./api-routes.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import { MAX_EXECUTIONS } from "./contract/executions.ts";
import type { ExecutionAnswer, ExecutionsAnswer } from "./contract/executions.ts";

const MAX_SEARCH_CHARS = 200;

const text = z.string().max(MAX_SEARCH_CHARS).optional();
const time = z.coerce.number().int().min(0).optional();

const LIST_QUERY = z.strictObject({
  limit: pageSize(MAX_EXECUTIONS),
  before: z.string().optional(),
  state: z.enum(["running", "completed", "failed", "paused", "cancelled"]).optional(),
  principal: text,
  server: text,
  tool: text,
  since: time,
  until: time,
  search: text,
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
    const { before, server, limit, ...query } = parseRequest(LIST_QUERY, c.req.query(), "query");
    const bounds = { before: parseId(parseExecutionId, before), namespace: server };
    const { executions, next } = await history.page({ ...defined({ ...query, ...bounds }), limit });
    const isWhole = approvals.showsArguments(c.get("caller").principal);
    const shown = isWhole ? executions : executions.map(({ head: _, ...line }) => line);
    return c.json({ executions: shown, ...defined({ next }) } satisfies ExecutionsAnswer);
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
