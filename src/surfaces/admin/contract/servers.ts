/** Servers: what an operator does with one, and definitions that wait for a decision. */

import * as z from "zod/mini";

import { list } from "./base.ts";

/** `POST /api/servers/:name/restart`: every gateway on this store restarts it within a few seconds. */
export const restartSchema = z.object({ server: z.string() });

/** `POST /api/servers/:name/connect`: the address at which a person logs in to the server. Works for ten minutes. */
export const connectSchema = z.object({ server: z.string(), url: z.string(), issuer: z.string() });

/** Text that speaks to a model instead of describing a tool, as a range of characters. */
const mark = z.object({ start: z.number(), end: z.number(), why: z.string() });

/** One field of a definition. `null` is absent; a string is the value of a text, anything else is JSON. */
const field = z.object({
  path: z.string(),
  before: z.nullable(z.string()),
  after: z.nullable(z.string()),
  /** In `after`. */
  marks: list(mark),
  /** Characters of the longer one that are not shown. */
  cut: z.optional(z.number()),
});

/**
 * `GET /api/withheld`: definitions that wait for an operator. `POST` with
 * `{ "verdict": "approve" | "reject", "server", "tools": [{ "tool", "digest" }] }` decides those that were shown, all or
 * none.
 */
export const withheldSchema = z.object({
  tools: list(
    z.object({
      server: z.string(),
      tool: z.string(),
      why: z.enum(["new", "changed", "collides"]),
      digest: z.string(),
      seenAt: z.number(),
      difference: list(z.string()),
      fields: list(field),
      /** Fields that are not listed. */
      moreFields: z.optional(z.number()),
      suspicious: z.optional(list(z.string())),
      rejectedBy: z.optional(z.string()),
    }),
  ),
});

/** The answer to a decision: how many definitions it covers. */
export const decidedSchema = z.object({ decided: z.number() });

/** Tools in one decision. */
export const MAX_DECIDED = 500;

export type RestartAnswer = z.infer<typeof restartSchema>;
export type ConnectAnswer = z.infer<typeof connectSchema>;
export type WithheldAnswer = z.infer<typeof withheldSchema>;
export type DecidedAnswer = z.infer<typeof decidedSchema>;
