/** Decides one call. Pure: the same question has the same answer, and nothing is carried out or remembered here. */

import { describeEffect } from "../../domain/index.ts";
import type {
  Decision,
  Effect,
  Json,
  PolicyRule,
  PolicySettings,
  Principal,
  Tool,
  ToolCall,
} from "../../domain/index.ts";
import { matchSubject } from "./compile-policy.ts";
import type { CompiledPolicy, CompiledRule, RuleSubject } from "./compile-policy.ts";
import { MAX_STEPS, matchAll } from "./match-condition.ts";
import type { StepBudget, Match } from "./match-condition.ts";

/** Everything that a decision may depend on beside the rules; what is not in here cannot influence it. */
export interface DecisionInput {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly principal: Principal;
}

type DecisionKind = Decision["kind"];

const PROFILES: Readonly<Record<PolicySettings["profile"], Readonly<Record<Effect, DecisionKind>>>> = {
  balanced: { read: "allow", write: "allow", unknown: "allow", destroy: "ask" },
  strict: { read: "allow", write: "ask", unknown: "ask", destroy: "deny" },
  open: { read: "allow", write: "allow", unknown: "allow", destroy: "allow" },
};

/**
 * Deny beats ask beats allow among the matching rules, so a narrow rule cannot loosen a broad one and the order
 * of rules never matters for the outcome. Without a matching rule the profile answers.
 */
export function decide(policy: CompiledPolicy, question: DecisionInput): Decision {
  checkSubject(question);
  const { tool, call } = question;
  const subject = toSubject(tool, question.principal);
  const budget = { left: MAX_STEPS };
  const found = policy.rules.find((rule) =>
    isInForce(rule.rule, matchRule(rule, subject, { args: call.args, budget })),
  );
  if (found) return toDecision(found.rule.decision, found.rule.id, tool, found.rule.reason);
  const { profile } = policy.settings;
  const kind = decideByProfile(profile, tool.effect);
  return toDecision(kind, toProfileRule(profile), tool, `the profile ${profile} has this answer for its effect`);
}

/** What a profile says when no rule matches. */
export function decideByProfile(profile: PolicySettings["profile"], effect: Effect): DecisionKind {
  return PROFILES[profile][effect];
}

/** How a rule matches a call, arguments included. */
export function matchRule(
  compiled: CompiledRule,
  subject: RuleSubject,
  { args, budget }: { readonly args: Json; readonly budget: StepBudget },
): Match {
  const fits = matchSubject(compiled, subject);
  if (fits === "no" || compiled.rule.when === undefined) return fits;
  const holds = matchAll(compiled.rule, args, budget);
  return holds === "yes" ? fits : holds;
}

/** A refusal that cannot be told applies, a permission that cannot be told does not. */
export function isInForce({ decision }: Pick<PolicyRule, "decision">, match: Match): boolean {
  return match === "yes" || (match === "unclear" && decision !== "allow");
}

/**
 * Whether no arguments could make policy allow this tool or ask about it. Such tools are not shown to the principal;
 * a call of one is decided all the same.
 */
export function isAlwaysDenied({ rules, settings }: CompiledPolicy, tool: Tool, principal: Principal): boolean {
  const subject = toSubject(tool, principal);
  const reaching = rules.filter((compiled) => matchSubject(compiled, subject) === "yes").map(({ rule }) => rule);
  if (reaching.some(({ decision, when = [] }) => decision === "deny" && when.length === 0)) return true;
  if (decideByProfile(settings.profile, tool.effect) !== "deny") return false;
  return reaching.every(({ decision }) => decision === "deny");
}

export function toSubject({ address, origin, effect }: Tool, principal: Principal): RuleSubject {
  return { principal, address, server: origin.connector, effect };
}

/** A decision about another tool or another principal than the call's own would be worse than none. */
function checkSubject({ call, tool, principal }: DecisionInput): void {
  if (call.address !== tool.address) throw new TypeError(`Asked about ${tool.address}, called is ${call.address}`);
  if (call.principal !== principal.id) throw new TypeError(`The call is not by the principal ${principal.id}`);
}

function toDecision(kind: DecisionKind, rule: PolicyRule["id"], tool: Tool, why: string): Decision {
  const subject = `${tool.address} (effect: ${describeEffect(tool)})`;
  const because = why === "" ? `rule ${rule}` : `rule ${rule}: ${why}`;
  switch (kind) {
    case "allow":
      return { kind, rule };
    case "ask":
      return { kind, rule, reason: `${subject} needs approval, ${because}; ask the operator, or use a read tool` };
    case "deny":
      return { kind, rule, reason: `${subject} is denied, ${because}; use another tool, or ask the operator` };
    default:
      return kind satisfies never;
  }
}

/** Not parsed: the parts are our own words, never data. */
export function toProfileRule(profile: PolicySettings["profile"]): PolicyRule["id"] {
  return `profile:${profile}` as PolicyRule["id"];
}
