/**
 * What proposed rules would have decided about past calls. Records contain only digests of arguments unless previews are
 * recorded, so conditions on arguments cannot always be evaluated; calls that depend on one are counted as unknown and
 * never guessed.
 */

import type { Effect, Json, PolicyRule } from "../../domain/index.ts";
import { matchSubject } from "./compile-policy.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import { PROFILES, isInForce, matchRule } from "./decide.ts";
import { MAX_STEPS } from "./match-condition.ts";
import { PROFILE_RULES, isStricter } from "../decision.ts";
import { toForms } from "../matches-tool.ts";
import { findOperatorEffect } from "./view-snapshot.ts";
import type { DecisionKind } from "../decision.ts";

export interface PastCall {
  readonly principal: string;
  readonly tool: string;
  /** `null` if the record does not name it. */
  readonly server: string | null;
  readonly effect: Effect;
  readonly decision: DecisionKind;
  /** True if the data-flow guard decided: no rule loosens that. */
  readonly byGuard?: boolean;
  /** Absent if the record does not have them. */
  readonly args?: Json;
}

interface CountedCalls {
  readonly principal: string;
  readonly tool: string;
  readonly from: DecisionKind;
  readonly calls: number;
}

interface Change extends CountedCalls {
  readonly to: DecisionKind;
  readonly rule: PolicyRule["id"];
}

/** Calls whose decision is unknown, and the rules that it depends on. */
interface Doubt extends CountedCalls {
  readonly rules: readonly PolicyRule["id"][];
}

export interface Simulation {
  readonly calls: number;
  readonly same: number;
  readonly changed: readonly Change[];
  readonly cannotTell: readonly Doubt[];
}

/** Uses the groups and effects of the configuration: the groups of a credential are not recorded. */
export function simulate(policy: CompiledPolicy, past: readonly PastCall[]): Simulation {
  const changed = new Map<string, Change>();
  const cannotTell = new Map<string, Doubt>();
  let same = 0;
  for (const call of past) {
    const possible = listPossible(policy, call).map((one) => atLeast(one, call));
    const [first] = possible;
    const { principal, tool, decision: from } = call;
    if (!first || possible.some(({ kind }) => kind !== first.kind)) {
      const rules = possible.map(({ rule }) => rule);
      count(cannotTell, { principal, tool, from, rules, calls: 0 });
    } else if (first.kind === from) same += 1;
    else count(changed, { principal, tool, from, to: first.kind, rule: first.rule, calls: 0 });
  }
  return { calls: past.length, same, changed: [...changed.values()], cannotTell: [...cannotTell.values()] };
}

interface PossibleDecision {
  readonly kind: DecisionKind;
  readonly rule: PolicyRule["id"];
}

function atLeast(possible: PossibleDecision, { byGuard = false, decision }: PastCall): PossibleDecision {
  return byGuard && isStricter(decision, possible.kind) ? { ...possible, kind: decision } : possible;
}

/** Returns every rule that may decide, up to the first that certainly does, otherwise the profile. Strictest first. */
function listPossible(
  { rules, settings: { profile, effects } }: CompiledPolicy,
  { principal, tool: address, server, effect: recorded, args }: PastCall,
): readonly PossibleDecision[] {
  // Records do not have the server's name of the tool.
  const forms = toForms({ address, server, remoteName: null });
  const effect = findOperatorEffect(effects, forms, recorded) ?? recorded;
  const subject = { principal: { id: principal, groups: [] }, address, forms, server, effect };
  const possible: PossibleDecision[] = [];
  for (const compiled of rules) {
    const { id: rule, decision: kind, when = [] } = compiled.rule;
    const fits = matchSubject(compiled, subject);
    if (fits === "no") continue;
    // A rule for an unknown server stays possible; one whose conditions are known to fail does not.
    if (fits === "yes" && when.length > 0 && args !== undefined) {
      if (!isInForce(compiled.rule, matchRule(compiled, subject, { args, budget: { left: MAX_STEPS } }))) continue;
      return [...possible, { kind, rule }];
    }
    possible.push({ kind, rule });
    if (fits === "yes" && when.length === 0) return possible;
  }
  return [...possible, { kind: PROFILES[profile][effect], rule: PROFILE_RULES[profile] }];
}

function count<Counted extends { readonly calls: number }>(counted: Map<string, Counted>, one: Counted): void {
  const key = JSON.stringify(one);
  const known = counted.get(key) ?? one;
  counted.set(key, { ...known, calls: known.calls + 1 });
}
