/** Checks a value against a schema that an upstream wrote. The schema is not trusted either. */

import { Validator } from "@cfworker/json-schema";
import type { Schema, ValidationResult } from "@cfworker/json-schema";

import { defined, isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../domain/index.ts";

import { describeProblems } from "./describe-problems.ts";
import { createQuickFit } from "./quick-fit.ts";
import type { QuickFit } from "./quick-fit.ts";

/**
 * Keywords that are left to the server, because their check can block the gateway's thread: a server writes the
 * expression of `pattern`, some expressions of `format` backtrack, `uniqueItems` compares every pair.
 */
const COSTLY_KEYWORDS = new Set(["pattern", "format", "uniqueItems"]);
/** Keywords that depend on `patternProperties`, which is not checked. */
const NEED_PATTERNS = new Set(["patternProperties", "additionalProperties", "unevaluatedProperties"]);
/** Keywords that map names to schemas; a property may be named "pattern". */
const MAP_KEYWORDS = new Set(["properties", "$defs", "definitions", "dependentSchemas", "dependencies"]);
/** Keywords that hold plain values, not schemas. */
const VALUE_KEYWORDS = new Set(["const", "enum", "default", "examples"]);
/** About a quarter of a second; a value that needs more steps is not checked further. */
const MOST_STEPS = 250_000;
/** For listing all problems of a value that does not fit. */
const MOST_DETAIL_STEPS = 20_000;
/** A value with more parts is checked once, and its problems are those that were found until then. */
const MOST_DETAIL_PARTS = 2_000;
/** Comparing this many characters of a listed value counts as one step. */
const CHARS_PER_STEP = 8;
const DEEPEST_SCHEMA = 64;

/** `fits` confirms most values that fit, `quick` stops at the first problem, `thorough` finds all of them. */
interface Validators {
  readonly fits: QuickFit | undefined;
  readonly quick: Validator;
  readonly thorough: Validator;
}

/** Tools are immutable and live as long as their snapshot, and so do their validators. */
const validators = new WeakMap<JsonSchema, Validators | null>();

/**
 * Describes what is wrong with the value in up to five sentences; returns none when it fits, or when the schema cannot
 * be used. Unknown keywords are ignored.
 */
export function checkSchema(schema: JsonSchema, value: Json): readonly string[] {
  const found = findValidators(schema);
  if (!found || found.fits?.(value) === true) return [];
  const first = validate(found.quick, value, MOST_STEPS);
  if (!first || first.valid) return [];
  const all = isWide(value) ? undefined : validate(found.thorough, value, MOST_DETAIL_STEPS);
  return describeProblems(all?.errors ?? first.errors, schema, value);
}

/** True above `MOST_DETAIL_PARTS`. A schema of `false` counts no steps, so a wide value could have any number of problems. */
function isWide(value: Json): boolean {
  const open: Json[] = [value];
  for (let left = MOST_DETAIL_PARTS; left > 0; left -= 1) {
    const part = open.pop();
    if (part === undefined) return false;
    if (typeof part !== "object" || part === null) continue;
    const inside: readonly Json[] = isJsonObject(part) ? Object.values(part) : part;
    if (inside.length > left) return true;
    open.push(...inside);
  }
  return true;
}

/** Returns `undefined` for an unresolvable `$ref` or too many steps: the value was not checked then. */
function validate(validator: Validator, value: Json, mostSteps: number): ValidationResult | undefined {
  steps = mostSteps;
  try {
    return validator.validate(value);
  } catch {
    return undefined;
  }
}

function findValidators(schema: JsonSchema): Validators | null {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const made = createValidators(schema);
  validators.set(schema, made);
  return made;
}

function createValidators(schema: JsonSchema): Validators | null {
  const draft = draftOf(schema["$schema"]);
  try {
    const copy = withoutCostly(schema, 0);
    if (!isSchema(copy)) return null;
    const [quick, thorough] = [new Validator(copy, draft, true), new Validator(copy, draft, false)];
    return { fits: createQuickFit(copy), quick, thorough };
  } catch {
    return null;
  }
}

/** Whatever an object contains, the validator reads it as a schema. */
function isSchema(copy: Json): copy is JsonObject & Schema {
  return isJsonObject(copy);
}

/** Most servers declare no dialect, or 2020-12. `modernize` converts draft-04. */
function draftOf(dialect: Json | undefined): "7" | "2019-09" | "2020-12" {
  if (typeof dialect !== "string") return "2020-12";
  if (/draft-0[467]/.test(dialect)) return "7";
  return dialect.includes("2019-09") ? "2019-09" : "2020-12";
}

/** Copies the schema without costly keywords, so that its checks count their steps. */
function withoutCostly(schema: Json, depth: number): Json {
  if (depth > DEEPEST_SCHEMA) return true;
  if (Array.isArray(schema)) return schema.map((item: Json) => withoutCostly(item, depth + 1));
  if (!isJsonObject(schema)) return schema;
  const hasPatterns = Object.hasOwn(schema, "patternProperties");
  const kept = Object.entries(modernize(schema))
    .filter(([key]) => !COSTLY_KEYWORDS.has(key) && !(hasPatterns && NEED_PATTERNS.has(key)))
    .map(([key, value]) => [key, copyKeyword(key, value, depth + 1)]);
  const weight = weigh(schema);
  return Object.defineProperty(Object.fromEntries(kept), STEP_KEYWORD, { get: () => countSteps(weight) });
}

/** Turns boolean bounds of draft-04 into numbers and `nullable` of OpenAPI into a type, which validators do not know. */
export function modernize(schema: JsonObject): JsonObject {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, nullable, type } = schema;
  const rest = Object.entries(schema).filter(
    ([key, value]) => !(key.startsWith("exclusiveM") && typeof value === "boolean"),
  );
  const listed = schema["enum"];
  return {
    ...Object.fromEntries(rest),
    ...defined({
      exclusiveMinimum: exclusiveMinimum === true ? minimum : undefined,
      exclusiveMaximum: exclusiveMaximum === true ? maximum : undefined,
      type: nullable === true && typeof type === "string" ? [type, "null"] : undefined,
      enum: nullable === true && Array.isArray(listed) ? [...listed, null] : undefined,
    }),
  };
}

/** The steps that one check of this schema counts: every listed value and name may be compared or quoted. */
function weigh(schema: JsonObject): number {
  const { enum: listed, const: only, required, properties, dependentRequired, dependencies } = schema;
  const values = [listed, only].map((value) =>
    value === undefined ? 0 : JSON.stringify(value).length / CHARS_PER_STEP,
  );
  const names = [required, properties, dependentRequired, dependencies].map(sizeOf);
  return Math.ceil([...values, ...names].reduce((sum, one) => sum + one, 1));
}

function sizeOf(value: Json | undefined): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

function copyKeyword(key: string, value: Json, depth: number): Json {
  if (VALUE_KEYWORDS.has(key)) return value;
  if (!MAP_KEYWORDS.has(key) || !isJsonObject(value)) return withoutCostly(value, depth);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, withoutCostly(schema, depth + 1)]));
}

/** The validator reads this keyword, which our drafts do not have, once for each schema that it applies. */
const STEP_KEYWORD = "$recursiveAnchor";
/** What is left of the current check. Checks are synchronous, so there is one at a time. */
let steps = 0;

/** `$ref`s can multiply: thirty short definitions that each name the next one twice make a billion checks. */
function countSteps(weight: number): undefined {
  steps -= weight;
  if (steps < 0) throw new RangeError("The schema takes too many steps");
}
