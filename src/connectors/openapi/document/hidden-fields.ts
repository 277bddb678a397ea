/** Which fields of an object one side never writes: `readOnly` for what is sent, `writeOnly` for what is received. */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import type { References } from "./references.ts";

/** Bases of bases; what a deeper one hides stays required. */
const MAX_DEPTH = 12;

const NONE: ReadonlySet<string> = new Set();

/** What is left out: a program never sends what is `readOnly`, and never receives what is `writeOnly`. */
export type Direction = "input" | "output";

export interface HiddenFields {
  /** The mark may stand on the property itself or on what it refers to. */
  readonly isHidden: (property: Json) => boolean;
  /** The names that a schema hides, itself or through the schemas that the same object must fit. */
  readonly namesIn: (schema: JsonObject) => ReadonlySet<string>;
}

/** Remembers what it found: a base is named by many schemas. */
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
