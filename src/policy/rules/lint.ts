/** Finds rules that change no decision about the known tools: they look like a defense or a permission and are none. Pure. */

import type { PolicyRule, PolicySettings, PrincipalId, Tool } from "../../domain/index.ts";
import { PROFILE_RULES, STRICTNESS } from "../decision.ts";
import { formsOf, matchTool } from "../matches-tool.ts";
import { compilePolicy } from "./compile-policy.ts";
import { PROFILES } from "./decide.ts";

export interface LintFinding {
  readonly rule: PolicyRule["id"];
  /**
   * `idle`: matches no known tool. `shadowed`: another rule decides wherever it could. `without effect`: the profile
   * decides the same.
   */
  readonly kind: "idle" | "shadowed" | "without effect";
  readonly message: string;
  readonly hint: string;
}

interface LintInput {
  readonly settings: PolicySettings;
  /** With the operator's effects. */
  readonly tools: readonly Tool[];
  /** Names of servers that have not listed their tools: a rule that matches nothing may be for those. */
  readonly unlisted: readonly string[];
}

/** At most one finding for each rule, in the order of the rules. */
export function lintPolicy({ settings, tools, unlisted }: LintInput): readonly LintFinding[] {
  // Strictest first, as they are decided.
  const order = compilePolicy(settings).rules.map(({ rule }) => rule);
  return settings.rules.flatMap((rule) => {
    const matched = tools.filter((tool) => coversTool(rule, tool));
    if (matched.length === 0) return mayCover(rule, unlisted) ? [] : [describeIdle(rule)];
    const shadow = order
      .slice(0, order.indexOf(rule))
      .find(
        (other) => (other.when ?? []).length === 0 && coversWho(other, rule, settings) && coversAll(other, matched),
      );
    if (shadow) return [describeShadow(rule, shadow)];
    const isUsual = matched.every(({ effect }) => PROFILES[settings.profile][effect] === "allow");
    return rule.decision === "allow" && isUsual ? [describeUsual(rule, settings)] : [];
  });
}

/** Ignores principals and conditions. A doubtful name counts for deny and ask. */
function coversTool({ tools, servers = [], effects, decision }: PolicyRule, tool: Tool): boolean {
  const match = tools.length === 0 ? "yes" : matchTool(tools, formsOf(tool));
  const isNamed = match === "yes" || (match === "unclear" && decision !== "allow");
  const isEffect = effects.length === 0 || effects.includes(tool.effect);
  return isNamed && isEffect && (servers.length === 0 || servers.includes(tool.origin.connector));
}

function mayCover({ tools, servers = [] }: PolicyRule, unlisted: readonly string[]): boolean {
  return unlisted.some(
    (server) =>
      (servers.length === 0 || servers.some((one) => one === server)) &&
      (tools.length === 0 || tools.some((pattern) => pattern.startsWith("*") || pattern.startsWith(`${server}.`))),
  );
}

function coversAll(rule: PolicyRule, tools: readonly Tool[]): boolean {
  return tools.every((tool) => coversTool(rule, tool));
}

/** Whether `broad` certainly applies to every principal that `narrow` applies to. */
function coversWho(broad: PolicyRule, narrow: PolicyRule, { groups: members }: PolicySettings): boolean {
  if ((broad.principals ?? []).length + (broad.groups ?? []).length === 0) return true;
  const { principals = [], groups = [] } = narrow;
  if (principals.length + groups.length === 0) return false;
  const named = new Set<string>([
    ...(broad.principals ?? []),
    ...(broad.groups ?? []).flatMap((group): readonly PrincipalId[] => members.get(group) ?? []),
  ]);
  return principals.every((one) => named.has(one)) && groups.every((group) => broad.groups?.includes(group));
}

function describeIdle({ id }: PolicyRule): LintFinding {
  return {
    rule: id,
    kind: "idle",
    message: `rule ${id} matches no known tool`,
    hint: "Compare tools, servers and effects with `glovebox tools`, or remove it",
  };
}

function describeShadow({ id, decision }: PolicyRule, other: PolicyRule): LintFinding {
  const isStricter = STRICTNESS[other.decision] > STRICTNESS[decision];
  const why = isStricter ? `which says ${other.decision} and is stricter` : "which says the same";
  return {
    rule: id,
    kind: "shadowed",
    message: `rule ${id} never decides: ${other.id} covers every call that it matches, ${why}`,
    hint: isStricter ? `Narrow ${other.id}, or remove ${id}` : `Remove ${id}`,
  };
}

/** The common mistake: an allow rule with a condition restricts nothing where the profile allows anyway. */
function describeUsual({ id, when = [] }: PolicyRule, { profile }: PolicySettings): LintFinding {
  const hint =
    when.length === 0
      ? `Remove ${id}`
      : 'To restrict the calls, write a deny or ask rule whose condition has "not": true; to keep it, use the profile strict';
  const message = `rule ${id} changes nothing: ${PROFILE_RULES[profile]} allows these tools, with any arguments`;
  return { rule: id, kind: "without effect", message, hint };
}
