/** The front door of `analysis`: source text in, a checked program or a reason out. It never runs code. */

export { analyze } from "./analyze.ts";
export type { AnalysisOptions, Analyzed } from "./analyze.ts";
export { DEFAULT_RULES } from "./check-rules.ts";
export type { RuleSetting, RuleSettings } from "./check-rules.ts";
export type { Timebox } from "./erase-types.ts";
export { createLocator, frameAt, toAuthorPosition, toPrintable } from "./locate.ts";
export type { Position } from "./locate.ts";
export { planCalls } from "./plan-calls.ts";
export { rememberAnalyses } from "./remember-analyses.ts";
