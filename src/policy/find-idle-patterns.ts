/** Finds patterns that match no known tool: a rule that never applies looks like a defense and is none. Pure. */

import type { LabelRule, PolicySettings, QuotaSettings } from "../domain/index.ts";
import { matchTool, toForms } from "./matches-tool.ts";
import type { ToolNames } from "./matches-tool.ts";

/** All settings that have tool patterns. */
export interface PatternSettings {
  readonly policy: Pick<PolicySettings, "rules" | "effects"> & { readonly labels: readonly LabelRule[] };
  readonly quotas: Pick<QuotaSettings, "rates" | "prices">;
}

export interface IdlePattern {
  /** Where the pattern is written. */
  readonly setting: string;
  readonly pattern: string;
}

/** `unlisted` are names of servers whose tools are not known yet: patterns for their tools are not reported. */
export function findIdlePatterns(
  settings: PatternSettings,
  { tools, unlisted }: { readonly tools: readonly ToolNames[]; readonly unlisted: readonly string[] },
): readonly IdlePattern[] {
  const known = tools.map(toForms);
  const isUnknown = (pattern: string): boolean =>
    unlisted.some((server) => pattern.startsWith(`${server}.`)) || (unlisted.length > 0 && pattern.startsWith("*."));
  return listPatterns(settings).filter(
    ({ pattern }) =>
      pattern !== "*" && !isUnknown(pattern) && !known.some((forms) => matchTool([pattern], forms) !== "no"),
  );
}

function listPatterns({ policy, quotas }: PatternSettings): readonly IdlePattern[] {
  const toPatterns = (setting: string, patterns: Iterable<string>): readonly IdlePattern[] =>
    Array.from(patterns, (pattern) => ({ setting, pattern }));
  return [
    ...policy.rules.flatMap(({ id, tools }) => toPatterns(`rule ${id}`, tools)),
    ...toPatterns("policy.effects", policy.effects.keys()),
    ...policy.labels.flatMap(({ tools }, index) => toPatterns(`policy.labels[${index}]`, tools)),
    ...quotas.rates.flatMap(({ tools }, index) => toPatterns(`quotas.rates[${index}]`, tools)),
    ...toPatterns("quotas.prices", quotas.prices.keys()),
  ];
}
