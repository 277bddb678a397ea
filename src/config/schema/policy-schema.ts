/** The shape of what decides about calls: `policy` in the configuration, and the rule file that it may name. */

import { z } from "zod";

import { parsePrincipalId } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { isToolPattern } from "../formats.ts";
import { parseJsonPath } from "./values/json-path.ts";
import { parseTextPattern } from "./values/text-pattern.ts";

const EFFECTS = ["read", "write", "destroy", "unknown"] as const;
const MOST_RULES = 1000;

const scalarSchema = z.union([z.string().max(10_000), z.number(), z.boolean(), z.null()], {
  error: "expected a text, a number, true, false or null",
});

const isPrincipal = (text: string): boolean => parsePrincipalId(text) !== undefined;
const names = z.array(z.string().min(1).max(256)).min(1).optional();

/** Patterns of tools, wherever a setting takes some. */
export const toolPatterns = z
  .array(z.string().refine(isToolPattern, 'expected "*", "namespace.*" or "namespace.tool"; nothing else is a pattern'))
  .min(1);

const conditionSchema = z
  .strictObject({
    path: z
      .string()
      .refine((text) => parseJsonPath(text) !== undefined, 'expected a path such as "to[*].address" or "$.amount"')
      .meta({ description: 'Where in the arguments: "amount", "to[*].address", "$.items[0]".' }),
    equals: scalarSchema.optional().meta({ description: "The value is this one." }),
    oneOf: z.array(scalarSchema).min(1).max(1000).optional().meta({ description: "The value is one of these." }),
    prefix: z.string().min(1).max(10_000).optional().meta({ description: "The value is a text that starts so." }),
    matches: z
      .string()
      .refine(
        (text) => parseTextPattern(text) !== undefined,
        "expected a pattern of at most 200 characters, with *, ?, [a-z], [!a-z] and \\ before a plain character",
      )
      .optional()
      .meta({ description: "The whole text fits a pattern of *, ?, [a-z] and [!a-z]." }),
    min: z.number().optional().meta({ description: "The value is a number, this or more." }),
    max: z.number().optional().meta({ description: "The value is a number, this or less." }),
    not: z.boolean().default(false).meta({ description: "true turns the test round, for each value by itself." }),
    missing: z.enum(["holds", "fails"]).optional().meta({
      description: "What a call without this path counts as. Left out, deny and ask apply to it and allow does not.",
    }),
  })
  .meta({ description: "One condition on the arguments: a path, and equals, oneOf, prefix, matches, or min and max." });

/** One rule, in the configuration or in a rule file. */
export const ruleSchema = z
  .strictObject({
    id: z.string().min(1).max(64).optional().meta({ description: "The rule's name; rule-1, rule-2, … when left out." }),
    decision: z.enum(["allow", "ask", "deny"]).meta({ description: "What happens to a call that the rule matches." }),
    principals: names.meta({ description: "Who calls, by name. Left out with groups, the rule matches everybody." }),
    groups: names.meta({ description: "Groups of callers; an alternative to principals." }),
    servers: names.meta({ description: "Upstreams by their names here. Left out, the rule matches every upstream." }),
    tools: toolPatterns
      .optional()
      .meta({ description: 'Tools: "*", "github.*" or "github.createIssue". Left out, the rule matches every tool.' }),
    effects: z
      .array(z.enum(EFFECTS))
      .min(1)
      .optional()
      .meta({ description: "What the tool does to the world. Left out, the rule matches every effect." }),
    when: z
      .array(conditionSchema)
      .min(1)
      .max(32)
      .optional()
      .meta({ description: "Conditions on the arguments; all must hold." }),
    reason: z.string().min(1).max(500).optional().meta({ description: "What a refused or waiting caller reads." }),
  })
  .meta({ description: "One rule. The strictest rule that matches a call decides." });

const rulesSchema = z.array(ruleSchema).max(MOST_RULES);

const LABEL = z.enum(["private", "untrusted", "external"]);

const labelSchema = z
  .strictObject({
    tools: toolPatterns.meta({ description: 'Tools: "*", "github.*" or "github.createIssue".' }),
    add: z.array(LABEL).min(1).optional().meta({ description: "Labels that these tools have too." }),
    remove: z
      .array(LABEL)
      .min(1)
      .optional()
      .meta({ description: "Labels that these tools do not have, known or not." }),
  })
  .refine(({ add, remove }) => add !== undefined || remove !== undefined, "expected add or remove")
  .meta({
    description:
      "What tools return and where they send: private (sensitive), untrusted (written by strangers), external (leaves the organization).",
  });

/** The whole section. */
export const policySchema = z
  .strictObject({
    profile: z.enum(["balanced", "strict", "open"]).default("balanced").meta({
      description: "What is decided about a call that no rule matches.",
    }),
    rules: rulesSchema.default([]).meta({ description: "Rules of this installation." }),
    file: z.string().min(1).optional().meta({
      description: "A file with more rules, relative to this file's folder. A running gateway notices when it changes.",
    }),
    groups: z
      .record(z.string(), z.array(z.string().refine(isPrincipal, "expected the name of a principal")))
      .default({})
      .meta({ description: "Names of groups, and the principals in each." }),
    effects: z
      .record(z.string(), z.enum(EFFECTS))
      .default({})
      .meta({ description: "What tools do, by tool pattern, where the operator knows better than their servers." }),
    flows: z.enum(["ask", "deny", "allow"]).optional().meta({
      description:
        "What happens to a call of an external tool after private data and untrusted text were read. Left out, the profile decides: balanced asks, strict denies, open allows and records.",
    }),
    labels: z.array(labelSchema).max(MOST_RULES).default([]).meta({
      description: "Changes to the labels of tools, in this order, after the built-in catalogue and annotations.",
    }),
  })
  .prefault({})
  .meta({ description: "Who decides about a call: allow, ask a person, or deny." });

/** What a rule file holds. */
export const ruleFileSchema = z.strictObject({
  $schema: z.string().optional(),
  rules: rulesSchema.meta({ description: "Rules that stand beside those of the configuration." }),
});

export type CheckedRule = z.output<typeof ruleSchema>;
export type CheckedCondition = z.output<typeof conditionSchema>;

/** For the messages about a rule file. */
export function createRuleFileSchema(): JsonObject {
  const plain: JsonObject = JSON.parse(
    JSON.stringify(z.toJSONSchema(ruleFileSchema, { io: "input", target: "draft-7" })),
  );
  return plain;
}
