/** Fields of an object that one side never writes: `readOnly` ones are not sent, `writeOnly` ones are not received. */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import type { References } from "./references.ts";

/** Fields hidden by more deeply nested bases stay required. */
const MAX_DEPTH = 12;

const NONE: ReadonlySet<string> = new Set();

/** A program never sends `readOnly` fields and never receives `writeOnly` ones. */
export type Direction = "input" | "output";

export interface HiddenFields {
  /** The mark may be on the property itself or on the schema that it refers to. */
  readonly isHidden: (property: Json) => boolean;
  /** The names that a schema hides, itself or through the other schemas of the same object. */
  readonly namesIn: (schema: JsonObject) => ReadonlySet<string>;
}

/** Caches the results: many schemas share a base. */
export function createHiddenFields(references: References, direction: Direction): HiddenFields {
  const mark = direction === "input" ? "readOnly" : "writeOnly";
  const known = new Map<JsonObject, ReadonlySet<string>>();

  function isHidden(property: Json): boolean {
    if (!isJsonObject(property)) return false;
    return property[mark] === true || references.resolve(property)?.[mark] === true;
  }

  function collect(schema: Json | undefined, depth: number): ReadonlySet<string> {
    if (!isJsonObject(schema) || depth > MAX_DEPTH) return NONE;
    const { properties, $ref, allOf, anyOf, oneOf } = schema;
    const before = known.get(schema);
    if (before || (properties ?? $ref ?? allOf ?? anyOf ?? oneOf) === undefined) return before ?? NONE;
    const names = new Set<string>();
    known.set(schema, names);
    for (const [name, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
      if (isHidden(property)) names.add(name);
    }
    const target = typeof $ref === "string" ? [references.find($ref)] : [];
    for (const one of [...target, ...[allOf, anyOf, oneOf].filter((list) => Array.isArray(list)).flat()]) {
      for (const name of collect(one, depth + 1)) names.add(name);
    }
    return names;
  }

  return { isHidden, namesIn: (schema) => collect(schema, 0) };
}
