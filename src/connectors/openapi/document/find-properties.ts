/** Finds properties of an object by what they are, also through referenced and combined schemas of the same object. */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import { toList, toObject } from "./references.ts";
import type { References } from "./references.ts";
import { isBinary } from "./schema-keywords.ts";

/** Properties of more deeply nested schemas are not found. */
const MAX_DEPTH = 12;

const NONE: ReadonlySet<string> = new Set();

/** Returns the names of a schema's properties that match. Caches them: many schemas share a base. */
export function createPropertyFinder(
  references: References,
  matches: (property: Json) => boolean,
): (schema: Json) => ReadonlySet<string> {
  const known = new Map<JsonObject, ReadonlySet<string>>();

  function collect(schema: Json | undefined, depth: number): ReadonlySet<string> {
    if (!isJsonObject(schema) || depth > MAX_DEPTH) return NONE;
    const { properties, $ref, allOf, anyOf, oneOf } = schema;
    const before = known.get(schema);
    if (before || (properties ?? $ref ?? allOf ?? anyOf ?? oneOf) === undefined) return before ?? NONE;
    const names = new Set<string>();
    known.set(schema, names);
    for (const [name, property] of Object.entries(toObject(properties))) if (matches(property)) names.add(name);
    const target = typeof $ref === "string" ? [references.find($ref)] : [];
    for (const part of [...target, ...[allOf, anyOf, oneOf].flatMap(toList)]) {
      for (const name of collect(part, depth + 1)) names.add(name);
    }
    return names;
  }

  return (schema) => collect(schema, 0);
}

/** Finds the files of a multipart body: properties whose values are always bytes, an array of bytes, or null. */
export function findBinaries(schema: Json, references: References): ReadonlySet<string> {
  // Each schema is visited once; one that contains itself counts as unknown.
  const known = new Map<JsonObject, boolean>();

  function areBytes(part: Json | undefined, depth: number): boolean {
    const found = references.resolve(part);
    if (!found || depth > MAX_DEPTH) return false;
    const before = known.get(found);
    if (before !== undefined) return before;
    known.set(found, false);
    const { items, allOf, anyOf, oneOf } = found;
    const are = (one: Json | undefined): boolean => areBytes(one, depth + 1);
    const result = isBinary(found) || are(items) || toList(allOf).some(are) || [anyOf, oneOf].some(areAlways);
    known.set(found, result);
    return result;

    /** A string that may be something else than bytes is sent as it is. */
    function areAlways(choices: Json | undefined): boolean {
      const values = toList(choices).filter((one) => references.resolve(one)?.["type"] !== "null");
      return values.length > 0 && values.every(are);
    }
  }

  return createPropertyFinder(references, (property) => areBytes(property, 0))(schema);
}
