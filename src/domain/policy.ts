/** What was decided about a call, and the rules that decide. */

import type { PrincipalId, RuleId } from "./ids.ts";
import type { LabelSource } from "./label.ts";
import type { Effect } from "./tool.ts";

export type Decision =
  | { readonly kind: "allow"; readonly rule: RuleId; readonly flow?: Flow }
  | { readonly kind: "ask"; readonly rule: RuleId; readonly reason: string; readonly flow?: Flow }
  | { readonly kind: "deny"; readonly rule: RuleId; readonly reason: string; readonly flow?: Flow };

/** The calls whose labels led to a decision; present when the data-flow guard made it. */
type Flow = readonly LabelSource[];

export type PolicyProfile = "balanced" | "strict" | "open";

/** One step down: into a key of an object, to a place of a list, or to everything that a list or an object holds. */
type PathStep =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "each" };

export interface JsonPath {
  /** As it was written, for messages. */
  readonly text: string;
  /** Empty for `$`, the whole value. */
  readonly steps: readonly PathStep[];
}

/** One character of a text: itself, any, or one in (or not in) some ranges of code points. */
type PatternPart =
  | { readonly kind: "one"; readonly character: string }
  | { readonly kind: "any" }
  | {
      readonly kind: "set";
      readonly negated: boolean;
      readonly ranges: readonly (readonly [from: string, to: string])[];
    };

export interface TextPattern {
  /** As it was written, for messages. */
  readonly text: string;
  /** What stands between the stars: `a*b` has two pieces, a pattern without a star has one. */
  readonly pieces: readonly (readonly PatternPart[])[];
  /** The same pieces as texts, where all of them are plain characters. */
  readonly plain: readonly string[] | null;
}

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

/** A file of rules that a running gateway reads again when it changes. */
export interface RuleFile {
  readonly path: string;
  /**
   * Its rules, or `undefined` if the file did not change since the last read. Rejects with CONFIG_INVALID, once for
   * each broken version, with the file, the line and what was expected.
   */
  read(): Promise<readonly PolicyRule[] | undefined>;
}
