/** Checks a value against a schema that an upstream wrote. The schema is not trusted either. */

import type { Json, JsonSchema } from "../domain/index.ts";
import type { SlicedWork } from "../timing/index.ts";

import { describeProblems } from "./describe-problems.ts";
import { createQuickFit } from "./quick-fit.ts";
import type { QuickFit } from "./quick-fit.ts";
import { validateSchema } from "./validate-schema.ts";

/** About a second in slices; what needs more steps is not checked. */
const MOST_STEPS = 1_000_000;

/**
 * Arguments are checked by every keyword. For results, patterns, formats and unique items are left out: servers often
 * break their own, and the program can use the result.
 */
export type CheckedPart = "arguments" | "result";

/** Tools are immutable and live as long as their snapshot, and so do these. */
const quickFits = new WeakMap<JsonSchema, QuickFit | null>();

/**
 * Describes what is wrong with the value in up to five sentences; returns none when it fits, or when that cannot be
 * decided. Unknown keywords are ignored.
 */
export function* checkSchema(schema: JsonSchema, value: Json, part: CheckedPart): SlicedWork<readonly string[]> {
  const isStrict = part === "arguments";
  if (findQuickFit(schema)?.(value, isStrict) === true) return [];
  const problems = yield* validateSchema(schema, value, { mostSteps: MOST_STEPS, isStrict });
  return problems.length === 0 ? [] : yield* describeProblems(problems, schema, value);
}

function findQuickFit(schema: JsonSchema): QuickFit | null {
  const known = quickFits.get(schema);
  if (known !== undefined) return known;
  const made = createQuickFit(schema) ?? null;
  quickFits.set(schema, made);
  return made;
}
