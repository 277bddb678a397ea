/** Drafts of skills over the admin API. */

import type { Hono } from "hono";
import * as z from "zod";

import { GloveboxError } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import type { AppEnv } from "./authenticate.ts";
import type { SkillDraftAnswer, SkillSuggestionsAnswer, SkillUsageAnswer } from "./contract/skill-drafts.ts";

const TEXT = z.string().min(1).max(1_024);
const MOST_EXECUTIONS = 10;
const DRAFT = z.strictObject({
  execution: z.union([z.string(), z.array(z.string()).min(1).max(MOST_EXECUTIONS)]),
  name: TEXT.optional(),
  description: TEXT.optional(),
  keep: z.array(TEXT).max(100).optional(),
});

/** To the routes of `/api/skills`. */
export function addDrafts(routes: Hono<AppEnv>, { skills, approvals }: Pick<Gateway, "skills" | "approvals">): void {
  // No skill has the name `-`.
  routes.get("/-/usage", async (c) => c.json({ skills: await skills.usage() } satisfies SkillUsageAnswer));
  routes.get("/-/suggestions", async (c) => {
    const { principal } = c.get("caller");
    if (!approvals.showsArguments(principal)) throw refuse();
    return c.json({ suggestions: await skills.drafts.suggest(principal) } satisfies SkillSuggestionsAnswer);
  });
  routes.post("/drafts", async (c) => {
    const { principal } = c.get("caller");
    if (!approvals.showsArguments(principal)) throw refuse();
    const { execution, ...choice } = parseRequest(DRAFT, await readBody(c.req.raw), "body");
    const executions = typeof execution === "string" ? [execution] : execution;
    const drafted = await skills.drafts.fromExecutions(executions, choice, principal);
    return c.json(drafted satisfies SkillDraftAnswer);
  });
}

/** A draft has the program, its arguments and its results. */
function refuse(): GloveboxError {
  return new GloveboxError("REQUEST_FORBIDDEN", "Only people who may see programs and results can draft from them", {
    hint: "Ask a reviewer who may see the arguments of calls",
  });
}
