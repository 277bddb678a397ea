/** Drafts of skills from executions, and how useful approved skills are. Reviews are in `skills.ts`. */

import * as z from "zod/mini";

import { list } from "./base.ts";
import { skillSchema } from "./skills.ts";

/**
 * `POST /api/skills/drafts` with `{ "execution": "ex_…" | ["ex_…", …], "name"?, "description"?, "keep"?: ["limit"] }`: a
 * version that waits for review. Of several executions that differ only in literals, those are the parameters. Each parameter was a literal of the program; those in `keep` stay literals. Errors say why an
 * execution cannot become a skill; then nothing is stored.
 */
export const skillDraftSchema = z.extend(skillSchema, {
  parameters: z.optional(
    list(z.object({ name: z.string(), value: z.unknown(), values: z.optional(list(z.unknown())) })),
  ),
});

/**
 * `GET /api/skills/-/suggestions`: programs that ran at least three times and differed only in literals, as a skill that
 * repeats each of them. `executions` is what `POST /api/skills/drafts` takes. The answer takes seconds.
 */
export const skillSuggestionsSchema = z.object({
  suggestions: list(
    z.object({
      name: z.string(),
      description: z.string(),
      executions: list(z.string()),
      principal: z.string(),
      tools: list(z.string()),
      parameters: list(z.object({ name: z.string(), values: list(z.unknown()) })),
    }),
  ),
});

export type SkillSuggestionsAnswer = z.infer<typeof skillSuggestionsSchema>;
export type SkillDraftAnswer = z.infer<typeof skillDraftSchema>;

/** `GET /api/skills/-/usage`: of approved skills, by name. Times are epoch milliseconds. */
export const skillUsageSchema = z.object({
  skills: list(
    z.object({
      name: z.string(),
      address: z.string(),
      approvedAt: z.number(),
      calls: z.number(),
      succeeded: z.number(),
      /** Of the calls that succeeded. */
      medianMs: z.optional(z.number()),
      lastUsedAt: z.optional(z.number()),
      /** An estimate. */
      savedTokens: z.number(),
      /** Why it should be retired. */
      retire: z.optional(z.enum(["unused", "failing"])),
    }),
  ),
});

export type SkillUsageAnswer = z.infer<typeof skillUsageSchema>;
