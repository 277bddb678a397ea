/** Decides one call. Pure: equal inputs give equal decisions. */

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
import { ACCESS_RULE, PROFILE_RULES } from "../decision.ts";
import type { DecisionKind } from "../decision.ts";
import { formsOf, matchTool } from "../matches-tool.ts";
import { matchSubject } from "./compile-policy.ts";
import type { CompiledPolicy, CompiledRule, RuleSubject } from "./compile-policy.ts";
import { MAX_STEPS, matchAll } from "./match-condition.ts";
import type { StepBudget, Match } from "./match-condition.ts";

export interface DecisionInput {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly principal: Principal;
}

/** The decision when no rule matches. */
export const PROFILES: Readonly<Record<PolicySettings["profile"], Readonly<Record<Effect, DecisionKind>>>> = {
  balanced: { read: "allow", write: "allow", unknown: "allow", destroy: "ask" },
  strict: { read: "allow", write: "ask", unknown: "ask", destroy: "deny" },
  open: { read: "allow", write: "allow", unknown: "allow", destroy: "allow" },
};

/** Deny beats ask beats allow, in any order: a narrow rule cannot loosen a broad one. Else the profile decides. */
export function decide(policy: CompiledPolicy, input: DecisionInput): Decision {
  checkSubject(input);
  const { tool, call } = input;
  if (isBeyondAccess(tool, input.principal))
    return toDecision("deny", ACCESS_RULE, tool, `the credential of ${input.principal.id} does not cover it`);
  const subject = toSubject(tool, input.principal);
  const budget = { left: MAX_STEPS };
  const found = policy.rules.find((rule) =>
    isInForce(rule.rule, matchRule(rule, subject, { args: call.args, budget })),
  );
  if (found) return toDecision(found.rule.decision, found.rule.id, tool, found.rule.reason);
  const { profile } = policy.settings;
  const why = `default of the profile ${profile} for this effect`;
  return toDecision(PROFILES[profile][tool.effect], PROFILE_RULES[profile], tool, why);
}

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

/** If a match is unclear, deny and ask apply, but allow does not. */
export function isInForce({ decision }: Pick<PolicyRule, "decision">, match: Match): boolean {
  return match === "yes" || (match === "unclear" && decision !== "allow");
}

/** True if this tool is denied for all arguments: it is hidden from the principal, but calls are still decided. */
export function isAlwaysDenied({ rules, settings }: CompiledPolicy, tool: Tool, principal: Principal): boolean {
  if (isBeyondAccess(tool, principal)) return true;
  const subject = toSubject(tool, principal);
  const reaching = rules.filter((compiled) => matchSubject(compiled, subject) === "yes").map(({ rule }) => rule);
  if (reaching.some(({ decision, when = [] }) => decision === "deny" && when.length === 0)) return true;
  if (PROFILES[settings.profile][tool.effect] !== "deny") return false;
  return reaching.every(({ decision }) => decision === "deny");
}

/** A pattern that may mean another tool covers neither: what is unclear is outside. */
function isBeyondAccess(tool: Tool, { access }: Pick<Principal, "access">): boolean {
  if (!access) return false;
  const { servers, tools, profileTools, effects } = access;
  if (servers && !servers.includes(tool.origin.connector)) return true;
  if (effects && !effects.includes(tool.effect)) return true;
  return [tools, profileTools].some((one) => one !== undefined && matchTool(one, formsOf(tool)) !== "yes");
}

export function toSubject(tool: Tool, principal: Principal): RuleSubject {
  const { address, origin, effect } = tool;
  return { principal, address, forms: formsOf(tool), server: origin.connector, effect };
}

/** Guards against a decision about another tool or principal than those of the call. */
function checkSubject({ call, tool, principal }: DecisionInput): void {
  if (call.address !== tool.address) throw new TypeError(`The call is for ${call.address}, not for ${tool.address}`);
  if (call.principal !== principal.id) throw new TypeError(`The call is not from the principal ${principal.id}`);
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
