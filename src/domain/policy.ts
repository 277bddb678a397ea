/** What was decided about a call, and the rules that decide. */

import type { RuleId } from "./ids.ts";
import type { Effect } from "./tool.ts";

export type Decision =
  | { readonly kind: "allow"; readonly rule: RuleId }
  | { readonly kind: "ask"; readonly rule: RuleId; readonly reason: string }
  | { readonly kind: "deny"; readonly rule: RuleId; readonly reason: string };

export type PolicyProfile = "balanced" | "strict" | "open";

export interface PolicyRule {
  readonly id: RuleId;
  readonly decision: Decision["kind"];
  /** Tool patterns: `*`, `github.*` or `github.createIssue`. Empty matches every tool. */
  readonly tools: readonly string[];
  /** Empty matches every effect. */
  readonly effects: readonly Effect[];
  readonly reason: string;
}
