/** Schema of `quotas`: what principals may use over time. */

import { z } from "zod";

import { DAY_MS, HOUR_MS } from "../../timing/index.ts";
import { toolPatterns } from "./policy-schema.ts";
import { integer } from "./fields.ts";

const MOST = 1_000_000_000;

function usage(usual: { readonly executions: number; readonly ms: number }) {
  return {
    executionsPerMinute: integer(
      { min: 0, max: MOST, usual: usual.executions },
      "Executions that may start per minute; 0 means no quota.",
    ),
    executionMsPerHour: integer(
      { min: 0, max: 1000 * HOUR_MS, usual: usual.ms },
      "Wall-clock time of programs per hour; 0 means no quota.",
    ),
    concurrentExecutions: integer({ min: 0, max: MOST, usual: 0 }, "Executions at the same time; 0 means no quota."),
    costPerDay: z
      .number()
      .min(0)
      .max(MOST)
      .default(0)
      .meta({ description: "Total price of calls per day; 0 means no quota." }),
  };
}

const rateSchema = z
  .strictObject({
    tools: toolPatterns.meta({
      description: 'The tools that share this rate: "*", "github.*" or "github.createIssue".',
    }),
    calls: z.int().min(1).max(MOST).meta({ description: "Calls in one window." }),
    windowMs: integer({ min: 1000, max: 30 * DAY_MS, usual: 60_000 }, "The length of a window."),
    per: z
      .enum(["principal", "total"])
      .default("principal")
      .meta({ description: "Count calls for each principal, or for all together." }),
  })
  .meta({ description: "A rate limit for some tools." });

/** The whole section. */
export const quotasSchema = z
  .strictObject({
    ...usage({ executions: 60, ms: 1_800_000 }),
    total: z
      .strictObject(usage({ executions: 0, ms: 0 }))
      .prefault({})
      .meta({ description: "The same quotas for all principals together." }),
    rates: z.array(rateSchema).max(200).default([]).meta({ description: "Rate limits for tools." }),
    prices: z
      .record(z.string(), z.number().min(0).max(1_000_000))
      .default({})
      .meta({ description: "The price of one call, by tool pattern; counts toward costPerDay." }),
  })
  .prefault({})
  .meta({ description: "What each principal may use over time. Operators at the command line are exempt." });
