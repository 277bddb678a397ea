/** What was decided about a call, and the rules that decide. */

import type { PrincipalId, RuleId } from "./ids.ts";
import type { JsonPath } from "./json-path.ts";
import type { LabelSource } from "./label.ts";
import type { TextPattern } from "./text-pattern.ts";
import type { Effect } from "./tool.ts";

export type Decision =
  | { readonly kind: "allow"; readonly rule: RuleId; readonly flow?: Flow }
  | { readonly kind: "ask"; readonly rule: RuleId; readonly reason: string; readonly flow?: Flow }
  | { readonly kind: "deny"; readonly rule: RuleId; readonly reason: string; readonly flow?: Flow };

/** The calls whose labels led to a decision; present when the data-flow guard made it. */
type Flow = readonly LabelSource[];

export type PolicyProfile = "balanced" | "strict" | "open";

/** What a condition may compare with: lists and objects have no equality that an operator could predict. */
export type Scalar = string | number | boolean | null;

export type ConditionTest =
  | { readonly kind: "equals"; readonly value: Scalar }
  | { readonly kind: "oneOf"; readonly values: readonly Scalar[] }
  | { readonly kind: "prefix"; readonly text: string }
  | { readonly kind: "matches"; readonly pattern: TextPattern }
  /** Both ends count as inside. */
  | { readonly kind: "range"; readonly min?: number; readonly max?: number };

/** One question about the arguments of a call. */
export interface Condition {
  readonly path: JsonPath;
  readonly test: ConditionTest;
  /** The test must fail, for each value by itself. */
  readonly not: boolean;
  /** What a call without this path counts as; left out, the condition cannot be told then. */
  readonly missing?: "holds" | "fails";
}

/** Everything that is listed must fit: who, where, what, and with which arguments. What is left out fits always. */
export interface PolicyRule {
  readonly id: RuleId;
  readonly decision: Decision["kind"];
  /** Who, by name; together with `groups` a list of alternatives. */
  readonly principals?: readonly string[];
  readonly groups?: readonly string[];
  /** Upstreams by the operator's own names. */
  readonly servers?: readonly string[];
  /** Tool patterns: `*`, `github.*` or `github.createIssue`. Empty matches every tool. */
  readonly tools: readonly string[];
  /** Empty matches every effect. */
  readonly effects: readonly Effect[];
  /** All of them must hold. */
  readonly when?: readonly Condition[];
  readonly reason: string;
}

/** The whole of what an operator says about calls. */
export interface PolicySettings {
  readonly profile: PolicyProfile;
  readonly rules: readonly PolicyRule[];
  /** Who belongs to a group, beside those whose credential says so. */
  readonly groups: ReadonlyMap<string, readonly PrincipalId[]>;
  /** Effects that the operator states, by tool pattern; the narrowest pattern counts. */
  readonly effects: ReadonlyMap<string, Effect>;
}
