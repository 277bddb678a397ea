/** The read part of the admin API, in the shapes of the contract. */

import { Hono } from "hono";
import * as z from "zod";

import type { Principal } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";
import { MAX_EXECUTIONS } from "./contract.ts";
import type { ExecutionsAnswer, HealthAnswer, StatusAnswer, ToolsAnswer } from "./contract.ts";
import { parseRequest, wholeNumber } from "./parse-request.ts";

const DEFAULT_EXECUTIONS = 50;
const TOOLS_PER_PAGE = 20;

const EXECUTIONS_QUERY = z.strictObject({ limit: wholeNumber({ most: MAX_EXECUTIONS, usual: DEFAULT_EXECUTIONS }) });
const TOOLS_QUERY = z.strictObject({ query: z.string().default(""), cursor: z.string().optional() });

/** Mounted under `/api`, after the token check. */
export function createApiRoutes(gateway: Gateway, principal: Principal): Hono {
  const routes = new Hono();
  routes.get("/status", (c) => c.json(toStatus(gateway)));
  routes.get("/executions", async (c) => {
    const { limit } = parseRequest(EXECUTIONS_QUERY, c.req.query(), "query");
    return c.json({ executions: await gateway.executions(limit) } satisfies ExecutionsAnswer);
  });
  routes.get("/tools", async (c) => {
    const { query, cursor } = parseRequest(TOOLS_QUERY, c.req.query(), "query");
    const request = { query, limit: TOOLS_PER_PAGE, ...(cursor !== undefined && { cursor }) };
    const { tools, cursor: next } = await gateway.search(principal, request);
    return c.json({ tools, ...(next !== undefined && { cursor: next }) } satisfies ToolsAnswer);
  });
  return routes;
}

/** Public on this machine, so it contains no names and no causes. */
export function toHealth(gateway: Gateway): HealthAnswer {
  const { version, engine, isolation, upstreams } = gateway.health();
  const count = (state: string): number => upstreams.filter((upstream) => upstream.state === state).length;
  const failed = count("failed") + count("needs-login") + count("suspended");
  return { status: "ok", version, engine, isolation, upstreams: { ready: count("ready"), failed } };
}

function toStatus(gateway: Gateway): StatusAnswer {
  const { version, engine, isolation, layers, startedAt, upstreams } = gateway.health();
  return { version, engine, isolation, layers, startedAt, upstreams };
}
