/** What was used, over the admin API. For operators, and for services that read the ledger. */

import { Hono } from "hono";
import * as z from "zod";

import { HOUR_MS } from "../../timing/index.ts";
import type { Gateway } from "../gateway.ts";
import { sumUsage } from "../sum-usage.ts";
import { parseRequest } from "./api-routes.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import type { UsageAnswer } from "./contract/usage.ts";

const QUERY = z.strictObject({ hours: z.coerce.number().int().min(1).max(720).default(24) });
const BUCKETS = 48;

/** Mounted under `/api/usage`, after the caller is known. */
export function createUsageRoutes(gateway: Gateway, now: () => number): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get("/", async (c) => {
    requireRole(c.get("caller"), ["operator"], "ledger:read");
    const { hours } = parseRequest(QUERY, c.req.query(), "query");
    const until = now();
    const range = { since: until - hours * HOUR_MS, until, buckets: BUCKETS };
    return c.json((await sumUsage((query) => gateway.records(query), range)) satisfies UsageAnswer);
  });
  return routes;
}
