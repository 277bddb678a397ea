/** Finds the fields of a multipart body that are files, also through referenced and combined schemas. */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import type { References } from "./references.ts";
import { isBinary } from "./schema-keywords.ts";

/** Deeper nested schemas do not count as files. */
const MAX_DEPTH = 12;

/** The names of all properties whose values are always bytes, an array of bytes, or null. */
export function findBinaries(schema: Json, references: References): ReadonlySet<string> {
  // Each schema is visited once; one that contains itself counts as unknown.
  const known = new Map<JsonObject, boolean>();
  const names = new Set<string>();
  const visited = new Set<JsonObject>();

  function areBytes(part: Json | undefined, depth: number): boolean {
    const found = references.resolve(part);
    if (!found || depth > MAX_DEPTH) return false;
    const before = known.get(found);
    if (before !== undefined) return before;
    known.set(found, false);
    const result = isBinary(found) || areBytes(found["items"], depth + 1) || saysSo(found, depth + 1);
    known.set(found, result);
    return result;
  }

  /** A string that may be something else than bytes is sent as it is. */
  function saysSo({ allOf, anyOf, oneOf }: JsonObject, depth: number): boolean {
    if (listOf(allOf).some((one) => areBytes(one, depth))) return true;
    return [anyOf, oneOf].some((choices) => {
      const values = listOf(choices).filter((one) => references.resolve(one)?.["type"] !== "null");
      return values.length > 0 && values.every((one) => areBytes(one, depth));
    });
  }

  function collect(part: Json | undefined, depth: number): void {
    const found = references.resolve(part);
    if (!found || depth > MAX_DEPTH || visited.has(found)) return;
    visited.add(found);
    const { properties, allOf, anyOf, oneOf } = found;
    for (const [name, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
      if (areBytes(property, 0)) names.add(name);
    }
    for (const one of [allOf, anyOf, oneOf].flatMap(listOf)) collect(one, depth + 1);
  }

  collect(schema, 0);
  return names;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
