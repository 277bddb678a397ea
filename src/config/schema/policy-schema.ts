/** Schema of `policy`, and of the rule file that it may name. */

import { z } from "zod";

import { parsePrincipalId } from "../../domain/index.ts";
import { TOOL_PATTERN_FORMS, isToolPattern } from "../formats.ts";
import { choice, flag, optional, parsable } from "./fields.ts";
import { parseJsonPath } from "./values/json-path.ts";
import { parseTextPattern } from "./values/text-pattern.ts";

const EFFECTS = ["read", "write", "destroy", "unknown"] as const;
const MOST_RULES = 1000;

const scalarSchema = z.union([z.string().max(10_000), z.number(), z.boolean(), z.null()], {
  error: "expected a string, a number, true, false or null",
});

const names = z.array(z.string().min(1).max(256)).min(1);

export const toolPatterns = z.array(z.string().refine(isToolPattern, TOOL_PATTERN_FORMS)).min(1);

const conditionSchema = z
  .strictObject({
    path: parsable(parseJsonPath, 'expected a path such as "to[*].address" or "$.amount"').describe(
      'A path into the arguments: "amount", "to[*].address", "$.items[0]".',
    ),
    equals: optional(scalarSchema, "The value equals this one."),
    is: optional(
      z.json(),
      'The value is exactly this JSON value; with the path "$", these are all the arguments of the call.',
    ),
    oneOf: optional(z.array(scalarSchema).min(1).max(1000), "The value is one of these."),
    prefix: optional(z.string().min(1).max(10_000), "The value is a string with this prefix."),
    matches: optional(
      parsable(
        parseTextPattern,
        "expected a pattern of at most 200 characters, with *, ?, [a-z], [!a-z] and \\ before a plain character",
      ),
      "The value is a string that matches this pattern of *, ?, [a-z] and [!a-z] as a whole.",
    ),
    min: optional(z.number(), "The value is a number of at least this."),
    max: optional(z.number(), "The value is a number of at most this."),
    not: flag(false, "true inverts the test, for each value separately."),
    missing: optional(
      z.enum(["holds", "fails"]),
      "The outcome for a call without this path. Default: deny and ask rules match the call, allow rules do not.",
    ),
  })
  .describe("One condition on the arguments: a path, and equals, is, oneOf, prefix, matches, or min and max.");

const ruleSchema = z
  .strictObject({
    id: optional(z.string().min(1).max(64), "The id of the rule. Default: rule-1, rule-2 and so on."),
    decision: z.enum(["allow", "ask", "deny"]).describe("The decision about calls that match the rule."),
    principals: optional(names, "Principals by name. Without principals and groups, the rule matches every principal."),
    groups: optional(names, "Groups of principals; a principal matches if either field does."),
    servers: optional(names, "Upstreams by their names in this configuration. Default: every upstream."),
    tools: optional(
      toolPatterns,
      'Tools: "*", "github.*", "github.createIssue", "github.delete*" or "*.delete*". Default: every tool.',
    ),
    effects: optional(z.array(z.enum(EFFECTS)).min(1), "Effects of tools. Default: every effect."),
    when: optional(z.array(conditionSchema).min(1).max(32), "Conditions on the arguments; all of them must hold."),
    reason: optional(
      z.string().min(1).max(500),
      "The reason that callers read when a call is denied or waits for approval.",
    ),
  })
  .describe("One rule. The strictest rule that matches a call decides.");

const rulesSchema = z.array(ruleSchema).max(MOST_RULES);

const labels = z.array(z.enum(["private", "untrusted", "external"])).min(1);

const labelSchema = z
  .strictObject({
    tools: toolPatterns.describe('Tools: "*", "github.*", "github.createIssue", "github.delete*" or "*.delete*".'),
    add: optional(labels, "Labels to add."),
    remove: optional(labels, "Labels to remove."),
  })
  .refine(({ add, remove }) => add !== undefined || remove !== undefined, "expected add or remove")
  .describe(
    "Changes the labels of tools: private (returns sensitive data), untrusted (returns text of third parties), external (sends data out of the organization).",
  );

export const policySchema = z
  .strictObject({
    profile: choice(["balanced", "strict", "open"], "The decisions about calls that no rule matches."),
    rules: rulesSchema.default([]).describe("Rules for calls."),
    file: optional(
      z.string().min(1),
      "A file with more rules, relative to the folder of this configuration. A running gateway reads it again when it changes.",
    ),
    groups: z
      .record(z.string(), z.array(parsable(parsePrincipalId, "expected the name of a principal")))
      .default({})
      .describe("Groups by name, with their principals."),
    effects: z
      .record(z.string(), z.enum(EFFECTS))
      .default({})
      .describe("Effects by tool pattern, which override what the servers declare."),
    flows: optional(
      z.enum(["ask", "deny", "allow"]),
      "The decision about a call of an external tool after private data and untrusted text were read. Default by profile: balanced asks, strict denies, open allows and records.",
    ),
    labels: z
      .array(labelSchema)
      .max(MOST_RULES)
      .default([])
      .describe("Changes to the labels of tools, applied in this order after the built-in catalog and annotations."),
    labelHours: z
      .number()
      .min(0)
      .max(8_760)
      .default(4)
      .describe(
        "For how many hours after the last labeled read of a principal its new HTTP sessions inherit the labels. 0 ends labels with their session.",
      ),
  })
  .prefault({})
  .describe("Decides about each call: allow, ask a person, or deny.");

export const ruleFileSchema = z.strictObject({
  $schema: z.string().optional(),
  rules: rulesSchema.describe("Rules in addition to those of the configuration."),
});

export type CheckedRule = z.output<typeof ruleSchema>;
