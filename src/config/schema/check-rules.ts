/** Rules: checks that the schema cannot express, and the rules that they become. */

import { GloveboxError, defined, isJsonObject, parseRuleId } from "../../domain/index.ts";
import type { Condition, Json, JsonObject, PolicyRule } from "../../domain/index.ts";
import { TOOL_PATTERN_FORMS, isToolPattern } from "../formats.ts";
import { quote } from "../problems.ts";
import type { KeyPath, Problems } from "../problems.ts";
import type { CheckedRule } from "./policy-schema.ts";
import { parseJsonPath } from "./values/json-path.ts";
import { parseTextPattern } from "./values/text-pattern.ts";

const TESTS = ["equals", "is", "oneOf", "prefix", "matches"] as const;
const RANGE = ["min", "max"] as const;

/** Rules that Glovebox has without a configuration. An approval remembers the rule that asked by its id. */
const OWN_ID = /^(?:(?:access|flow|profile):|(?:builtin|input)$)/;

type RuleOrigin = "configuration" | "rule file";

function toDefaultId(index: number, origin: RuleOrigin): string {
  return origin === "configuration" ? `rule-${index + 1}` : `file-rule-${index + 1}`;
}

/** Accepts rules that violate the schema. Ledger records name rules by id, so ids must be unique. */
export function checkRules(
  rules: readonly Json[],
  { path, origin, taken }: { path: KeyPath; origin: RuleOrigin; taken?: ReadonlySet<string> },
  problems: Problems,
): void {
  const known = new Set(taken);
  for (const [index, rule] of rules.entries()) {
    if (!isJsonObject(rule)) continue;
    const { id: written, when } = rule;
    const at = [...path, index];
    const id = typeof written === "string" ? written : toDefaultId(index, origin);
    if (parseRuleId(id) === undefined)
      problems.refuse([...at, "id"], "expected an id of 1 to 64 characters without control characters");
    if (OWN_ID.test(id))
      problems.refuse([...at, "id"], `${quote(id)} can be mistaken for a rule of Glovebox itself; use another id`);
    if (known.has(id)) problems.refuse([...at, "id"], `another rule has the id ${quote(id)}; use different ids`);
    known.add(id);
    for (const [number, condition] of (Array.isArray(when) ? when : []).entries()) {
      if (isJsonObject(condition)) checkCondition(condition, [...at, "when", number], problems);
    }
  }
}

export function checkPatterns(byPattern: JsonObject, path: KeyPath, problems: Problems): void {
  for (const pattern of Object.keys(byPattern).filter((key) => !isToolPattern(key)))
    problems.refuseKey([...path, pattern], TOOL_PATTERN_FORMS);
}

function checkCondition(condition: JsonObject, path: KeyPath, problems: Problems): void {
  const tests = TESTS.filter((test) => condition[test] !== undefined);
  const isRange = RANGE.some((end) => condition[end] !== undefined);
  if (tests.length + (isRange ? 1 : 0) !== 1) {
    const message =
      "expected exactly one of equals, is, oneOf, prefix, matches, or min and max; use one condition for each test";
    problems.refuse(path, message);
  }
  const { min, max } = condition;
  if (typeof min === "number" && typeof max === "number" && min > max) problems.refuse(path, "min is greater than max");
}

/** Converts a rule that passed the schema and `checkRules`. */
export function toRule(rule: CheckedRule, index: number, origin: RuleOrigin): PolicyRule {
  const id = parseRuleId(rule.id ?? toDefaultId(index, origin)) ?? unchecked("id");
  const { decision, principals, groups, servers, tools = [], effects = [], when } = rule;
  const { reason = `Rule ${id} of the ${origin} says ${decision}` } = rule;
  const optional = defined({ principals, groups, servers, when: when?.map(toCondition) });
  return { id, decision, ...optional, tools, effects, reason };
}

type CheckedCondition = NonNullable<CheckedRule["when"]>[number];

function toCondition({ path, not, missing, ...tests }: CheckedCondition): Condition {
  return { path: parseJsonPath(path) ?? unchecked("path"), test: toTest(tests), not, ...defined({ missing }) };
}

function toTest({ equals, is, oneOf, prefix, matches, min, max }: Partial<CheckedCondition>): Condition["test"] {
  if (equals !== undefined) return { kind: "equals", value: equals };
  if (is !== undefined) return { kind: "is", value: is };
  if (oneOf !== undefined) return { kind: "oneOf", values: oneOf };
  if (prefix !== undefined) return { kind: "prefix", text: prefix };
  if (matches !== undefined) return { kind: "matches", pattern: parseTextPattern(matches) ?? unchecked("pattern") };
  return { kind: "range", ...defined({ min, max }) };
}

function unchecked(part: string): never {
  throw new GloveboxError("INTERNAL_BUG", `The ${part} of a rule was not checked`);
}
