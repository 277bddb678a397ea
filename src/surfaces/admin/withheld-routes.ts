/** Withheld definitions of tools over the admin API: field by field, and the decisions of an operator about them. */

import { Hono } from "hono";
import * as z from "zod";

import { GloveboxError, parseConnectorId } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import { MAX_DECIDED } from "./contract/servers.ts";
import type { DecidedAnswer, WithheldAnswer } from "./contract/servers.ts";

/** A decision names every tool with its digest. */
const BODY_BYTES = 256 * 1024;

const DECISION = z.strictObject({
  verdict: z.enum(["approve", "reject"]),
  server: z.string(),
  /** Each with the digest of the definition that the person saw. */
  tools: z
    .array(z.strictObject({ tool: z.string(), digest: z.string() }))
    .min(1)
    .max(MAX_DECIDED),
});

/** Mounted under `/api/withheld`, after the caller is known. */
export function createWithheldRoutes({ held }: Pick<Gateway, "held">): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), ["operator"]);
    await next();
  });
  routes.get("/", async (c) => c.json({ tools: await held.review() } satisfies WithheldAnswer));
  routes.post("/", async (c) => {
    const { verdict, server, tools } = parseRequest(DECISION, await readBody(c.req.raw, BODY_BYTES), "body");
    const names = tools.map(({ tool }) => tool);
    const request = { server: parseServer(server), tools: names, principal: c.get("caller").principal };
    const seen = new Set(tools.map(({ digest }) => digest));
    const isShown = (found: readonly { readonly digest: string }[]): boolean =>
      found.length === tools.length && found.every(({ digest }) => seen.has(digest));
    if (verdict === "reject" && !isShown((await held.list(request.server)).filter(({ tool }) => names.includes(tool))))
      throw changed(names);
    const decided = verdict === "reject" ? await held.reject(request) : await held.approve(request, isShown);
    if (!decided) throw changed(names);
    return c.json({ decided: decided.length } satisfies DecidedAnswer);
  });
  return routes;
}

function parseServer(raw: string) {
  const id = parseConnectorId(raw);
  if (id) return id;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(raw)} is not a server`, { hint: "Use one of the list" });
}

function changed(tools: readonly string[]): GloveboxError {
  const what = tools.length === 1 ? `The definition of ${tools[0]}` : "A definition";
  return new GloveboxError("REQUEST_CONFLICT", `${what} is not the one that was shown`, { hint: "Look at it again" });
}
