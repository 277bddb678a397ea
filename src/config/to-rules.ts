/** Converts rules that passed the schema to rules of the policy; parses paths and patterns once. */

import { GloveboxError, defined, parseRuleId } from "../domain/index.ts";
import type { Condition, PolicyRule } from "../domain/index.ts";
import { toDefaultRuleId } from "./schema/check-rules.ts";
import type { RuleOrigin } from "./schema/check-rules.ts";
import type { CheckedCondition, CheckedRule } from "./schema/policy-schema.ts";
import { parseJsonPath } from "./schema/values/json-path.ts";
import { parseTextPattern } from "./schema/values/text-pattern.ts";

export function toRule(rule: CheckedRule, index: number, origin: RuleOrigin): PolicyRule {
  const id = parseRuleId(rule.id ?? toDefaultRuleId(index, origin)) ?? unchecked("id");
  const { decision, principals, groups, servers, tools = [], effects = [], when } = rule;
  const { reason = `Rule ${id} of the ${origin} says ${decision}` } = rule;
  const optional = defined({ principals, groups, servers, when: when?.map(toCondition) });
  return { id, decision, ...optional, tools, effects, reason };
}

function toCondition(condition: CheckedCondition): Condition {
  const { not, missing } = condition;
  const path = parseJsonPath(condition.path) ?? unchecked("path");
  return { path, test: toTest(condition), not, ...defined({ missing }) };
}

function toTest({ equals, oneOf, prefix, matches, min, max }: CheckedCondition): Condition["test"] {
  if (equals !== undefined) return { kind: "equals", value: equals };
  if (oneOf !== undefined) return { kind: "oneOf", values: oneOf };
  if (prefix !== undefined) return { kind: "prefix", text: prefix };
  if (matches !== undefined) return { kind: "matches", pattern: parseTextPattern(matches) ?? unchecked("pattern") };
  return { kind: "range", ...defined({ min, max }) };
}

function unchecked(part: string): never {
  throw new GloveboxError("INTERNAL_BUG", `The ${part} of a rule was not checked`);
}
