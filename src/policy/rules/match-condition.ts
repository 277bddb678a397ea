/** Evaluates conditions against arguments. These are untrusted: what is unclear never counts as harmless. */

import { canonicalJson, isJsonObject } from "../../domain/index.ts";
import type { Condition, Decision, Json, PolicyRule } from "../../domain/index.ts";
import { matchPattern } from "./match-pattern.ts";

/** `unclear`: the path is missing, its value has another type, or the step budget is spent. */
export type Match = "yes" | "no" | "unclear";

/** The maximum number of steps for all conditions of one decision. Bounds the time of a decision. */
export const MAX_STEPS = 100_000;
/** Longer strings are not matched against a pattern. */
export const MAX_PATTERN_TEXT = 16_384;
/** This many character comparisons count as one step. */
const CHARACTERS_PER_STEP = 1_000;

/** Comparing whole arguments, which are limited in size, counts as this many steps. */
const IS_STEPS = 100;

/** The remaining steps of one decision. When none are left, everything else is unclear. */
export interface StepBudget {
  left: number;
}

/**
 * A path with `[*]` selects many values. `deny` and `ask` match if one value matches; `allow` matches only if all do: a
 * harmless value cannot hide another one. Without any value, the result is `no`.
 */
export function matchCondition(
  condition: Condition,
  args: Json,
  { decision, budget = { left: MAX_STEPS } }: { readonly decision: Decision["kind"]; readonly budget?: StepBudget },
): Match {
  const found = new Set<Match>();
  const see = (value: PathValue): void => {
    budget.left -= costOf(condition.test, value);
    found.add(budget.left < 0 ? "unclear" : judge(condition, value));
  };
  if (!visit(args, 0, { steps: condition.path.steps, see, budget })) found.add("unclear");
  const precedence = decision === "allow" ? FOR_ALLOW : FOR_OTHERS;
  return precedence.find((match) => found.has(match)) ?? "no";
}

const FOR_ALLOW = ["no", "unclear", "yes"] as const;
const FOR_OTHERS = ["yes", "unclear", "no"] as const;

/** Combines all conditions of a rule: `no` beats `unclear` beats `yes`. */
export function matchAll({ when = [], decision }: PolicyRule, args: Json, budget: StepBudget): Match {
  let all: Match = "yes";
  for (const condition of when) {
    const match = matchCondition(condition, args, { decision, budget });
    if (match === "no") return "no";
    if (match === "unclear") all = "unclear";
  }
  return all;
}

/** A pattern may be compared at every position of a string. */
function costOf(test: Condition["test"], found: PathValue): number {
  if (test.kind === "is") return IS_STEPS;
  if (test.kind !== "matches" || typeof found !== "string") return 0;
  return Math.ceil((found.length * test.pattern.text.length) / CHARACTERS_PER_STEP);
}

/** The result of a path without a value: it is missing, or a value on the way has another type. */
const MISSING = Symbol("missing");
const OTHER = Symbol("other type");

type PathValue = Json | typeof MISSING | typeof OTHER;

interface PathWalk {
  readonly steps: Condition["path"]["steps"];
  readonly see: (found: PathValue) => void;
  readonly budget: StepBudget;
}

/** Calls `see` for each value that the path selects. Returns false if the budget is spent. */
function visit(start: Json, from: number, walk: PathWalk): boolean {
  let value: PathValue = start;
  for (let at = from; ; at += 1) {
    walk.budget.left -= 1;
    if (walk.budget.left < 0) return false;
    const step = walk.steps[at];
    if (!step || value === MISSING || value === OTHER) break;
    if (step.kind === "each") {
      const children = childrenOf(value);
      if (children) return children.every((child) => visit(child, at + 1, walk));
      value = OTHER;
    } else value = enter(value, step);
  }
  walk.see(value);
  return true;
}

/** Reads own properties only. */
function enter(value: Json, step: Exclude<Condition["path"]["steps"][number], { kind: "each" }>): PathValue {
  if (step.kind === "index") {
    if (!Array.isArray(value)) return OTHER;
    const item: Json | undefined = value[step.index];
    return item ?? MISSING;
  }
  if (!isJsonObject(value)) return OTHER;
  return Object.hasOwn(value, step.key) ? (value[step.key] ?? null) : MISSING;
}

function childrenOf(value: Json): readonly Json[] | undefined {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : undefined;
}

function judge({ test, not, missing }: Condition, found: PathValue): Match {
  if (found === OTHER) return "unclear";
  if (found === MISSING) return missing === undefined ? "unclear" : toMatch(missing === "holds");
  const match = runTest(test, found);
  if (match === "unclear" || !not) return match;
  return match === "yes" ? "no" : "yes";
}

/** A value of another type is unclear: an upstream may read `"5"` as 5. */
function runTest(test: Condition["test"], value: Json): Match {
  switch (test.kind) {
    case "equals":
      return compare([test.value], value);
    case "oneOf":
      return compare(test.values, value);
    case "is":
      return toMatch(canonicalJson(value) === canonicalJson(test.value));
    case "prefix":
      return typeof value === "string" ? toMatch(value.startsWith(test.text)) : "unclear";
    case "matches":
      if (typeof value !== "string" || value.length > MAX_PATTERN_TEXT) return "unclear";
      return toMatch(matchPattern(test.pattern, value));
    case "range": {
      const { min = -Infinity, max = Infinity } = test;
      return typeof value === "number" ? toMatch(min <= value && value <= max) : "unclear";
    }
    default:
      return test satisfies never;
  }
}

function compare(wanted: readonly Json[], value: Json): Match {
  if (wanted.some((one) => one === value)) return "yes";
  const isComparable = wanted.some((one) => kindOf(one) === kindOf(value)) || wanted.every((one) => one === null);
  return isComparable ? "no" : "unclear";
}

const kindOf = (value: Json): string => (value === null ? "null" : typeof value);

function toMatch(holds: boolean): Match {
  return holds ? "yes" : "no";
}
