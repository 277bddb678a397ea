/** Schema keywords with plain values, and where OpenAPI 2.0 and 3.0 differ from JSON Schema. */

import { defined } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import { toList } from "./references.ts";

export const MAX_DESCRIPTION_CHARACTERS = 400;
/** A longer enum does not help a reader; without it the schema allows more. */
const MAX_ENUM_BYTES = 4096;
const MAX_DEFAULT_BYTES = 512;

const NUMBERS = [
  "multipleOf",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
] as const;

const TYPES: readonly Json[] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** Annotations for readers and constraints on a value, as keywords of 2020-12. Without examples, links and extensions. */
export function copyKeywords(schema: JsonObject): JsonObject {
  const { title, format, deprecated, pattern, uniqueItems, enum: values } = schema;
  const isBytes = isBinary(schema);
  // The type alone does not show that a string contains bytes, so the description does.
  const description = [ifString(schema["description"])?.slice(0, MAX_DESCRIPTION_CHARACTERS), isBytes && BYTES];
  return defined({
    title: ifString(title)?.slice(0, MAX_DESCRIPTION_CHARACTERS),
    description: description.filter(Boolean).join(" ") || undefined,
    format: ifString(format),
    deprecated: deprecated === true ? deprecated : undefined,
    default: ifSmall(schema["default"], MAX_DEFAULT_BYTES),
    type: toType(schema["type"]),
    contentEncoding: isBytes ? "base64" : undefined,
    enum: ifSmall(toList(values).length > 0 ? values : undefined, MAX_ENUM_BYTES),
    const: ifSmall(schema["const"], MAX_ENUM_BYTES),
    ...Object.fromEntries(NUMBERS.filter((key) => typeof schema[key] === "number").map((key) => [key, schema[key]])),
    pattern: ifString(pattern),
    uniqueItems: uniqueItems === true ? uniqueItems : undefined,
    exclusiveMinimum: toExclusive(schema["exclusiveMinimum"], schema["minimum"]),
    exclusiveMaximum: toExclusive(schema["exclusiveMaximum"], schema["maximum"]),
  });
}

const BYTES = "Bytes as base64 text.";

function ifString(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function ifSmall(value: Json | undefined, maxBytes: number): Json | undefined {
  return value !== undefined && JSON.stringify(value).length <= maxBytes ? value : undefined;
}

/** `file` is Swagger's type for bytes, which are sent as base64. An unknown type is dropped. */
function toType(type: Json | undefined): Json | undefined {
  if (type === "file") return "string";
  if (!Array.isArray(type)) return TYPES.find((known) => known === type);
  const known = type.filter((one) => TYPES.includes(one));
  return known.length > 0 ? known : undefined;
}

/** A boolean beside the limit up to 3.0, the limit itself since 3.1. */
function toExclusive(mark: Json | undefined, limit: Json | undefined): number | undefined {
  const exclusive = mark === true ? limit : mark;
  return typeof exclusive === "number" ? exclusive : undefined;
}

/** `nullable` of 3.0 and `x-nullable` of 2.0 also apply beside a reference, which is how most authors mean them. */
export function toNullable(schema: JsonObject, converted: JsonObject): JsonObject {
  if (schema["nullable"] !== true && schema["x-nullable"] !== true) return converted;
  const { type, $ref, allOf, anyOf, enum: values } = converted;
  if (($ref ?? allOf ?? anyOf) !== undefined) return { anyOf: [converted, { type: "null" }] };
  if (typeof type !== "string") return converted;
  const extended = Array.isArray(values) && !values.includes(null) ? [...values, null] : values;
  return { ...converted, type: [type, "null"], ...defined({ enum: extended }) };
}

/** True for a schema of bytes, which programs write and read as base64. */
export function isBinary({ type, format, contentEncoding, contentMediaType }: JsonObject): boolean {
  if (type === "file" || format === "binary") return true;
  return contentMediaType === "application/octet-stream" && contentEncoding === undefined;
}
