/**
 * Matches strings with regular expressions that servers wrote, in linear time. The only file that uses RE2JS, which is
 * loaded for the first expression. All work counts as steps, and an expression or a string that needs too many of them
 * is not matched.
 */

import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

import { translatePattern } from "../text/index.ts";
import { createRecent } from "../timing/index.ts";

/** What is left of a check, in steps of about a microsecond. */
export interface CheckBudget {
  left: number;
}

/** `undefined` if it cannot be run. */
interface KeptPattern {
  readonly matcher: RE2JS | undefined;
}

/** Enough for the tools of a program. */
const KEPT_PATTERNS = 100;
/** Instructions times characters that are done in a step, at worst. */
const WORK_PER_STEP = 20;
const STEPS_PER_INSTRUCTION = 5;
const CHARS_TRANSLATED_PER_STEP = 4;

const require = createRequire(import.meta.url);
/** The build copies it beside this module. */
const RE2 = import.meta.url.endsWith(".ts") ? "re2js" : "./re2js.cjs";
const patterns = createRecent<string, KeptPattern>(KEPT_PATTERNS);

/** `undefined` if the expression cannot be run, or not with the steps that are left. */
export function matchPattern(pattern: string, text: string, budget: CheckBudget): boolean | undefined {
  const { matcher } = patterns.get(pattern) ?? keepPattern(pattern, budget);
  if (!matcher) return undefined;
  const steps = Math.ceil((matcher.programSize() * (text.length + 1)) / WORK_PER_STEP);
  if (steps > budget.left) return undefined;
  budget.left -= steps;
  return matcher.matcher(text).find(); // `test` would keep up to 8 MB of states
}

function keepPattern(pattern: string, budget: CheckBudget): KeptPattern {
  const translated = translatePattern(pattern);
  const size = translated.kind === "translated" ? translated.size : 0;
  const steps = Math.ceil(size * STEPS_PER_INSTRUCTION + pattern.length / CHARS_TRANSLATED_PER_STEP);
  if (steps > budget.left) return { matcher: undefined };
  budget.left -= steps;
  const kept = { matcher: translated.kind === "translated" ? compile(translated.re2) : undefined };
  patterns.set(pattern, kept);
  return kept;
}

function compile(re2: string): RE2JS {
  const { RE2JS: Matcher }: { readonly RE2JS: typeof RE2JS } = require(RE2);
  return Matcher.compile(re2);
}
