/** Explains a decision: every rule, whether it matches, and why. */

import { defined } from "../../domain/index.ts";
import type { Condition, Decision, Json, PolicyRule } from "../../domain/index.ts";
import type { CompiledPolicy, CompiledRule, Misfit, RuleSubject } from "./compile-policy.ts";
import { decide, isInForce, matchRule, toSubject } from "./decide.ts";
import type { DecisionInput } from "./decide.ts";
import { MAX_STEPS, matchCondition } from "./match-condition.ts";
import type { Match } from "./match-condition.ts";

export interface PolicyExplanation {
  readonly decision: Decision;
  /** Strictest first: the first that matches decides, otherwise the profile. */
  readonly rules: readonly {
    readonly rule: PolicyRule["id"];
    readonly decision: Decision["kind"];
    readonly matches: boolean;
    readonly why: string;
  }[];
}

/** Decides as the bridge would, and explains every rule. */
export function explain(policy: CompiledPolicy, input: DecisionInput): PolicyExplanation {
  const subject = toSubject(input.tool, input.principal);
  const { args } = input.call;
  const rules = policy.rules.map((compiled) => {
    const { id: rule, decision } = compiled.rule;
    const matches = isInForce(compiled.rule, matchRule(compiled, subject, { args, budget: { left: MAX_STEPS } }));
    return { rule, decision, matches, why: explainRule(compiled, subject, args) };
  });
  return { decision: decide(policy, input), rules };
}

function explainRule({ rule, findMisfit }: CompiledRule, subject: RuleSubject, args: Json): string {
  const { decision, when = [] } = rule;
  const misfit = findMisfit(subject);
  if (misfit !== undefined) return describeMisfit(misfit, subject);
  if (when.length === 0) return "matches, without conditions";
  return when
    .map((condition) => explainCondition(condition, matchCondition(condition, args, { decision }), decision))
    .join("; ");
}

function describeMisfit(misfit: Misfit, { principal, address, server, effect }: RuleSubject): string {
  switch (misfit) {
    case "tool":
      return `does not apply to ${address}`;
    case "unclear-tool":
      return `applies to ${address} unless it allows: another tool may have the name in the rule`;
    case "effect":
      return `does not apply to the effect ${effect}`;
    case "principal":
      return `does not apply to ${principal.id}`;
    case "server":
      return `does not apply to the upstream ${server ?? "of this tool"}`;
    case "unknown-server":
      return "the upstream is no longer known";
    default:
      return misfit satisfies never;
  }
}

function explainCondition(condition: Condition, match: Match, decision: Decision["kind"]): string {
  const words = describeCondition(condition);
  if (match === "yes") return `${words} holds`;
  if (match === "no") return `${words} does not hold`;
  const so = decision === "allow" ? "so allow does not apply" : `so ${decision} applies`;
  return `${words} is unclear: the path is missing, its type is wrong, or there is too much data; ${so}`;
}

export function describeCondition({ path, test, not }: Condition): string {
  return `${path.text} ${not ? "not " : ""}${describeTest(test)}`;
}

function describeTest(test: Condition["test"]): string {
  switch (test.kind) {
    case "equals":
      return `equals ${JSON.stringify(test.value)}`;
    case "oneOf":
      return `one of ${JSON.stringify(test.values)}`;
    case "is":
      return `is ${JSON.stringify(test.value)}`;
    case "prefix":
      return `starts with ${JSON.stringify(test.text)}`;
    case "matches":
      return `matches ${JSON.stringify(test.pattern.text)}`;
    case "range":
      return Object.entries(defined({ from: test.min, "up to": test.max }))
        .flat()
        .join(" ");
    default:
      return test satisfies never;
  }
}
