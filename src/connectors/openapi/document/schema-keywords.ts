/** Schema keywords with plain values, and where OpenAPI 2.0 and 3.0 differ from JSON Schema. */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

const MAX_DESCRIPTION_CHARACTERS = 400;
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

/** Annotations for readers, without examples, links and vendor extensions. */
export function copyAnnotations(schema: JsonObject): JsonObject {
  const { title, description, format, deprecated } = schema;
  return {
    ...(typeof title === "string" && { title: title.slice(0, MAX_DESCRIPTION_CHARACTERS) }),
    ...toDescription(description, isBinary(schema)),
    ...(typeof format === "string" && { format }),
    ...(deprecated === true && { deprecated }),
    ...(isSmall(schema["default"], MAX_DEFAULT_BYTES) && { default: schema["default"] ?? null }),
  };
}

/** The type alone does not show that a string contains bytes, so the description does. */
function toDescription(description: Json | undefined, isBytes: boolean): JsonObject {
  const said = typeof description === "string" ? description.slice(0, MAX_DESCRIPTION_CHARACTERS) : "";
  const text = [said, ...(isBytes ? ["Bytes as base64 text."] : [])].filter((one) => one !== "").join(" ");
  return text === "" ? {} : { description: text };
}

/** The constraints on a value, as keywords of 2020-12. */
export function copyLimits(schema: JsonObject): JsonObject {
  const { pattern, uniqueItems } = schema;
  const values = schema["enum"];
  const numbers = NUMBERS.filter((key) => typeof schema[key] === "number").map((key) => [key, schema[key]]);
  return {
    ...toType(schema["type"]),
    ...(isBinary(schema) && { contentEncoding: "base64" }),
    ...(Array.isArray(values) && values.length > 0 && isSmall(values, MAX_ENUM_BYTES) && { enum: values }),
    ...(isSmall(schema["const"], MAX_ENUM_BYTES) && { const: schema["const"] ?? null }),
    ...Object.fromEntries(numbers),
    ...(typeof pattern === "string" && { pattern }),
    ...(uniqueItems === true && { uniqueItems }),
    ...toExclusive(schema, "minimum", "exclusiveMinimum"),
    ...toExclusive(schema, "maximum", "exclusiveMaximum"),
  };
}

function isSmall(value: Json | undefined, maxBytes: number): boolean {
  return value !== undefined && JSON.stringify(value).length <= maxBytes;
}

/** `file` is Swagger's type for bytes, which are sent as base64. An unknown type is dropped. */
function toType(type: Json | undefined): JsonObject {
  if (type === "file") return { type: "string" };
  if (Array.isArray(type)) {
    const known = type.filter((one) => TYPES.includes(one));
    return known.length > 0 ? { type: known } : {};
  }
  return type !== undefined && TYPES.includes(type) ? { type } : {};
}

/** A boolean beside `minimum` up to 3.0, a number since 3.1. */
function toExclusive(schema: JsonObject, plain: "minimum" | "maximum", exclusive: string): JsonObject {
  const mark = schema[exclusive];
  if (typeof mark === "number") return { [exclusive]: mark };
  const limit = schema[plain];
  return mark === true && typeof limit === "number" ? { [exclusive]: limit } : {};
}

/** `nullable` of 3.0 and `x-nullable` of 2.0 also apply beside a reference, which is how most authors mean them. */
export function toNullable(schema: JsonObject, converted: JsonObject): JsonObject {
  if (schema["nullable"] !== true && schema["x-nullable"] !== true) return converted;
  const { type, $ref, allOf, anyOf } = converted;
  const values = converted["enum"];
  if ($ref !== undefined || allOf !== undefined || anyOf !== undefined) {
    return { anyOf: [converted, { type: "null" }] };
  }
  if (typeof type !== "string") return converted;
  return {
    ...converted,
    type: [type, "null"],
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
  };
}

/** True for a schema of bytes, which programs write and read as base64. */
export function isBinary(schema: JsonObject | undefined): boolean {
  if (!isJsonObject(schema)) return false;
  const { type, format, contentEncoding, contentMediaType } = schema;
  if (type === "file" || format === "binary") return true;
  return contentMediaType === "application/octet-stream" && contentEncoding === undefined;
}
