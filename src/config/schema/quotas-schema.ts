/** Schema of `quotas`: what principals may use over time. */

import { z } from "zod";

import { DAY_MS, HOUR_MS } from "../../timing/index.ts";
import { choice, integer } from "./fields.ts";
import { toolPatterns } from "./policy-schema.ts";

const MOST = 1_000_000_000;

function usage(usual: { readonly executions: number; readonly ms: number }) {
  return {
    executionsPerMinute: integer(
      [0, MOST],
      usual.executions,
      "Executions that may start per minute; 0 means no quota.",
    ),
    executionMsPerHour: integer(
      [0, 1000 * HOUR_MS],
      usual.ms,
      "Wall-clock time of programs per hour; 0 means no quota.",
    ),
    concurrentExecutions: integer([0, MOST], 0, "Executions at the same time; 0 means no quota."),
    costPerDay: z.number().min(0).max(MOST).default(0).describe("Total price of calls per day; 0 means no quota."),
  };
}

const rateSchema = z
  .strictObject({
    tools: toolPatterns.describe(
      'The tools that share this rate: "*", "github.*", "github.createIssue", "github.delete*" or "*.delete*".',
    ),
    calls: z.int().min(1).max(MOST).describe("Calls in one window."),
    windowMs: integer([1000, 30 * DAY_MS], 60_000, "The length of a window."),
    per: choice(
      ["principal", "session", "total"],
      "Count calls for each principal, for each session of a principal, or for all together.",
    ),
  })
  .describe("A rate limit for some tools.");

export const quotasSchema = z
  .strictObject({
    ...usage({ executions: 60, ms: 1_800_000 }),
    session: z
      .strictObject(usage({ executions: 0, ms: 0 }))
      .prefault({})
      .describe("The same quotas for each session of a principal."),
    total: z
      .strictObject(usage({ executions: 0, ms: 0 }))
      .prefault({})
      .describe("The same quotas for all principals together."),
    rates: z.array(rateSchema).max(200).default([]).describe("Rate limits for tools."),
    prices: z
      .record(z.string(), z.number().min(0).max(1_000_000))
      .default({})
      .describe("The price of one call, by tool pattern; counts toward costPerDay."),
  })
  .prefault({})
  .describe("What each principal may use over time. Operators at the command line are exempt.");
