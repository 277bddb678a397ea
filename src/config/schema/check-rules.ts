/** What the schema cannot say about rules: their names are their own, and a condition is one test. */

import { isJsonObject, parseRuleId } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { isToolPattern } from "../formats.ts";
import { quote } from "../problems.ts";
import type { KeyPath, Problems } from "../problems.ts";

const TESTS = ["equals", "oneOf", "prefix", "matches"] as const;
const RANGE = ["min", "max"] as const;

/** Where rules stand, for the names of those that were given none. */
export type RuleOrigin = "configuration" | "rule file";

/** The id of a rule that was given none, by its place in the list. */
export function toDefaultRuleId(index: number, origin: RuleOrigin = "configuration"): string {
  return origin === "configuration" ? `rule-${index + 1}` : `file-rule-${index + 1}`;
}

/** Where the list stands, and which ids are taken elsewhere already. */
export interface RulesPlace {
  readonly path: KeyPath;
  readonly origin: RuleOrigin;
  readonly taken?: ReadonlySet<string>;
}

/** Works on rules that may still break the schema, so that all problems come out at once. */
export function checkRules(rules: readonly Json[], { path, origin, taken }: RulesPlace, problems: Problems): void {
  const seen = new Set(taken);
  for (const [index, rule] of rules.entries()) {
    if (!isJsonObject(rule)) continue;
    const at = [...path, index];
    checkId(typeof rule["id"] === "string" ? rule["id"] : toDefaultRuleId(index, origin), { at, seen, problems });
    const { when } = rule;
    if (!Array.isArray(when)) continue;
    for (const [number, condition] of when.entries()) {
      if (isJsonObject(condition)) checkCondition(condition, [...at, "when", number], problems);
    }
  }
}

/** The keys of `policy.effects` and `quotas.prices` are tool patterns. */
export function checkPatterns(byPattern: JsonObject, path: KeyPath, problems: Problems): void {
  for (const pattern of Object.keys(byPattern)) {
    if (isToolPattern(pattern)) continue;
    const message = 'expected "*", "namespace.*" or "namespace.tool"; nothing else is a pattern';
    problems.report({ path: [...path, pattern], anchor: "key", message });
  }
}

/** Audit records name rules by id, so two rules may not share one. */
function checkId(
  id: string,
  { at, seen, problems }: { readonly at: KeyPath; readonly seen: Set<string>; readonly problems: Problems },
): void {
  const report = (message: string): void => problems.report({ path: [...at, "id"], anchor: "value", message });
  if (parseRuleId(id) === undefined) report("expected an id of 1 to 64 characters, none a control character");
  if (seen.has(id)) report(`another rule has the id ${quote(id)}; give each its own`);
  seen.add(id);
}

function checkCondition(condition: JsonObject, path: KeyPath, problems: Problems): void {
  const given = TESTS.filter((test) => condition[test] !== undefined);
  const isRange = RANGE.some((end) => condition[end] !== undefined);
  const report = (message: string): void => problems.report({ path, anchor: "value", message });
  if (given.length + (isRange ? 1 : 0) !== 1) {
    report("expected exactly one of equals, oneOf, prefix, matches, or min and max; write one condition for each test");
  }
  const { min, max } = condition;
  if (typeof min === "number" && typeof max === "number" && min > max) report("min is above max; nothing is between");
}
