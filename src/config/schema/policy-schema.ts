/** Schema of `policy`, and of the rule file that it may name. */

import { z } from "zod";

import { parsePrincipalId } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { isToolPattern } from "../formats.ts";
import { parseJsonPath } from "./values/json-path.ts";
import { parseTextPattern } from "./values/text-pattern.ts";

const EFFECTS = ["read", "write", "destroy", "unknown"] as const;
const MOST_RULES = 1000;

const scalarSchema = z.union([z.string().max(10_000), z.number(), z.boolean(), z.null()], {
  error: "expected a string, a number, true, false or null",
});

const isPrincipal = (text: string): boolean => parsePrincipalId(text) !== undefined;
const names = z.array(z.string().min(1).max(256)).min(1).optional();

/** Tool patterns of any setting. */
export const toolPatterns = z
  .array(z.string().refine(isToolPattern, 'expected "*", "namespace.*" or "namespace.tool"'))
  .min(1);

const conditionSchema = z
  .strictObject({
    path: z
      .string()
      .refine((text) => parseJsonPath(text) !== undefined, 'expected a path such as "to[*].address" or "$.amount"')
      .meta({ description: 'A path into the arguments: "amount", "to[*].address", "$.items[0]".' }),
    equals: scalarSchema.optional().meta({ description: "The value equals this one." }),
    oneOf: z.array(scalarSchema).min(1).max(1000).optional().meta({ description: "The value is one of these." }),
    prefix: z.string().min(1).max(10_000).optional().meta({ description: "The value is a string with this prefix." }),
    matches: z
      .string()
      .refine(
        (text) => parseTextPattern(text) !== undefined,
        "expected a pattern of at most 200 characters, with *, ?, [a-z], [!a-z] and \\ before a plain character",
      )
      .optional()
      .meta({ description: "The value is a string that matches this pattern of *, ?, [a-z] and [!a-z] as a whole." }),
    min: z.number().optional().meta({ description: "The value is a number of at least this." }),
    max: z.number().optional().meta({ description: "The value is a number of at most this." }),
    not: z.boolean().default(false).meta({ description: "true inverts the test, for each value separately." }),
    missing: z.enum(["holds", "fails"]).optional().meta({
      description:
        "The outcome for a call without this path. Default: deny and ask rules match the call, allow rules do not.",
    }),
  })
  .meta({ description: "One condition on the arguments: a path, and equals, oneOf, prefix, matches, or min and max." });

/** One rule, in the configuration or in a rule file. */
export const ruleSchema = z
  .strictObject({
    id: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .meta({ description: "The id of the rule. Default: rule-1, rule-2 and so on." }),
    decision: z.enum(["allow", "ask", "deny"]).meta({ description: "The decision about calls that match the rule." }),
    principals: names.meta({
      description: "Principals by name. Without principals and groups, the rule matches every principal.",
    }),
    groups: names.meta({ description: "Groups of principals; a principal matches if either field does." }),
    servers: names.meta({ description: "Upstreams by their names in this configuration. Default: every upstream." }),
    tools: toolPatterns
      .optional()
      .meta({ description: 'Tools: "*", "github.*" or "github.createIssue". Default: every tool.' }),
    effects: z
      .array(z.enum(EFFECTS))
      .min(1)
      .optional()
      .meta({ description: "Effects of tools. Default: every effect." }),
    when: z
      .array(conditionSchema)
      .min(1)
      .max(32)
      .optional()
      .meta({ description: "Conditions on the arguments; all of them must hold." }),
    reason: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .meta({ description: "The reason that callers read when a call is denied or waits for approval." }),
  })
  .meta({ description: "One rule. The strictest rule that matches a call decides." });

const rulesSchema = z.array(ruleSchema).max(MOST_RULES);

const LABEL = z.enum(["private", "untrusted", "external"]);

const labelSchema = z
  .strictObject({
    tools: toolPatterns.meta({ description: 'Tools: "*", "github.*" or "github.createIssue".' }),
    add: z.array(LABEL).min(1).optional().meta({ description: "Labels to add." }),
    remove: z.array(LABEL).min(1).optional().meta({ description: "Labels to remove." }),
  })
  .refine(({ add, remove }) => add !== undefined || remove !== undefined, "expected add or remove")
  .meta({
    description:
      "Changes the labels of tools: private (returns sensitive data), untrusted (returns text of third parties), external (sends data out of the organization).",
  });

/** The whole section. */
export const policySchema = z
  .strictObject({
    profile: z.enum(["balanced", "strict", "open"]).default("balanced").meta({
      description: "The decisions about calls that no rule matches.",
    }),
    rules: rulesSchema.default([]).meta({ description: "Rules for calls." }),
    file: z.string().min(1).optional().meta({
      description:
        "A file with more rules, relative to the folder of this configuration. A running gateway reads it again when it changes.",
    }),
    groups: z
      .record(z.string(), z.array(z.string().refine(isPrincipal, "expected the name of a principal")))
      .default({})
      .meta({ description: "Groups by name, with their principals." }),
    effects: z
      .record(z.string(), z.enum(EFFECTS))
      .default({})
      .meta({ description: "Effects by tool pattern, which override what the servers declare." }),
    flows: z.enum(["ask", "deny", "allow"]).optional().meta({
      description:
        "The decision about a call of an external tool after private data and untrusted text were read. Default by profile: balanced asks, strict denies, open allows and records.",
    }),
    labels: z.array(labelSchema).max(MOST_RULES).default([]).meta({
      description: "Changes to the labels of tools, applied in this order after the built-in catalog and annotations.",
    }),
  })
  .prefault({})
  .meta({ description: "Decides about each call: allow, ask a person, or deny." });

/** The content of a rule file. */
export const ruleFileSchema = z.strictObject({
  $schema: z.string().optional(),
  rules: rulesSchema.meta({ description: "Rules in addition to those of the configuration." }),
});

export type CheckedRule = z.output<typeof ruleSchema>;
export type CheckedCondition = z.output<typeof conditionSchema>;

/** Used for messages about a rule file. */
export function createRuleFileSchema(): JsonObject {
  const plain: JsonObject = JSON.parse(
    JSON.stringify(z.toJSONSchema(ruleFileSchema, { io: "input", target: "draft-7" })),
  );
  return plain;
}
