/** Decides one call. Pure: the same question has the same answer, and nothing is carried out or remembered here. */

import type {
  Decision,
  Effect,
  PolicyProfile,
  PolicyRule,
  Principal,
  RuleId,
  Tool,
  ToolCall,
} from "../domain/index.ts";
import { matchesTool } from "./matches-tool.ts";

/** Everything that a decision may depend on; what is not in here cannot influence it. */
export interface Question {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly rules: readonly PolicyRule[];
  /** Decides when no rule matches. */
  readonly profile: PolicyProfile;
  readonly principal: Principal;
}

type DecisionKind = Decision["kind"];

const STRICTNESS: Readonly<Record<DecisionKind, number>> = { allow: 0, ask: 1, deny: 2 };

const PROFILES: Readonly<Record<PolicyProfile, Readonly<Record<Effect, DecisionKind>>>> = {
  balanced: { read: "allow", write: "allow", unknown: "allow", destroy: "ask" },
  strict: { read: "allow", write: "ask", unknown: "ask", destroy: "deny" },
  open: { read: "allow", write: "allow", unknown: "allow", destroy: "allow" },
};

/**
 * Deny beats ask beats allow among the matching rules, so a narrow rule cannot loosen a broad one and the order
 * of rules never matters for the outcome. Without a matching rule the profile answers.
 */
export function decide(question: Question): Decision {
  const { tool, rules, profile } = question;
  checkSubject(question);
  const strictest = findStrictest(rules.filter((rule) => matches(rule, tool)));
  if (strictest) return toDecision(strictest.decision, strictest.id, tool, strictest.reason);
  const kind = PROFILES[profile][tool.effect];
  return toDecision(kind, toProfileRule(profile), tool, `the profile ${profile} has this answer for its effect`);
}

/** A decision about another tool or another principal than the call's own would be worse than none. */
function checkSubject({ call, tool, principal }: Question): void {
  if (call.address !== tool.address) throw new TypeError(`Asked about ${tool.address}, called is ${call.address}`);
  if (call.principal !== principal.id) throw new TypeError(`The call is not by the principal ${principal.id}`);
}

function matches(rule: PolicyRule, tool: Tool): boolean {
  const named = rule.tools.length === 0 || rule.tools.some((pattern) => matchesTool(pattern, tool.address));
  return named && (rule.effects.length === 0 || rule.effects.includes(tool.effect));
}

/** The first of the strictest, so that the rule named in a reason does not change from call to call. */
function findStrictest(rules: readonly PolicyRule[]): PolicyRule | undefined {
  return rules.toSorted((a, b) => STRICTNESS[b.decision] - STRICTNESS[a.decision])[0];
}

function toDecision(kind: DecisionKind, rule: RuleId, tool: Tool, why: string): Decision {
  const subject = `${tool.address} (effect: ${tool.effect})`;
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
function toProfileRule(profile: PolicyProfile): RuleId {
  return `profile:${profile}` as RuleId;
}
