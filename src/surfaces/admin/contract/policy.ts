/** The rules, and questions about them. Times are epoch milliseconds. */

import * as z from "zod/mini";

import { effect, labelSource, list } from "./base.ts";

const decision = z.enum(["allow", "ask", "deny"]);
const strings = z.optional(list(z.string()));

/** `GET /api/policy`. The strictest rule comes first: the first that matches decides, otherwise the profile. */
export const policySchema = z.object({
  profile: z.string(),
  /** The decision of the data-flow guard. */
  flows: decision,
  rules: list(
    z.object({
      id: z.string(),
      decision,
      principals: strings,
      groups: strings,
      servers: strings,
      tools: list(z.string()),
      effects: list(effect),
      /** Conditions on arguments, in words. */
      when: strings,
      reason: z.string(),
      source: z.enum(["configuration", "file", "decision"]),
      /** How many calls it decided in the last 24 hours. */
      decided: z.number(),
    }),
  ),
  groups: z.record(z.string(), list(z.string())),
  effects: z.record(z.string(), effect),
  /** Changes to the labels of tools, applied in this order. */
  labels: list(z.object({ tools: list(z.string()), add: strings, remove: strings })),
  labelHours: z.number(),
  /** Tools with labels: the sources and sinks of the data-flow guard. */
  labeled: list(z.object({ tool: z.string(), effect, labels: list(z.string()) })),
  /** What principals hold beyond a session. */
  held: list(
    z.object({
      principal: z.string(),
      labels: list(labelSource),
      readAt: z.number(),
      inheritedUntil: z.optional(z.number()),
    }),
  ),
  /** The configuration, and the file with more rules, as they are written. */
  config: z.optional(z.string()),
  file: z.optional(z.string()),
  written: list(z.record(z.string(), z.unknown())),
  quotas: list(
    z.object({
      setting: z.string(),
      unit: z.enum(["executions", "ms", "places", "calls", "cost"]),
      /** Whose use it is: a principal, a session, or all. */
      who: z.string(),
      used: z.number(),
      limit: z.number(),
      /** When the window ends; absent for what is not in use. */
      resetsAt: z.optional(z.number()),
    }),
  ),
});

/** `GET /api/policy/explain?tool=&args=&principal=&groups=`: makes no call; without the data-flow guard. */
export const explanationSchema = z.object({
  tool: z.string(),
  server: z.string(),
  effect,
  effectSource: z.optional(z.string()),
  principal: z.string(),
  decision,
  rule: z.string(),
  reason: z.optional(z.string()),
  rules: list(z.object({ rule: z.string(), decision, matches: z.boolean(), why: z.string() })),
});

/** `POST /api/policy/simulate` with `{ "rules", "since"?, "profile"? }`: what another rule file would have changed. */
export const simulationSchema = z.object({
  calls: z.number(),
  same: z.number(),
  changed: list(
    z.object({
      principal: z.string(),
      tool: z.string(),
      from: decision,
      to: decision,
      rule: z.string(),
      calls: z.number(),
    }),
  ),
  cannotTell: list(
    z.object({ principal: z.string(), tool: z.string(), from: decision, calls: z.number(), rules: list(z.string()) }),
  ),
});

/** `GET /api/policy/lint`: waits for every server. */
export const lintSchema = z.object({
  rules: z.number(),
  findings: list(z.object({ rule: z.string(), kind: z.string(), message: z.string(), hint: z.string() })),
  idlePatterns: list(z.object({ setting: z.string(), pattern: z.string() })),
});

/** `DELETE /api/policy/rules/:id` for a rule of a decision, and `DELETE /api/policy/labels/:principal`. */
export const policyChangedSchema = z.object({ removed: z.string() });

export type PolicyAnswer = z.infer<typeof policySchema>;
export type ExplanationAnswer = z.infer<typeof explanationSchema>;
export type SimulationAnswer = z.infer<typeof simulationSchema>;
export type LintAnswer = z.infer<typeof lintSchema>;
export type PolicyChangedAnswer = z.infer<typeof policyChangedSchema>;
