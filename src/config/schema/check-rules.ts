/** Checks of rules that the schema cannot express: ids are unique, and a condition has exactly one test. */

import { isJsonObject, parseRuleId } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { isToolPattern } from "../formats.ts";
import { quote } from "../problems.ts";
import type { KeyPath, Problems } from "../problems.ts";

const TESTS = ["equals", "oneOf", "prefix", "matches"] as const;
const RANGE = ["min", "max"] as const;

/** Where rules come from, for the ids of rules without one. */
export type RuleOrigin = "configuration" | "rule file";

/** Returns the id of a rule without one, from its index. */
export function toDefaultRuleId(index: number, origin: RuleOrigin = "configuration"): string {
  return origin === "configuration" ? `rule-${index + 1}` : `file-rule-${index + 1}`;
}

/** The position of the array, and the ids that are already used. */
export interface RulesPlace {
  readonly path: KeyPath;
  readonly origin: RuleOrigin;
  readonly taken?: ReadonlySet<string>;
}

/** Accepts rules that violate the schema, so that all problems are reported at once. */
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

/** Checks the keys of `policy.effects` and `quotas.prices`. */
export function checkPatterns(byPattern: JsonObject, path: KeyPath, problems: Problems): void {
  for (const pattern of Object.keys(byPattern)) {
    if (isToolPattern(pattern)) continue;
    const message = 'expected "*", "namespace.*" or "namespace.tool"';
    problems.report({ path: [...path, pattern], anchor: "key", message });
  }
}

/** Ledger records name rules by id, so ids must be unique. */
function checkId(
  id: string,
  { at, seen, problems }: { readonly at: KeyPath; readonly seen: Set<string>; readonly problems: Problems },
): void {
  const report = (message: string): void => problems.report({ path: [...at, "id"], anchor: "value", message });
  if (parseRuleId(id) === undefined) report("expected an id of 1 to 64 characters without control characters");
  if (seen.has(id)) report(`another rule has the id ${quote(id)}; use different ids`);
  seen.add(id);
}

function checkCondition(condition: JsonObject, path: KeyPath, problems: Problems): void {
  const given = TESTS.filter((test) => condition[test] !== undefined);
  const isRange = RANGE.some((end) => condition[end] !== undefined);
  const report = (message: string): void => problems.report({ path, anchor: "value", message });
  if (given.length + (isRange ? 1 : 0) !== 1) {
    report("expected exactly one of equals, oneOf, prefix, matches, or min and max; use one condition for each test");
  }
  const { min, max } = condition;
  if (typeof min === "number" && typeof max === "number" && min > max) report("min is greater than max");
}
