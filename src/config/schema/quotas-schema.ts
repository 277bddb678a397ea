/** The shape of `quotas`: what principals may use over time. */

import { z } from "zod";

import { toolPatterns } from "./policy-schema.ts";
import { whole } from "./fields.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MOST = 1_000_000_000;

function usage(usual: { readonly executions: number; readonly ms: number }) {
  return {
    executionsPerMinute: whole(
      { min: 0, max: MOST, usual: usual.executions },
      "Executions that may begin in a minute; 0 for no such quota.",
    ),
    executionMsPerHour: whole(
      { min: 0, max: 1000 * HOUR_MS, usual: usual.ms },
      "Wall time of programs in an hour; 0 for no such quota.",
    ),
    concurrentExecutions: whole({ min: 0, max: MOST, usual: 0 }, "Executions under way at once; 0 for no such quota."),
    costPerDay: z
      .number()
      .min(0)
      .max(MOST)
      .default(0)
      .meta({ description: "What calls may cost in a day, by prices; 0 for no such quota." }),
  };
}

const rateSchema = z
  .strictObject({
    tools: toolPatterns.meta({
      description: 'The tools that share this rate: "*", "github.*" or "github.createIssue".',
    }),
    calls: z.int().min(1).max(MOST).meta({ description: "Calls that may be made in one window." }),
    windowMs: whole({ min: 1000, max: 30 * DAY_MS, usual: 60_000 }, "How long a window is."),
    per: z
      .enum(["principal", "total"])
      .default("principal")
      .meta({ description: "Whether each principal has a count of its own, or all share one." }),
  })
  .meta({ description: "How often some tools may be called." });

/** The whole section. */
export const quotasSchema = z
  .strictObject({
    ...usage({ executions: 60, ms: 1_800_000 }),
    total: z
      .strictObject(usage({ executions: 0, ms: 0 }))
      .prefault({})
      .meta({ description: "The same for all principals together." }),
    rates: z.array(rateSchema).max(200).default([]).meta({ description: "How often tools may be called." }),
    prices: z
      .record(z.string(), z.number().min(0).max(1_000_000))
      .default({})
      .meta({ description: "What one call costs, by tool pattern; counted for costPerDay." }),
  })
  .prefault({})
  .meta({ description: "What each principal may use over time. Operators at the command line are not counted." });
