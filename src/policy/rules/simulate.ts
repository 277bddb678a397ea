/**
 * What proposed rules would have decided about calls of the past. Records keep digests of arguments and no values, so a
 * condition on arguments cannot be told; what hangs on one is counted and named, and never guessed.
 */

import type { Decision, Effect, PolicyRule } from "../../domain/index.ts";
import { matchSubject } from "./compile-policy.ts";
import type { CompiledPolicy, RuleSubject } from "./compile-policy.ts";
import { decideByProfile, toProfileRule } from "./decide.ts";
import { isStricter } from "../flows/judge-flow.ts";

type DecisionKind = Decision["kind"];

/** A call as the ledger knows it. */
export interface PastCall {
  readonly principal: string;
  readonly tool: string;
  /** `null` in records that do not name it. */
  readonly server: string | null;
  readonly effect: Effect;
  readonly decision: DecisionKind;
  /** The data-flow guard made the decision: what the session had read is not known here, and no rule loosens it. */
  readonly byGuard?: boolean;
}

/** Calls that would meet the same change. */
export interface Change {
  readonly principal: string;
  readonly tool: string;
  readonly from: DecisionKind;
  readonly to: DecisionKind;
  readonly rule: PolicyRule["id"];
  readonly calls: number;
}

/** Calls about which nothing can be said, and the rules on which that hangs. */
export interface Doubt {
  readonly principal: string;
  readonly tool: string;
  readonly from: DecisionKind;
  readonly rules: readonly PolicyRule["id"][];
  readonly calls: number;
}

export interface Simulation {
  readonly calls: number;
  readonly same: number;
  readonly changed: readonly Change[];
  readonly cannotTell: readonly Doubt[];
}

/** Groups of a policy are those of the configuration; what a credential said at the time is not recorded. */
export function simulate(policy: CompiledPolicy, past: Iterable<PastCall>): Simulation {
  const changed = new Map<string, Change>();
  const cannotTell = new Map<string, Doubt>();
  const totals = { calls: 0, same: 0 };
  for (const call of past) {
    totals.calls += 1;
    const possible = decideWithoutArguments(policy, toSubject(call)).map((one) => atLeast(one, call));
    const [first] = possible;
    const { principal, tool, decision: from } = call;
    if (!first || possible.some(({ kind }) => kind !== first.kind)) {
      const rules = possible.map(({ rule }) => rule);
      count(cannotTell, { principal, tool, from, rules, calls: 0 });
    } else if (first.kind === from) totals.same += 1;
    else count(changed, { principal, tool, from, to: first.kind, rule: first.rule, calls: 0 });
  }
  return { ...totals, changed: [...changed.values()], cannotTell: [...cannotTell.values()] };
}

interface PossibleDecision {
  readonly kind: DecisionKind;
  readonly rule: PolicyRule["id"];
}

function atLeast(possible: PossibleDecision, { byGuard = false, decision }: PastCall): PossibleDecision {
  return byGuard && isStricter(decision, possible.kind) ? { ...possible, kind: decision } : possible;
}

function toSubject({ principal, tool, server, effect }: PastCall): RuleSubject {
  return { principal: { id: principal, groups: [] }, address: tool, server, effect };
}

/** Strictest first: every rule that may decide, up to the first that certainly would, or else the profile. */
function decideWithoutArguments(
  { rules, settings: { profile } }: CompiledPolicy,
  subject: RuleSubject,
): readonly PossibleDecision[] {
  const possible: PossibleDecision[] = [];
  for (const compiled of rules) {
    const { id: rule, decision: kind, when = [] } = compiled.rule;
    const fits = matchSubject(compiled, subject);
    if (fits === "no") continue;
    possible.push({ kind, rule });
    if (fits === "yes" && when.length === 0) return possible;
  }
  return [...possible, { kind: decideByProfile(profile, subject.effect), rule: toProfileRule(profile) }];
}

function count<Counted extends { readonly calls: number }>(counted: Map<string, Counted>, one: Counted): void {
  const key = JSON.stringify(one);
  const known = counted.get(key) ?? one;
  counted.set(key, { ...known, calls: known.calls + 1 });
}
