/**
 * Turns the schemas that one operation reaches into one JSON Schema 2020-12. References become references to `$defs`.
 * Only what is reached is included, nearest first, until the budget is spent; the rest becomes `{}`. Omissions only
 * widen a schema: nothing is refused here that the document allows.
 */

import { defined, isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import { createPropertyFinder } from "./find-properties.ts";
import { decodeSegment, toList, toObject } from "./references.ts";
import type { References } from "./references.ts";
import { copyKeywords, toNullable } from "./schema-keywords.ts";

/**
 * Deeper nesting in one definition becomes `{}`. The catalog accepts a hundred levels, and a schema has two or three
 * each.
 */
const MAX_DEPTH = 24;

type NameSet = ReadonlySet<string>;
const NONE: NameSet = new Set();

/** The approximate cost of the name of a property or definition with its punctuation. */
const NAME_BYTES = 16;
/** Keywords with one schema, in the order in which they spend the budget. */
const SINGLES = ["additionalProperties", "contains", "propertyNames", "items"] as const;

export interface ConvertOptions {
  readonly references: References;
  /** A program never sends `readOnly` fields (input) and never receives `writeOnly` ones (output). */
  readonly direction: "input" | "output";
  /** The approximate length of the JSON text; exceeded by at most one schema without its children. */
  readonly maxBytes: number;
}

/** Collects the definitions that the schemas of one tool share. */
export interface SchemaConverter {
  convert(schema: Json | undefined): Json;
  /** Converts everything that the schemas so far refer to. Called once, last. */
  finish(): JsonObject;
  /** The number of references that lead to another document or nowhere. */
  readonly unresolved: () => number;
}

/** One converter per input or output of a tool. */
export function createConverter({ references, direction, maxBytes }: ConvertOptions): SchemaConverter {
  const mark = direction === "input" ? "readOnly" : "writeOnly";
  /** The mark may be on the property itself or on the schema that it refers to. */
  const isHidden = (property: Json): boolean =>
    toObject(property)[mark] === true || references.resolve(property)?.[mark] === true;
  const findHidden = createPropertyFinder(references, isHidden);
  /** The name of each definition by its pointer, in the order in which they were met. */
  const names = new Map<string, string>();
  const taken = new Set<string>();
  let bytes = 0;
  let unresolved = 0;

  /** `outer` are the fields that a surrounding schema of the same object hides. */
  function convertAt(schema: Json | undefined, depth: number, outer: NameSet = NONE): Json {
    if (typeof schema === "boolean") return schema;
    if (!isJsonObject(schema) || depth > MAX_DEPTH || bytes > maxBytes) return {};
    const own = { ...copyKeywords(schema), ...convertReference(schema) };
    bytes += JSON.stringify(own).length + NAME_BYTES;
    const hidden = findHidden(schema);
    const unneeded = hidden.size === 0 ? outer : outer.union(hidden);
    const convert = (child: Json): Json => convertAt(child, depth + 1);
    const convertPart = (child: Json): Json => convertAt(child, depth + 1, unneeded);
    const children = convertChildren(schema, { convert, convertPart, isHidden, unneeded });
    return toNullable(schema, { ...own, ...children });
  }

  function convertReference(schema: JsonObject): JsonObject {
    const { $ref } = schema;
    if (typeof $ref !== "string") return {};
    if (references.resolve(schema) === undefined) {
      unresolved += typeof references.find($ref) === "boolean" ? 0 : 1;
      return {};
    }
    const name = names.get($ref) ?? chooseName($ref, taken);
    names.set($ref, name);
    taken.add(name);
    return { $ref: `#/$defs/${name}` };
  }

  function finish(): JsonObject {
    // Converting a definition may add further ones, which this loop reaches too.
    const defs = Array.from(names, ([pointer, name]): [string, Json] => [name, convertAt(references.find(pointer), 0)]);
    return defs.length === 0 ? {} : { $defs: Object.fromEntries(defs) };
  }

  return { convert: (schema) => convertAt(schema, 0), finish, unresolved: () => unresolved };
}

interface ChildRules {
  readonly convert: (child: Json) => Json;
  /** For the parts of a combined schema, which describe the same object. */
  readonly convertPart: (child: Json) => Json;
  readonly isHidden: (property: Json) => boolean;
  /** The fields that this or another schema of the same object hides; they cannot be required. */
  readonly unneeded: NameSet;
}

function convertChildren(schema: JsonObject, { convert, convertPart, isHidden, unneeded }: ChildRules): JsonObject {
  const { allOf, anyOf, oneOf, items, prefixItems, properties, required } = schema;
  // `oneOf` becomes `anyOf`: shortened or careless alternatives may both match a value.
  const choices = [anyOf, oneOf].filter((list) => Array.isArray(list));
  const [either = [], or] = choices.map((list) => toList(list).map(convertPart));
  const all = [...toList(allOf).map(convertPart), ...(or ? [{ anyOf: or }] : [])];
  // An array in `items` is called `prefixItems` now.
  const tuple = toList(Array.isArray(items) ? items : prefixItems).map(convert);
  const singles = SINGLES.flatMap((key): [string, Json][] => {
    const child = schema[key];
    return child === undefined || (key === "items" && Array.isArray(child)) ? [] : [[key, convert(child)]];
  });
  const shown = Object.entries(toObject(properties))
    .filter(([name, property]) => !isHidden(property) && name !== "__proto__")
    .map(([name, property]): [string, Json] => [name, convert(property)]);
  const needed = toList(required).filter((name) => typeof name === "string" && !unneeded.has(name));
  return defined({
    allOf: ifAny(all),
    anyOf: ifAny(either),
    prefixItems: ifAny(tuple),
    ...Object.fromEntries(singles),
    properties: shown.length > 0 ? Object.fromEntries(shown) : undefined,
    required: ifAny([...new Set(needed)]),
  });
}

function ifAny(list: readonly Json[]): readonly Json[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** The last part of the pointer, in characters that a pointer need not escape; a number makes it unique. */
function chooseName(pointer: string, taken: ReadonlySet<string>): string {
  const last = decodeSegment(pointer.slice(pointer.lastIndexOf("/") + 1));
  const plain = last.replace(/[^\w.-]/g, "_").slice(0, 100) || "schema";
  const base = plain === "__proto__" ? "schema" : plain;
  let name = base;
  for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
  return name;
}
