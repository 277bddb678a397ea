/**
 * Confirms quickly that a value fits a schema of common keywords. It never refuses a value: what it cannot confirm goes
 * to the validator. The row "checked quickly / by the validator" of `bench/bridge-call.ts` shows what it saves.
 */

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";

import { FORMATS } from "../text/index.ts";

import { fitsFormat, kindOf } from "./assertions.ts";
import { matchPattern } from "./match-pattern.ts";
import { modernize } from "./validate-schema.ts";

/** True when the value fits for certain. `isStrict` as in `validateSchema`. */
export type QuickFit = (value: Json, isStrict: boolean) => boolean;

type Rule = (value: Json) => boolean;

/** Keywords that only the validator understands. */
const BEYOND =
  "$ref $dynamicRef $recursiveRef not oneOf if then else patternProperties unevaluatedProperties minProperties maxProperties propertyNames dependentRequired dependentSchemas dependencies prefixItems additionalItems unevaluatedItems contains minContains maxContains multipleOf".split(
    " ",
  );
/** About ten milliseconds in one piece. A value that takes more steps goes to the validator, which works in slices. */
const MOST_STEPS = 250_000;

/** The current check. Checks are synchronous, so there is one at a time. */
const budget = { left: 0 };
let strict = false;

/** `undefined` for a schema with other keywords. The schema must not be deep. */
export function createQuickFit(schema: Json): QuickFit | undefined {
  const rule = createRule(schema);
  if (!rule) return undefined;
  return (value, isStrict) => {
    budget.left = MOST_STEPS;
    strict = isStrict;
    return rule(value);
  };
}

function createRule(given: Json): Rule | undefined {
  if (typeof given === "boolean") return () => given;
  if (!isJsonObject(given) || BEYOND.some((keyword) => Object.hasOwn(given, keyword))) return undefined;
  const schema = modernize(given);
  const rules: Rule[] = [];
  for (const [keyword, create] of Object.entries(KEYWORDS)) {
    const setting = schema[keyword];
    if (setting === undefined) continue;
    const rule = create(setting, schema);
    if (!rule) return undefined;
    rules.push(rule);
  }
  return (value) => {
    budget.left -= 1;
    return budget.left >= 0 && rules.every((rule) => rule(value));
  };
}

/** Each keyword alone. Values of a type that it is not about pass. */
const KEYWORDS: Readonly<Record<string, (setting: Json, schema: JsonObject) => Rule | undefined>> = {
  type: (setting) => {
    const kinds = new Set(Array.isArray(setting) ? setting : [setting]);
    return (value) => kinds.has(kindOf(value)) || (kinds.has("integer") && Number.isInteger(value));
  },
  const: (setting) => (isScalar(setting) ? (value) => value === setting : undefined),
  enum: (setting) => {
    if (!Array.isArray(setting)) return undefined;
    const values = new Set<Json>(setting);
    return (value) => isScalar(value) && values.has(value);
  },
  minimum: boundRule(numberOf, (value, bound) => value >= bound),
  maximum: boundRule(numberOf, (value, bound) => value <= bound),
  exclusiveMinimum: boundRule(numberOf, (value, bound) => value > bound),
  exclusiveMaximum: boundRule(numberOf, (value, bound) => value < bound),
  // A character has one or two units: what does not fit by the worse count goes to the validator.
  minLength: boundRule(unitsOf, (units, bound) => Math.ceil(units / 2) >= bound),
  maxLength: boundRule(unitsOf, (units, bound) => units <= bound),
  minItems: boundRule(itemsOf, (items, bound) => items >= bound),
  maxItems: boundRule(itemsOf, (items, bound) => items <= bound),
  uniqueItems: (setting) => (value) => setting !== true || !strict || !Array.isArray(value) || hasScalarsOnce(value),
  pattern: (setting) => {
    if (typeof setting !== "string") return undefined;
    return (value) => typeof value !== "string" || !strict || matchPattern(setting, value, budget) === true;
  },
  format: (setting) => {
    const format = FORMATS.get(setting);
    return (value) => typeof value !== "string" || !strict || !format || fitsFormat(format, value, budget) === true;
  },
  required: (setting) => {
    if (!Array.isArray(setting)) return undefined;
    const names = setting.filter((name) => typeof name === "string");
    return (value) => !isJsonObject(value) || names.every((name) => Object.hasOwn(value, name));
  },
  properties: (setting, { additionalProperties: others }) =>
    isJsonObject(setting) ? createFieldsRule(setting, others) : undefined,
  additionalProperties: (setting, { properties }) =>
    properties === undefined ? createFieldsRule({}, setting) : () => true,
  items: (setting) => {
    const rule = createRule(setting);
    return rule && ((value) => !Array.isArray(value) || value.every((item: Json) => rule(item)));
  },
  allOf: (setting) => {
    const rules = createRules(setting);
    return rules && ((value) => rules.every((rule) => rule(value)));
  },
  anyOf: (setting) => {
    const rules = createRules(setting);
    return rules && ((value) => rules.some((rule) => rule(value)));
  },
};

function createFieldsRule(fields: JsonObject, others: Json = true): Rule | undefined {
  const rules = new Map<string, Rule>();
  for (const [name, schema] of Object.entries(fields)) {
    const rule = createRule(schema);
    if (!rule) return undefined;
    rules.set(name, rule);
  }
  const otherwise = createRule(others);
  if (!otherwise) return undefined;
  return (value) =>
    !isJsonObject(value) || Object.keys(value).every((name) => (rules.get(name) ?? otherwise)(value[name] ?? null));
}

function createRules(setting: Json): readonly Rule[] | undefined {
  if (!Array.isArray(setting)) return undefined;
  const rules = setting.map((schema: Json) => createRule(schema)).filter((rule) => rule !== undefined);
  return rules.length === setting.length ? rules : undefined;
}

/** `measure` returns `undefined` for a value of another type. */
function boundRule(
  measure: (value: Json) => number | undefined,
  holds: (size: number, bound: number) => boolean,
): (setting: Json) => Rule | undefined {
  return (setting) => {
    if (typeof setting !== "number") return undefined;
    return (value) => {
      const size = measure(value);
      return size === undefined || holds(size, setting);
    };
  };
}

function numberOf(value: Json): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function unitsOf(value: Json): number | undefined {
  return typeof value === "string" ? value.length : undefined;
}

function itemsOf(value: Json): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function hasScalarsOnce(items: readonly Json[]): boolean {
  budget.left -= items.length;
  return budget.left >= 0 && items.every(isScalar) && new Set(items).size === items.length;
}

function isScalar(value: Json): boolean {
  return typeof value !== "object" || value === null;
}
