/** Joins what several schemas say about one value into one plain schema, as far as keywords can be joined. */

import { canonicalJson, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

const LEAST = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"]);
const MOST = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"]);
const MAPS = new Set(["properties", "patternProperties", "dependentSchemas", "dependencies", "dependentRequired"]);
const SCHEMAS = new Set(["items", "additionalItems", "additionalProperties", "contains", "propertyNames"]);

/** `undefined` when no value can be both. What cannot be joined stays as the first says it; the check at the end tells. */
export function mergeSchemas(one: JsonObject, other: JsonObject): JsonObject | undefined {
  const merged = new Map(Object.entries(one));
  for (const [keyword, value] of Object.entries(other)) {
    const known = merged.get(keyword);
    const joined = known === undefined ? value : join(keyword, known, value);
    if (joined === undefined) return undefined;
    merged.set(keyword, joined);
  }
  return Object.fromEntries(merged);
}

function join(keyword: string, one: Json, other: Json): Json | undefined {
  if (keyword === "type") return joinTypes(one, other);
  if (keyword === "enum") return joinLists(one, other);
  if (keyword === "required") return [...asList(one), ...asList(other)];
  if (keyword === "prefixItems") return joinPrefixes(asList(one), asList(other));
  if (keyword === "multipleOf") return joinSteps(one, other);
  if (LEAST.has(keyword)) return Math.max(asNumber(one, -Infinity), asNumber(other, -Infinity));
  if (MOST.has(keyword)) return Math.min(asNumber(one, Infinity), asNumber(other, Infinity));
  if (MAPS.has(keyword)) return joinMaps(one, other);
  return SCHEMAS.has(keyword) ? both(one, other) : one;
}

/** A schema for what fits both. Lists are names that a property needs, or items by place. */
function both(one: Json, other: Json): Json {
  if (one === false || other === false) return false;
  if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other];
  return { allOf: [one, other] };
}

function joinMaps(one: Json, other: Json): Json {
  if (!isJsonObject(one) || !isJsonObject(other)) return one;
  const joined = new Map(Object.entries(one));
  for (const [name, schema] of Object.entries(other)) {
    const known = joined.get(name);
    joined.set(name, known === undefined ? schema : both(known, schema));
  }
  return Object.fromEntries(joined);
}

function joinPrefixes(one: readonly Json[], other: readonly Json[]): Json {
  const [longer, shorter] = one.length < other.length ? [other, one] : [one, other];
  return longer.map((schema, index) => (index < shorter.length ? both(schema, shorter[index] ?? true) : schema));
}

function joinTypes(one: Json, other: Json): Json | undefined {
  const [mine, theirs] = [asTypes(one), asTypes(other)];
  const shared = [...mine.filter((type) => accepts(theirs, type)), ...theirs.filter((type) => accepts(mine, type))];
  return shared.length === 0 ? undefined : [...new Set(shared)];
}

function asTypes(types: Json): readonly Json[] {
  return Array.isArray(types) ? types : [types];
}

/** Every integer is a number; a number need not be an integer. */
function accepts(types: readonly Json[], type: Json): boolean {
  return types.includes(type) || (type === "integer" && types.includes("number"));
}

function joinLists(one: Json, other: Json): Json | undefined {
  const theirs = new Set(asList(other).map((value) => canonicalJson(value)));
  const shared = asList(one).filter((value) => theirs.has(canonicalJson(value)));
  return shared.length === 0 ? undefined : shared;
}

/** The least common multiple of whole steps; of others the product, which is a multiple of both when one is whole. */
function joinSteps(one: Json, other: Json): Json {
  const [a, b] = [asNumber(one, 1), asNumber(other, 1)];
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b)) return a * b;
  let [rest, divisor] = [a, b];
  while (divisor !== 0) [rest, divisor] = [divisor, rest % divisor];
  return (a / (rest === 0 ? 1 : rest)) * b;
}

function asList(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function asNumber(value: Json, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
