/**
 * Says at once that a value fits a schema made of the few keywords that nearly every tool gets by with. It never says
 * that a value does not fit: whoever hears "not known" asks the real validator.
 */

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";

/** True when the value fits for certain. */
export type QuickFit = (value: Json) => boolean;

type Rule = (value: Json) => boolean;

/** What a validator acts on and this does not: with one of these nothing is certain. */
const BEYOND =
  "$ref $dynamicRef $recursiveRef not oneOf if then else format patternProperties unevaluatedProperties minProperties maxProperties propertyNames dependentRequired dependentSchemas dependencies prefixItems additionalItems unevaluatedItems contains minContains maxContains uniqueItems multipleOf pattern".split(
    " ",
  );
/** A value that takes more is not worth it: the validator has a measure of its own. */
const MOST_STEPS = 50_000;

/** What is left of the look under way. Looks are synchronous, so there is one at a time. */
let steps = 0;

/** `undefined` for a schema that says more than this understands. The schema is not deep. */
export function createQuickFit(schema: Json): QuickFit | undefined {
  const rule = createRule(schema);
  if (!rule) return undefined;
  return (value) => {
    steps = MOST_STEPS;
    return rule(value);
  };
}

function createRule(schema: Json): Rule | undefined {
  if (typeof schema === "boolean") return () => schema;
  if (!isJsonObject(schema) || BEYOND.some((keyword) => Object.hasOwn(schema, keyword))) return undefined;
  const rules: Rule[] = [];
  for (const [keyword, create] of Object.entries(KEYWORDS)) {
    const said = schema[keyword];
    if (said === undefined) continue;
    const rule = create(said, schema);
    if (!rule) return undefined;
    rules.push(rule);
  }
  return (value) => {
    steps -= 1;
    return steps >= 0 && rules.every((rule) => rule(value));
  };
}

/** Every keyword alone, for values of the kind that it is about; all others pass it. */
const KEYWORDS: Readonly<Record<string, (said: Json, schema: JsonObject) => Rule | undefined>> = {
  type: (said) => {
    const kinds = new Set(Array.isArray(said) ? said : [said]);
    return (value) => kinds.has(kindOf(value)) || (kinds.has("integer") && Number.isInteger(value));
  },
  const: (said) => (isScalar(said) ? (value) => value === said : undefined),
  enum: (said) => {
    if (!Array.isArray(said)) return undefined;
    const values = new Set<Json>(said);
    return (value) => isScalar(value) && values.has(value);
  },
  minimum: numberRule((value, bound) => value >= bound),
  maximum: numberRule((value, bound) => value <= bound),
  exclusiveMinimum: numberRule((value, bound) => value > bound),
  exclusiveMaximum: numberRule((value, bound) => value < bound),
  // A character has one or two units: what is too short or too long by the worse count is left to the validator.
  minLength: sizeRule((value) => (typeof value === "string" ? Math.ceil(value.length / 2) : undefined), isAtLeast),
  maxLength: sizeRule((value) => (typeof value === "string" ? value.length : undefined), isAtMost),
  minItems: sizeRule((value) => (Array.isArray(value) ? value.length : undefined), isAtLeast),
  maxItems: sizeRule((value) => (Array.isArray(value) ? value.length : undefined), isAtMost),
  required: (said) => {
    if (!Array.isArray(said)) return undefined;
    const names = said.filter((name) => typeof name === "string");
    return (value) => !isJsonObject(value) || names.every((name) => Object.hasOwn(value, name));
  },
  properties: (said, { additionalProperties: others }) =>
    isJsonObject(said) ? createFieldsRule(said, others) : undefined,
  additionalProperties: (said, { properties }) => (properties === undefined ? createFieldsRule({}, said) : () => true),
  items: (said) => {
    const rule = createRule(said);
    return rule && ((value) => !Array.isArray(value) || value.every((item: Json) => rule(item)));
  },
  allOf: (said) => {
    const rules = createRules(said);
    return rules && ((value) => rules.every((rule) => rule(value)));
  },
  anyOf: (said) => {
    const rules = createRules(said);
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

function createRules(said: Json): readonly Rule[] | undefined {
  if (!Array.isArray(said)) return undefined;
  const rules = said.map((schema: Json) => createRule(schema)).filter((rule) => rule !== undefined);
  return rules.length === said.length ? rules : undefined;
}

function numberRule(holds: (value: number, bound: number) => boolean): (said: Json) => Rule | undefined {
  return (said) => (typeof said === "number" ? (value) => typeof value !== "number" || holds(value, said) : undefined);
}

/** `sizeOf` answers nothing for a value of another kind. */
function sizeRule(
  sizeOf: (value: Json) => number | undefined,
  holds: (size: number, bound: number) => boolean,
): (said: Json) => Rule | undefined {
  return (said) => {
    if (typeof said !== "number") return undefined;
    return (value) => {
      const size = sizeOf(value);
      return size === undefined || holds(size, said);
    };
  };
}

function isAtLeast(size: number, bound: number): boolean {
  return size >= bound;
}

function isAtMost(size: number, bound: number): boolean {
  return size <= bound;
}

function isScalar(value: Json): boolean {
  return typeof value !== "object" || value === null;
}

function kindOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
