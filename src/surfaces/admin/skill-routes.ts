/** Versions of skills over the admin API: what a reviewer sees of them, and decisions of people. */

import { Hono } from "hono";
import * as z from "zod";

import { defined } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import { addDrafts } from "./skill-draft-routes.ts";
import type { SkillAnswer, SkillReviewAnswer, SkillsAnswer } from "./contract/skills.ts";

/** The files of a skill have 256 kB; JSON escapes some of their characters. */
const SUBMIT_BYTES = 1024 * 1024;
const MOST_FILES = 200;
const text = z.string().max(1_000);

const version = z.int().min(1);
const VERSION_QUERY = z.strictObject({ version: z.coerce.number().int().min(1).optional() });
const FILES = z.strictObject({
  files: z.record(z.string().max(200), z.string()).refine((files) => Object.keys(files).length <= MOST_FILES),
});
/** The version that the person saw. */
const seen = { version, digest: z.string() };
const APPROVAL = z.strictObject({ ...seen, grants: z.record(z.string(), z.boolean()), note: text.optional() });
const REJECTION = z.strictObject({ ...seen, reason: text.min(1) });
const WITHDRAWAL = z.strictObject({ ...seen, reason: text.optional() });
const ROLLBACK = z.strictObject({ version });
const NOTHING = z.strictObject({});

/** Mounted under `/api/skills`, after the caller is known. The desk decides who may do what. */
export function createSkillRoutes({ skills, approvals }: Pick<Gateway, "skills" | "approvals">): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), ["operator", "reviewer"]);
    await next();
  });
  routes.get("/", async (c) => c.json({ skills: await skills.list() } satisfies SkillsAnswer));
  routes.get("/:name", async (c) => {
    const query = parseRequest(VERSION_QUERY, c.req.query(), "query");
    const review = await skills.show({ name: c.req.param("name"), ...query });
    const refusal = skills.findRefusal(review, c.get("caller").principal);
    return c.json({ ...review, ...defined({ refusal }) } satisfies SkillReviewAnswer);
  });
  routes.post("/", async (c) => {
    const { files } = parseRequest(FILES, await readBody(c.req.raw, SUBMIT_BYTES), "body");
    const bytes = new Map(Object.entries(files).map(([path, body]): [string, Uint8Array] => [path, Buffer.from(body)]));
    return c.json((await skills.submit(bytes, c.get("caller").principal)) satisfies SkillAnswer);
  });
  addDrafts(routes, { skills, approvals });
  addDecisions(routes, skills);
  return routes;
}

function addDecisions(routes: Hono<AppEnv>, skills: Gateway["skills"]): void {
  routes.post("/:name/approve", async (c) => {
    const choice = parseRequest(APPROVAL, await readBody(c.req.raw), "body");
    const approved = await skills.approve({ name: c.req.param("name"), ...choice }, c.get("caller").principal);
    return c.json(approved satisfies SkillAnswer);
  });
  routes.post("/:name/reject", async (c) => {
    const { reason, ...choice } = parseRequest(REJECTION, await readBody(c.req.raw), "body");
    const rejected = await skills.reject({ name: c.req.param("name"), ...choice }, reason, c.get("caller").principal);
    return c.json(rejected satisfies SkillAnswer);
  });
  for (const what of ["revoke", "retire"] as const)
    routes.post(`/:name/${what}`, async (c) => {
      const { reason, ...choice } = parseRequest(WITHDRAWAL, await readBody(c.req.raw), "body");
      const withdrawn = await skills[what]({ name: c.req.param("name"), ...choice }, c.get("caller").principal, reason);
      return c.json(withdrawn satisfies SkillAnswer);
    });
  routes.post("/:name/rollback", async (c) => {
    const choice = parseRequest(ROLLBACK, await readBody(c.req.raw), "body");
    const submitted = await skills.rollback({ name: c.req.param("name"), ...choice }, c.get("caller").principal);
    return c.json(submitted satisfies SkillAnswer);
  });
  routes.post("/:name/thaw", async (c) => {
    parseRequest(NOTHING, await readBody(c.req.raw), "body");
    return c.json((await skills.thaw(c.req.param("name"), c.get("caller").principal)) satisfies SkillAnswer);
  });
  routes.post("/:name/restore", async (c) => {
    parseRequest(NOTHING, await readBody(c.req.raw), "body");
    const restored = await skills.restore({ name: c.req.param("name") }, c.get("caller").principal);
    return c.json(restored satisfies SkillAnswer);
  });
}
