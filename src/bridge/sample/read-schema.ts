/** Reads keywords of a schema that nobody has checked: what is not of the kind a keyword needs counts as absent. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

export function numberOf(schema: JsonObject, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === "number" ? value : undefined;
}

export function textOf(schema: JsonObject, keyword: string): string | undefined {
  const value = schema[keyword];
  return typeof value === "string" ? value : undefined;
}

/** An empty list when there is none. */
export function listOf(schema: JsonObject, keyword: string): readonly Json[] {
  const value = schema[keyword];
  return Array.isArray(value) ? value : [];
}

/** Names with a schema each, also those that an object would inherit. */
export function mapOf(schema: JsonObject, keyword: string): ReadonlyMap<string, Json> {
  const value = schema[keyword];
  return new Map(isJsonObject(value) ? Object.entries(value) : []);
}

export function namesOf(schema: JsonObject, keyword: string): readonly string[] {
  return listOf(schema, keyword).filter((name) => typeof name === "string");
}
