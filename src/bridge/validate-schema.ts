/**
 * Validates a value against a schema that an upstream wrote, of draft-04 to 2020-12, with `nullable` of OpenAPI. The
 * schema is not trusted: all work counts as steps, and settings of wrong types are ignored.
 */

import { defined, isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../domain/index.ts";
import type { SlicedWork } from "../timing/index.ts";

import {
  both,
  createAllCheck,
  createAnyCheck,
  createConditionCheck,
  createContainsCheck,
  createDependentCheck,
  createFieldsCheck,
  createItemsCheck,
  createNamesCheck,
  createNotCheck,
  createOneCheck,
  createOtherFieldsCheck,
  createOtherItemsCheck,
  createRefCheck,
} from "./applicators.ts";
import type { PartCheck, PartVisit } from "./applicators.ts";
import { ASSERTIONS, FAILS, FITS, UNKNOWN, spendSteps, weigh } from "./assertions.ts";
import type { Fit, SchemaCheck } from "./assertions.ts";
import type { RawProblem } from "./describe-problems.ts";

export interface ValidationOptions {
  readonly mostSteps: number;
  /** Also checks patterns, formats and unique items. */
  readonly isStrict: boolean;
}

/** About a millisecond of work. */
const STEPS_PER_PIECE = 2_000;

/** Of all patterns and formats together: each is matched in one piece. */
const PATTERN_STEPS = 250_000;

/** All problems; none if the value fits, or if it cannot be decided within the steps. */
export function* validateSchema(
  root: JsonSchema,
  value: Json,
  { mostSteps, isStrict }: ValidationOptions,
): SlicedWork<readonly RawProblem[]> {
  const problems: RawProblem[] = [];
  const visit: PartVisit = {
    apply,
    root,
    isStrict,
    isOldDraft: /draft-0[467]/.test(typeof root["$schema"] === "string" ? root["$schema"] : ""),
    budget: { left: mostSteps },
    patternBudget: { left: Math.min(mostSteps, PATTERN_STEPS) },
    pause: { at: mostSteps - STEPS_PER_PIECE },
    problems,
    valueAt: "#",
    schemaAt: "#",
    ...defined({ evaluated: asksForEvaluated(root) ? new Set<string>() : undefined }),
  };
  try {
    return (yield* apply(root, value, visit)) === FAILS ? problems : [];
  } catch (thrown) {
    if (thrown instanceof RangeError) return []; // out of steps, or out of stack by references in a circle
    throw thrown;
  }
}

const askers = new WeakMap<JsonSchema, boolean>();

function asksForEvaluated(root: JsonSchema): boolean {
  const known = askers.get(root) ?? JSON.stringify(root).includes('"unevaluated');
  askers.set(root, known);
  return known;
}

function* apply(schema: Json, value: Json, visit: PartVisit): SlicedWork<Fit> {
  spendSteps(visit, 1);
  const { budget, pause } = visit;
  if (budget.left < pause.at) {
    pause.at = budget.left - STEPS_PER_PIECE;
    yield;
  }
  if (schema === true) return FITS;
  if (schema === false) {
    const { valueAt } = visit;
    visit.problems.push({ keyword: "false", keywordLocation: valueAt, instanceLocation: valueAt, error: "" });
    return FAILS;
  }
  if (!isJsonObject(schema)) return UNKNOWN;
  const { weight, checks } = prepare(schema);
  spendSteps(visit, weight);
  if (visit.isOldDraft && Object.hasOwn(schema, "$ref")) return yield* createRefCheck(schema)(value, visit);
  let fit: Fit = FITS;
  for (const check of checks) {
    const found = check(value, visit);
    fit = both(fit, typeof found === "number" ? found : yield* found);
  }
  return fit;
}

interface PreparedSchema {
  readonly weight: number;
  readonly checks: readonly (PartCheck | SchemaCheck)[];
}

/** Schemas are immutable and live as long as their snapshot. */
const prepared = new WeakMap<JsonObject, PreparedSchema>();

function prepare(schema: JsonObject): PreparedSchema {
  const known = prepared.get(schema);
  if (known) return known;
  const modern = modernize(schema);
  const checks: (PartCheck | SchemaCheck)[] = [];
  for (const [keywords, create] of KEYWORDS) {
    const check = keywords.some((keyword) => modern[keyword] !== undefined) ? create(modern) : undefined;
    if (check) checks.push(check);
  }
  const made = { weight: weigh(modern), checks };
  prepared.set(schema, made);
  return made;
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

/** The check of one or more keywords; `undefined` if their settings have wrong types. */
type CreateCheck = (schema: JsonObject) => PartCheck | SchemaCheck | undefined;

/** In the order in which problems are reported. */
const KEYWORDS: readonly (readonly [keywords: readonly string[], create: CreateCheck])[] = [
  [["$ref"], createRefCheck],
  // What these refer to depends on the schemas around them.
  [["$dynamicRef", "$recursiveRef"], () => (): Fit => UNKNOWN],
  ...assertions("type const enum"),
  [["not"], createNotCheck],
  [["anyOf"], createAnyCheck],
  [["allOf"], createAllCheck],
  [["oneOf"], createOneCheck],
  [["if"], createConditionCheck],
  ...assertions("required minProperties maxProperties"),
  [["propertyNames"], createNamesCheck],
  ...assertions("dependentRequired"),
  [["dependentSchemas"], (schema) => createDependentCheck("dependentSchemas", schema)],
  [["dependencies"], (schema) => createDependentCheck("dependencies", schema)],
  [["properties", "patternProperties", "additionalProperties"], createFieldsCheck],
  [["unevaluatedProperties"], createOtherFieldsCheck],
  ...assertions("maxItems minItems"),
  [["prefixItems", "items"], createItemsCheck],
  [["contains"], createContainsCheck],
  [["unevaluatedItems"], createOtherItemsCheck],
  ...assertions("uniqueItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
  ...assertions("minLength maxLength pattern format"),
];

function assertions(names: string): readonly (readonly [readonly string[], CreateCheck])[] {
  return names.split(" ").map((name) => [[name], (schema) => ASSERTIONS[name]?.(schema[name] ?? null)] as const);
}
