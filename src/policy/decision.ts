/** What all parts of the policy share about decisions: their strictness and the ids of built-in rules. */

import { parseRuleId } from "../domain/index.ts";
import type { Decision, PolicyRule, PolicySettings } from "../domain/index.ts";

export type DecisionKind = Decision["kind"];

/** Deny beats ask beats allow. */
export const STRICTNESS: Readonly<Record<DecisionKind, number>> = { allow: 0, ask: 1, deny: 2 };

export function isStricter(one: DecisionKind, other: DecisionKind): boolean {
  return STRICTNESS[one] > STRICTNESS[other];
}

/** Returns the stricter decision; of two equal ones the data-flow guard's, which explains more. */
export function pickStricter(decision: Decision, guard: Decision | undefined): Decision {
  return guard && STRICTNESS[guard.kind] >= STRICTNESS[decision.kind] ? guard : decision;
}

/** Throws for an invalid id: callers pass constants only. */
export function createRuleId(text: string): PolicyRule["id"] {
  const id = parseRuleId(text);
  if (id === undefined) throw new TypeError(`${text} is not a valid rule id`);
  return id;
}

export const PROFILE_RULES: Readonly<Record<PolicySettings["profile"], PolicyRule["id"]>> = {
  balanced: createRuleId("profile:balanced"),
  strict: createRuleId("profile:strict"),
  open: createRuleId("profile:open"),
};

/** The rule of a call that a token does not cover. */
export const ACCESS_RULE = createRuleId("access:credential");

export const FLOW_RULE = createRuleId("flow:private+untrusted>external");

/** Returns true for the rule of the data-flow guard, which no policy rule can loosen. */
export function isFlowRule(rule: string): boolean {
  return rule === FLOW_RULE;
}
