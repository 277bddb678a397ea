/** Tools over the admin API, as a model finds them, and the playground in which a person runs a program. */

import { randomUUID } from "node:crypto";

import { Hono } from "hono";
import * as z from "zod";

import { defined } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";
import { MAX_NAMES } from "../parse-request.ts";
import { CHARACTERS_PER_TOKEN, createSearchAnswer } from "../render-search.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import { MAX_PROGRAM_BYTES } from "./contract/tools.ts";
import type { DeclarationsAnswer, ProgramPlanAnswer, StartedAnswer, ToolsAnswer } from "./contract/tools.ts";

const MAX_QUERY_CHARS = 1_000;
const TOOLS_QUERY = z.strictObject({
  query: z.string().max(MAX_QUERY_CHARS).default(""),
  cursor: z.string().max(MAX_QUERY_CHARS).optional(),
});
const DECLARATIONS_QUERY = z.strictObject({
  names: z
    .string()
    .transform((text) => text.split(",").filter((name) => name !== ""))
    .pipe(z.array(z.string()).min(1).max(MAX_NAMES)),
  detail: z.enum(["brief", "types", "full"]).default("full"),
});
const PLAN = z.strictObject({ code: z.string() });
const RUN = z.strictObject({ code: z.string(), dryRun: z.boolean().default(false) });

/** Mounted under `/api/tools`, after the caller is known. The tools are those that `principal` can use. */
export function createToolRoutes(
  { search, describe, answerTokens }: Pick<Gateway, "search" | "describe" | "answerTokens">,
  principal: () => Promise<Principal>,
): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), ["operator", "reviewer"]);
    await next();
  });
  routes.get("/", async (c) => {
    const { query, cursor } = parseRequest(TOOLS_QUERY, c.req.query(), "query");
    const answer = createSearchAnswer(answerTokens.searchTokens, query.trim() === "");
    const found = await search(await principal(), { query, ...defined({ cursor }) }, answer.roomFor);
    const { content } = answer.render(found);
    const text = content.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
    const { tools, cursor: next } = found;
    const tokens = Math.ceil(text.length / CHARACTERS_PER_TOKEN);
    return c.json({ tools, text, tokens, ...defined({ cursor: next }) } satisfies ToolsAnswer);
  });
  routes.get("/declarations", async (c) => {
    const { names, detail } = parseRequest(DECLARATIONS_QUERY, c.req.query(), "query");
    const { declarations, unknown } = await describe(await principal(), names, detail);
    return c.json({ declarations, unknown } satisfies DeclarationsAnswer);
  });
  return routes;
}

/** Mounted under `/api/playground`, after the caller is known. A program has the rights of the person who runs it. */
export function createPlaygroundRoutes({ open, plan }: Pick<Gateway, "open" | "plan">): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), ["operator"]);
    await next();
  });
  routes.post("/plan", async (c) => {
    const { code } = parseRequest(PLAN, await readBody(c.req.raw, MAX_PROGRAM_BYTES), "body");
    const planned = await plan({ source: code, principal: c.get("caller").principal });
    return c.json(planned satisfies ProgramPlanAnswer);
  });
  routes.post("/run", async (c) => {
    const { code, dryRun } = parseRequest(RUN, await readBody(c.req.raw, MAX_PROGRAM_BYTES), "body");
    // Its own session, as each `glovebox run` has: what one program reads does not taint the next one.
    const principal = { ...c.get("caller").principal, session: randomUUID() };
    const started = await open({ source: code, principal, dryRun });
    started.done.catch(() => undefined); // the page reads how it ended
    return c.json({ execution: started.id } satisfies StartedAnswer);
  });
  return routes;
}
