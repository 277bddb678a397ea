/** Drafts of skills: what a person makes of an execution. Separate from reviews, which are in `skills.ts`. */

import * as z from "zod/mini";

import { list } from "./base.ts";
import { skillSchema } from "./skills.ts";

/**
 * `POST /api/skills/drafts` with `{ "execution": "ex_…", "name"?, "description"?, "keep"?: ["limit"] }`: a version that
 * waits for review. Each parameter was a literal of the program; those in `keep` stay literals. Errors say why an
 * execution cannot become a skill; then nothing is stored.
 */
export const skillDraftSchema = z.extend(skillSchema, {
  parameters: z.optional(list(z.object({ name: z.string(), value: z.unknown() }))),
});

export type SkillDraftAnswer = z.infer<typeof skillDraftSchema>;
