/** Prepares the rules for many decisions: sorts them by strictness and resolves patterns and groups once. */

import type { Effect, PolicyRule, PolicySettings, Principal, PrincipalId } from "../../domain/index.ts";
import { STRICTNESS } from "../decision.ts";
import type { Match } from "./match-condition.ts";
import { matchTool } from "../matches-tool.ts";
import type { ToolForms, ToolMatch } from "../matches-tool.ts";

export interface RuleSubject {
  readonly principal: Pick<Principal, "aliases" | "groups"> & { readonly id: string };
  readonly address: string;
  readonly forms: ToolForms;
  /** The operator's name of the upstream; `null` if it is unknown, as in old records. */
  readonly server: string | null;
  readonly effect: Effect;
}

export type Misfit = "principal" | "server" | "unknown-server" | "tool" | "unclear-tool" | "effect";

export interface CompiledRule {
  readonly rule: PolicyRule;
  readonly findMisfit: (subject: RuleSubject) => Misfit | undefined;
}

export interface CompiledPolicy {
  readonly settings: PolicySettings;
  /** Strictest first, and in configured order among equals: the first that matches decides. */
  readonly rules: readonly CompiledRule[];
}

export function compilePolicy(settings: PolicySettings): CompiledPolicy {
  const rules = settings.rules.toSorted((a, b) => STRICTNESS[b.decision] - STRICTNESS[a.decision]);
  return { settings, rules: rules.map((rule) => compileRule(rule, settings)) };
}

function compileRule(rule: PolicyRule, { groups }: PolicySettings): CompiledRule {
  const servers = new Set(rule.servers);
  const effects = new Set<Effect>(rule.effects);
  const isWho = compileWho(rule, groups);
  const isTool = compileTools(rule.tools);
  return {
    rule,
    findMisfit: ({ principal, forms, server, effect }) => {
      const fits = isTool(forms);
      if (fits === "no") return "tool";
      if (effects.size > 0 && !effects.has(effect)) return "effect";
      if (!isWho(principal)) return "principal";
      if (servers.size > 0 && server === null) return "unknown-server";
      if (servers.size > 0 && server !== null && !servers.has(server)) return "server";
      return fits === "unclear" ? "unclear-tool" : undefined;
    },
  };
}

function compileWho(
  { principals = [], groups = [] }: PolicyRule,
  members: ReadonlyMap<string, readonly PrincipalId[]>,
): (principal: RuleSubject["principal"]) => boolean {
  if (principals.length === 0 && groups.length === 0) return () => true;
  const named = new Set<string>([...principals, ...groups.flatMap((group) => members.get(group) ?? [])]);
  const wanted = new Set(groups);
  return ({ id, aliases = [], groups: own }) =>
    named.has(id) || aliases.some((name) => named.has(name)) || own.some((group) => wanted.has(group));
}

function compileTools(patterns: readonly string[]): (forms: ToolForms) => ToolMatch {
  if (patterns.length === 0) return () => "yes";
  return (forms) => matchTool(patterns, forms);
}

export function matchSubject({ findMisfit }: CompiledRule, subject: RuleSubject): Match {
  const misfit = findMisfit(subject);
  if (misfit === undefined) return "yes";
  return misfit === "unknown-server" || misfit === "unclear-tool" ? "unclear" : "no";
}
