/**
 * The keywords of JSON Schema with schemas inside. A pattern that cannot be run leaves some questions open: what is open
 * neither makes a value wrong nor, below `not` or `oneOf`, right.
 */

import { defined, isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../domain/index.ts";
import type { SlicedWork } from "../timing/index.ts";
import { resolveRef } from "../typegen/index.ts";

import { FAILS, FITS, UNKNOWN, fail, namesOf, spendSteps } from "./assertions.ts";
import type { Fit, SchemaVisit } from "./assertions.ts";
import { matchPattern } from "./match-pattern.ts";

export interface PartVisit extends SchemaVisit {
  readonly apply: (schema: Json, value: Json, visit: PartVisit) => SlicedWork<Fit>;
  readonly root: JsonSchema;
  /** In old drafts a reference replaces its schema. */
  readonly isOldDraft: boolean;
  /** Names and indexes that some schema was applied to; absent if no schema asks for them. */
  readonly evaluated?: Set<string>;
  /** The steps that are left at the next pause. */
  readonly pause: { at: number };
}

/** Like an assertion, and pauses where the schemas inside do. */
export type PartCheck = (value: Json, visit: PartVisit) => SlicedWork<Fit>;

/** All of them must hold. */
export function both(one: Fit, other: Fit): Fit {
  return one < other ? one : other;
}

export function createRefCheck({ $ref }: JsonObject): PartCheck {
  return function* (value, visit) {
    const target = typeof $ref === "string" ? resolveRef(visit.root, $ref) : undefined;
    return target === undefined ? UNKNOWN : yield* visit.apply(target, value, below(visit, "$ref"));
  };
}

/** The same value at a schema inside. */
function below(visit: PartVisit, step: string): PartVisit {
  return { ...visit, schemaAt: `${visit.schemaAt}/${step}` };
}

/** A part of the value, at a schema inside. */
function inside(visit: PartVisit, key: string | number, step: string): PartVisit {
  const { evaluated, ...rest } = visit;
  const valueAt = `${visit.valueAt}/${typeof key === "number" ? key : toStep(key)}`;
  return {
    ...rest,
    valueAt,
    schemaAt: `${visit.schemaAt}/${step}`,
    ...defined({ evaluated: evaluated && new Set<string>() }),
  };
}

function toStep(name: string): string {
  return /[~/]/.test(name) ? name.replaceAll("~", "~0").replaceAll("/", "~1") : name;
}

/** Applies one of several schemas. What it evaluates counts only if it does not fail. */
function* applyBranch(schema: Json, value: Json, visit: PartVisit): SlicedWork<Fit> {
  const evaluated = visit.evaluated && new Set<string>();
  const fit = yield* visit.apply(schema, value, { ...visit, ...defined({ evaluated }) });
  if (fit !== FAILS) for (const name of evaluated ?? []) visit.evaluated?.add(name);
  return fit;
}

/** Removes the problems that were found since then. */
function forget({ problems }: PartVisit, since: number): void {
  problems.length = since;
}

export function createNotCheck({ not = true }: JsonObject): PartCheck {
  return function* (value, visit) {
    const since = visit.problems.length;
    const fit = yield* visit.apply(not, value, {
      ...below(visit, "not"),
      ...defined({ evaluated: visit.evaluated && new Set<string>() }),
    });
    forget(visit, since);
    if (fit === FITS) return fail(visit, "not", 'must not fit its schema "not"');
    return fit === FAILS ? FITS : UNKNOWN;
  };
}

export function createAllCheck({ allOf }: JsonObject): PartCheck {
  const schemas = listOf(allOf);
  return function* (value, visit) {
    let fit: Fit = FITS;
    for (const [at, schema] of schemas.entries())
      fit = both(fit, yield* applyBranch(schema, value, below(visit, `allOf/${at}`)));
    return fit;
  };
}

export function createAnyCheck({ anyOf }: JsonObject): PartCheck | undefined {
  return Array.isArray(anyOf) ? createChoiceCheck("anyOf", anyOf) : undefined;
}

export function createOneCheck({ oneOf }: JsonObject): PartCheck | undefined {
  return Array.isArray(oneOf) ? createChoiceCheck("oneOf", oneOf) : undefined;
}

function createChoiceCheck(keyword: "anyOf" | "oneOf", schemas: readonly Json[]): PartCheck {
  return function* (value, visit) {
    const since = visit.problems.length;
    const fits: Fit[] = [];
    for (const [at, schema] of schemas.entries())
      fits.push(yield* applyBranch(schema, value, below(visit, `${keyword}/${at}`)));
    const matches = fits.filter((fit) => fit === FITS).length;
    const isOpen = fits.includes(UNKNOWN);
    const fit = keyword === "anyOf" ? anyOf(matches, isOpen) : exactlyOne(matches, isOpen);
    if (fit !== FAILS) {
      forget(visit, since);
      return fit;
    }
    const inner = visit.problems.splice(since);
    const error = `Instance does not match exactly one subschema (${matches} matches).`;
    fail(visit, keyword, keyword === "anyOf" ? "Instance does not match any subschemas." : error);
    for (const problem of inner) visit.problems.push(problem);
    return FAILS;
  };
}

function anyOf(matches: number, isOpen: boolean): Fit {
  if (matches > 0) return FITS;
  return isOpen ? UNKNOWN : FAILS;
}

function exactlyOne(matches: number, isOpen: boolean): Fit {
  if (matches > 1) return FAILS;
  if (isOpen) return UNKNOWN;
  return matches === 1 ? FITS : FAILS;
}

export function createConditionCheck({
  if: condition = true,
  then = true,
  else: otherwise = true,
}: JsonObject): PartCheck {
  return function* (value, visit) {
    const since = visit.problems.length;
    const fit = yield* applyBranch(condition, value, below(visit, "if"));
    forget(visit, since);
    const yes = fit === FAILS ? FITS : yield* applyBranch(then, value, below(visit, "then"));
    const no = fit === FITS ? FITS : yield* applyBranch(otherwise, value, below(visit, "else"));
    if (fit !== UNKNOWN || yes === no) return both(yes, no);
    forget(visit, since);
    return UNKNOWN;
  };
}

export function createNamesCheck({ propertyNames = true }: JsonObject): PartCheck {
  return function* (value, visit) {
    let fit: Fit = FITS;
    for (const name of isJsonObject(value) ? Object.keys(value) : []) {
      const since = visit.problems.length;
      const named = yield* visit.apply(propertyNames, name, inside(visit, name, "propertyNames"));
      if (named === FAILS) {
        forget(visit, since);
        fail(visit, "propertyNames", `Property name "${name}" does not match schema.`);
      }
      fit = both(fit, named);
    }
    return fit;
  };
}

/** `dependencies` of old drafts also lists names that are needed. */
export function createDependentCheck(
  keyword: "dependentSchemas" | "dependencies",
  schema: JsonObject,
): PartCheck | undefined {
  const setting = schema[keyword];
  if (!isJsonObject(setting)) return undefined;
  const entries = Object.entries(setting).map(([name, needed]) => {
    return [name, Array.isArray(needed) ? { required: namesOf(needed) } : needed] as const;
  });
  return function* (value, visit) {
    let fit: Fit = FITS;
    for (const [name, needed] of entries) {
      if (!isJsonObject(value) || !Object.hasOwn(value, name)) continue;
      fit = both(fit, yield* applyBranch(needed, value, below(visit, `${keyword}/${toStep(name)}`)));
    }
    return fit;
  };
}

/** Names that match no known pattern, but may match one that cannot be run, are not refused by what is left for others. */
export function createFieldsCheck({ properties, patternProperties, additionalProperties }: JsonObject): PartCheck {
  const fields = isJsonObject(properties) ? properties : {};
  const patterns = isJsonObject(patternProperties) ? Object.entries(patternProperties) : [];
  return function* (value, visit) {
    if (!isJsonObject(value)) return FITS;
    let fit: Fit = FITS;
    for (const [name, schema] of Object.entries(fields)) {
      if (!Object.hasOwn(value, name)) continue;
      visit.evaluated?.add(name);
      fit = both(
        fit,
        yield* visit.apply(schema, value[name] ?? null, inside(visit, name, `properties/${toStep(name)}`)),
      );
    }
    for (const [name, field] of patterns.length === 0 && additionalProperties === undefined
      ? []
      : Object.entries(value)) {
      const isDeclared = Object.hasOwn(fields, name);
      fit = both(fit, yield* checkByName({ name, field, isDeclared, patterns, others: additionalProperties }, visit));
    }
    return fit;
  };
}

interface FieldByName {
  readonly name: string;
  readonly field: Json;
  readonly isDeclared: boolean;
  readonly patterns: readonly (readonly [string, Json])[];
  readonly others: Json | undefined;
}

function* checkByName({ name, field, isDeclared, patterns, others }: FieldByName, visit: PartVisit): SlicedWork<Fit> {
  let fit: Fit = FITS;
  let isKnown = isDeclared;
  let mayMatch = false;
  for (const [pattern, schema] of patterns) {
    const isMatch = visit.isStrict ? matchPattern(pattern, name, visit.patternBudget) : undefined;
    spendSteps(visit, 1);
    if (isMatch === false) continue;
    const at = inside(visit, name, `patternProperties/${toStep(pattern)}`);
    fit = both(
      fit,
      isMatch === undefined ? yield* unlessFails(schema, field, at) : yield* visit.apply(schema, field, at),
    );
    isKnown ||= isMatch === true;
    mayMatch ||= isMatch === undefined;
  }
  if (!isKnown && others !== undefined) {
    const at = inside(visit, name, "additionalProperties");
    fit = both(fit, mayMatch ? yield* unlessFails(others, field, at) : yield* visit.apply(others, field, at));
  }
  if (isKnown || mayMatch || others !== undefined) visit.evaluated?.add(name);
  return fit;
}

/** For a schema that may not apply. */
function* unlessFails(schema: Json, value: Json, visit: PartVisit): SlicedWork<Fit> {
  const since = visit.problems.length;
  const fit = yield* visit.apply(schema, value, visit);
  forget(visit, since);
  return fit === FITS ? FITS : UNKNOWN;
}

export function createOtherFieldsCheck({ unevaluatedProperties = true }: JsonObject): PartCheck {
  return function* (value, visit) {
    let fit: Fit = FITS;
    for (const [name, field] of isJsonObject(value) ? Object.entries(value) : []) {
      if (visit.evaluated?.has(name)) continue;
      visit.evaluated?.add(name);
      fit = both(fit, yield* visit.apply(unevaluatedProperties, field, inside(visit, name, "unevaluatedProperties")));
    }
    return fit;
  };
}

/** Before 2020 the schemas of a tuple were in `items`, and the schema of the others in `additionalItems`. */
export function createItemsCheck({ prefixItems, items, additionalItems }: JsonObject): PartCheck {
  const tuple = [...listOf(prefixItems), ...listOf(items)];
  const others = Array.isArray(items) ? additionalItems : items;
  return function* (value, visit) {
    let fit: Fit = FITS;
    for (const [at, item] of Array.isArray(value) ? value.entries() : []) {
      const schema: Json | undefined = tuple[at] ?? others;
      if (schema === undefined) break;
      visit.evaluated?.add(String(at));
      fit = both(
        fit,
        yield* visit.apply(schema, item, inside(visit, at, at < tuple.length ? `prefixItems/${at}` : "items")),
      );
    }
    return fit;
  };
}

export function createContainsCheck({ contains = true, minContains, maxContains }: JsonObject): PartCheck {
  const least = typeof minContains === "number" ? minContains : 1;
  const most = typeof maxContains === "number" ? maxContains : Infinity;
  return function* (value, visit) {
    if (!Array.isArray(value)) return FITS;
    const since = visit.problems.length;
    let [matches, open] = [0, 0];
    for (const [at, item] of value.entries()) {
      const fit = yield* visit.apply(contains, item, inside(visit, at, "contains"));
      if (fit !== FAILS) visit.evaluated?.add(String(at));
      if (fit === FITS) matches += 1;
      if (fit === UNKNOWN) open += 1;
    }
    forget(visit, since);
    const found = `${matches} ${matches === 1 ? "item fits" : "items fit"} its schema "contains"`;
    if (matches + open < least)
      return fail(visit, least === 1 ? "contains" : "minContains", `${found}; expected at least ${least}`);
    if (matches > most) return fail(visit, "maxContains", `${found}; expected at most ${most}`);
    return matches >= least && matches + open <= most ? FITS : UNKNOWN;
  };
}

export function createOtherItemsCheck({ unevaluatedItems = true }: JsonObject): PartCheck {
  return function* (value, visit) {
    let fit: Fit = FITS;
    for (const [at, item] of Array.isArray(value) ? value.entries() : []) {
      if (visit.evaluated?.has(String(at))) continue;
      visit.evaluated?.add(String(at));
      fit = both(fit, yield* visit.apply(unevaluatedItems, item, inside(visit, at, "unevaluatedItems")));
    }
    return fit;
  };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
