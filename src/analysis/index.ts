/** The front door of `analysis`: source text in, a checked program or a reason out. It never runs code. */

export { analyze, rememberAnalyses } from "./analyze.ts";
export type { AnalysisOptions, AnalysisResult } from "./analyze.ts";
export { expectsText } from "./expects-text.ts";
export { DEFAULT_RULES } from "./rules/check-rules.ts";
export type { RuleSetting, RuleSettings } from "./rules/check-rules.ts";
export type { Timebox } from "./typescript/erase-types.ts";
export { createProbe } from "./create-probe.ts";
export type { ErrorProbe } from "./create-probe.ts";
export { createLocator, frameAt, toAuthorPosition, toPrintable } from "./locate.ts";
export type { SourcePosition } from "./locate.ts";
export { findConstantArguments } from "./plan/constant-arguments.ts";
export { readMaterial } from "./skill/read-material.ts";
export { readSkill } from "./read-skill.ts";
export { planCalls } from "./plan/plan-calls.ts";
