/** The JSON Schema that given values have in common: types and keys, no bounds. Another integer may be a fraction. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonSchema } from "../../domain/index.ts";

/** An object with more keys is data: its keys are values, too. */
const MOST_KEYS = 50;

interface InferOptions {
  /** Whether keys that all objects have are required. */
  readonly hasRequired: boolean;
}

/** `{}` if their types differ, and for `null`, which says nothing about another value. */
export function inferSchema(values: readonly Json[], options: InferOptions): JsonSchema {
  const [type, other, ...more] = new Set(values.map(typeOf));
  if (type === undefined || type === "null" || other !== undefined || more.length > 0) return {};
  if (type === "array")
    return inferArray(
      values.filter((value) => Array.isArray(value)),
      options,
    );
  return type === "object" ? inferObject(values.filter(isJsonObject), options) : { type };
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function inferArray(arrays: readonly (readonly Json[])[], options: InferOptions): JsonSchema {
  const items = arrays.flat();
  return items.length === 0 ? { type: "array" } : { type: "array", items: inferSchema(items, options) };
}

function inferObject(objects: readonly Readonly<Record<string, Json>>[], options: InferOptions): JsonSchema {
  const keys = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  if (keys.length > MOST_KEYS) return { type: "object" };
  const valuesOf = (key: string): readonly Json[] =>
    objects.map((object) => object[key]).filter((value) => value !== undefined);
  const properties = keys.map((key) => [key, inferSchema(valuesOf(key), options)] as const);
  const required = keys.filter((key) => options.hasRequired && objects.every((object) => Object.hasOwn(object, key)));
  return { type: "object", properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
}
