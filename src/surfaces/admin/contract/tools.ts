/** Tools as agents find them, and the playground. */

import * as z from "zod/mini";

import { callPlan, effect, finding, list, publicError } from "./base.ts";

/**
 * `GET /api/tools?query=&cursor=`: a page of tools, the same that a model gets for this query, and `text`, the answer that
 * it reads. An empty query browses.
 */
export const toolsSchema = z.object({
  tools: list(
    z.object({
      name: z.string(),
      summary: z.string(),
      effect,
      /** Where the effect comes from. */
      effectSource: z.optional(z.string()),
      labels: z.optional(list(z.string())),
      server: z.string(),
      upstreamName: z.string(),
      /** The call with its types; only the best few have it. */
      signature: z.optional(z.string()),
    }),
  ),
  cursor: z.optional(z.string()),
  text: z.string(),
  /** Of `text`, about. */
  tokens: z.number(),
});

/** `GET /api/tools/declarations?names=`: names with commas. `unknown` are not tools. */
export const declarationsSchema = z.object({
  declarations: z.string(),
  unknown: list(z.object({ name: z.string(), nearest: list(z.string()) })),
});

/** `POST /api/playground/plan` with `{ "code" }`: what the program can call, or why it cannot run. Runs nothing. */
export const programPlanSchema = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), plan: callPlan, findings: list(finding) }),
  z.object({ ok: z.literal(false), error: publicError, findings: list(finding) }),
]);

/** `POST /api/playground/run` with `{ "code", "dryRun"? }`: starts it in the name of the person. */
export const startedSchema = z.object({ execution: z.string() });

/** The longest program and its JSON. */
export const MAX_PROGRAM_BYTES = 1_048_576;

export type ToolsAnswer = z.infer<typeof toolsSchema>;
export type DeclarationsAnswer = z.infer<typeof declarationsSchema>;
export type ProgramPlanAnswer = z.infer<typeof programPlanSchema>;
export type StartedAnswer = z.infer<typeof startedSchema>;
