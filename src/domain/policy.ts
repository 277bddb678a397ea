/** Decisions about calls, the rules that make them, and quotas. */

import type { PrincipalId, RuleId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { Effect, LabelSource } from "./tool.ts";

export type Decision =
  | { readonly kind: "allow"; readonly rule: RuleId; readonly flow?: DecisionFlow }
  | { readonly kind: "ask"; readonly rule: RuleId; readonly reason: string; readonly flow?: DecisionFlow }
  | { readonly kind: "deny"; readonly rule: RuleId; readonly reason: string; readonly flow?: DecisionFlow };

/** The calls whose labels led to a decision; present if the data-flow guard made it. */
type DecisionFlow = readonly LabelSource[];

/** One step of a path: a key of an object, an index of an array, or every entry of either. */
type PathStep =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "each" };

export interface JsonPath {
  /** As written, for messages. */
  readonly text: string;
  /** Empty for `$`, the whole value. */
  readonly steps: readonly PathStep[];
}

/** Matches one character: a given one, any, or one inside or outside of ranges of code points. */
type PatternPart =
  | { readonly kind: "one"; readonly character: string }
  | { readonly kind: "any" }
  | {
      readonly kind: "set";
      readonly negated: boolean;
      readonly ranges: readonly (readonly [from: string, to: string])[];
    };

export interface TextPattern {
  /** As written, for messages. */
  readonly text: string;
  /** The parts between the stars: `a*b` has two pieces, a pattern without a star has one. */
  readonly pieces: readonly (readonly PatternPart[])[];
  /** The pieces as strings, if all of them are plain characters. */
  readonly plain: readonly string[] | null;
}

/** What a condition can compare with. Arrays and objects have no obvious equality, so they are excluded. */
export type Scalar = string | number | boolean | null;

export type ConditionTest =
  | { readonly kind: "equals"; readonly value: Scalar }
  | { readonly kind: "oneOf"; readonly values: readonly Scalar[] }
  /** The whole value, arrays and objects included, in any order of keys. */
  | { readonly kind: "is"; readonly value: Json }
  | { readonly kind: "prefix"; readonly text: string }
  | { readonly kind: "matches"; readonly pattern: TextPattern }
  /** Both ends are inclusive. */
  | { readonly kind: "range"; readonly min?: number; readonly max?: number };

export interface Condition {
  readonly path: JsonPath;
  readonly test: ConditionTest;
  /** The test must fail, for each value separately. */
  readonly not: boolean;
  /** The outcome for a call without this path; by default it is undecided. */
  readonly missing?: "holds" | "fails";
}

/** All given fields must match: who, where, what, and with which arguments. An absent field always matches. */
export interface PolicyRule {
  readonly id: RuleId;
  readonly decision: Decision["kind"];
  /** Principals by name; a principal matches this or `groups`. */
  readonly principals?: readonly string[];
  readonly groups?: readonly string[];
  readonly servers?: readonly string[];
  /** Tool patterns: `*`, `github.*`, `github.createIssue`, `github.delete*` or `*.delete*`. Empty matches every tool. */
  readonly tools: readonly string[];
  /** Empty matches every effect. */
  readonly effects: readonly Effect[];
  /** All of them must hold. */
  readonly when?: readonly Condition[];
  readonly reason: string;
}

export interface PolicySettings {
  readonly profile: "balanced" | "strict" | "open";
  readonly rules: readonly PolicyRule[];
  /** The members of groups, in addition to groups that a credential names. */
  readonly groups: ReadonlyMap<string, readonly PrincipalId[]>;
  /** Effects set by the operator, by tool pattern; the narrowest pattern wins. */
  readonly effects: ReadonlyMap<string, Effect>;
}

/** A file of rules that a running gateway reads again when it changes. */
export interface RuleFile {
  readonly path: string;
  /** `undefined` if the file did not change. Rejects with CONFIG_INVALID, once for each broken version. */
  read(): Promise<readonly PolicyRule[] | undefined>;
}

/** For one principal, one session of a principal, or for all together. 0 means no quota. Costs are in the unit of the prices. */
type UsageQuotas = Readonly<
  Record<"executionsPerMinute" | "executionMsPerHour" | "concurrentExecutions" | "costPerDay", number>
>;

export interface QuotaSettings extends UsageQuotas {
  /** For each session of a principal, so that one session does not use up what the others need. */
  readonly session: UsageQuotas;
  readonly total: UsageQuotas;
  /** How often tools may be called, by each principal, by each session or by all together. */
  readonly rates: readonly {
    readonly tools: readonly string[];
    readonly calls: number;
    readonly windowMs: number;
    readonly per: "principal" | "session" | "total";
  }[];
  /** The price of one call, by tool pattern; the narrowest pattern wins. */
  readonly prices: ReadonlyMap<string, number>;
}
