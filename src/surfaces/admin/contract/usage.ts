/** What was used. Times are epoch milliseconds. */

import * as z from "zod/mini";

import { list } from "./base.ts";

const sums = {
  executions: z.number(),
  failed: z.number(),
  calls: z.number(),
  callErrors: z.number(),
  /** Calls that waited for a person. */
  asked: z.number(),
  p50Ms: z.number(),
  p95Ms: z.number(),
  /** Characters of the results that programs got, and of what was returned to clients; a token is about four. */
  readCharacters: z.number(),
  returnedCharacters: z.number(),
};

/** `GET /api/usage?hours=`: 1 to 720 hours until now, from the ledger. */
export const usageSchema = z.object({
  since: z.number(),
  until: z.number(),
  /** True if older records of this time were not read. */
  isCut: z.boolean(),
  totals: z.object(sums),
  buckets: list(z.object({ at: z.number(), ...sums })),
  /** Those with the most calls, of `toolCount`. */
  tools: list(z.object({ tool: z.string(), calls: z.number(), errors: z.number(), p95Ms: z.number() })),
  toolCount: z.number(),
  /** The newest first; `seq` is the record. */
  anomalies: list(
    z.object({
      seq: z.number(),
      at: z.number(),
      kind: z.string(),
      subject: z.string(),
      detail: z.record(z.string(), z.unknown()),
    }),
  ),
});

export type UsageAnswer = z.infer<typeof usageSchema>;
