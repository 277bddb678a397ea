/**
 * Turns the schemas that one operation reaches into one JSON Schema 2020-12. References become references to `$defs`.
 * Only what is reached is included, nearest first, until the budget is spent; the rest becomes `{}`. Omissions only
 * widen a schema: nothing is refused here that the document allows.
 */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import { createHiddenFields } from "./hidden-fields.ts";
import type { Direction, HiddenFields } from "./hidden-fields.ts";
import { copyAnnotations, copyLimits, toNullable } from "./schema-keywords.ts";
import { decodeSegment } from "./references.ts";
import type { References } from "./references.ts";

/**
 * Deeper nesting in one definition becomes `{}`. The catalog accepts a hundred levels, and a schema has two or three
 * each.
 */
const MAX_DEPTH = 24;

type NameSet = ReadonlySet<string>;
const NONE: NameSet = new Set();

/** The approximate cost of the name of a property or definition with its punctuation. */
const NAME_BYTES = 16;

export interface ConvertOptions {
  readonly references: References;
  readonly direction: Direction;
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
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const waiting: string[] = [];
  const hidden = createHiddenFields(references, direction);
  let bytes = 0;
  let unresolved = 0;

  /** `unneeded` are the fields that a surrounding schema of the same object hides. */
  function convertAt(schema: Json | undefined, depth: number, unneeded: NameSet = NONE): Json {
    if (typeof schema === "boolean") return schema;
    if (!isJsonObject(schema) || depth > MAX_DEPTH || bytes > maxBytes) return {};
    const own = { ...copyAnnotations(schema), ...copyLimits(schema), ...convertReference(schema) };
    bytes += JSON.stringify(own).length + NAME_BYTES;
    return toNullable(schema, { ...own, ...convertChildren(schema, depth + 1, unneeded) });
  }

  function convertReference(schema: JsonObject): JsonObject {
    const { $ref } = schema;
    if (typeof $ref !== "string") return {};
    if (references.resolve(schema) === undefined) {
      unresolved += typeof references.find($ref) === "boolean" ? 0 : 1;
      return {};
    }
    return { $ref: `#/$defs/${nameFor($ref)}` };
  }

  function nameFor(pointer: string): string {
    const known = names.get(pointer);
    if (known !== undefined) return known;
    const name = chooseName(pointer, taken);
    names.set(pointer, name);
    taken.add(name);
    waiting.push(pointer);
    return name;
  }

  function convertChildren(schema: JsonObject, depth: number, outer: NameSet): JsonObject {
    const convert = (child: Json): Json => convertAt(child, depth);
    const own = hidden.namesIn(schema);
    const unneeded = own.size === 0 ? outer : outer.union(own);
    return {
      ...convertChoices(schema, (child) => convertAt(child, depth, unneeded)),
      ...convertItems(schema, convert),
      ...convertSingles(schema, convert),
      ...convertProperties(schema, { convert, isHidden: hidden.isHidden, unneeded }),
    };
  }

  function finish(): JsonObject {
    const defs: [string, Json][] = [];
    for (let pointer = waiting.shift(); pointer !== undefined; pointer = waiting.shift()) {
      defs.push([names.get(pointer) ?? "", convertAt(references.find(pointer), 0)]);
    }
    return defs.length === 0 ? {} : { $defs: Object.fromEntries(defs) };
  }

  return { convert: (schema) => convertAt(schema, 0), finish, unresolved: () => unresolved };
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

type Convert = (child: Json) => Json;

/** `oneOf` becomes `anyOf`: shortened or careless alternatives may both match a value. */
function convertChoices({ allOf, anyOf, oneOf }: JsonObject, convert: Convert): JsonObject {
  const either = [anyOf, oneOf].filter((list) => Array.isArray(list)).map((list: readonly Json[]) => list.map(convert));
  const [first, second] = either;
  const all = [...(Array.isArray(allOf) ? allOf.map(convert) : []), ...(first && second ? [{ anyOf: second }] : [])];
  return {
    ...(all.length > 0 && { allOf: all }),
    ...(first && first.length > 0 && { anyOf: first }),
  };
}

/** An array in `items` is called `prefixItems` now. */
function convertItems({ prefixItems = null, items }: JsonObject, convert: Convert): JsonObject {
  const tuple = Array.isArray(items) ? items : prefixItems;
  return Array.isArray(tuple) && tuple.length > 0 ? { prefixItems: tuple.map(convert) } : {};
}

const SINGLES = ["additionalProperties", "contains", "propertyNames"] as const;

function convertSingles(schema: JsonObject, convert: Convert): JsonObject {
  const entries = SINGLES.flatMap((key): [string, Json][] => {
    const child = schema[key];
    return child === undefined ? [] : [[key, convert(child)]];
  });
  const { items } = schema;
  return {
    ...Object.fromEntries(entries),
    ...(items !== undefined && !Array.isArray(items) && { items: convert(items) }),
  };
}

interface PropertyRules {
  readonly convert: Convert;
  readonly isHidden: HiddenFields["isHidden"];
  readonly unneeded: NameSet;
}

/** A hidden field, here or in another schema of the same object, cannot be required. */
function convertProperties(schema: JsonObject, { convert, isHidden, unneeded }: PropertyRules): JsonObject {
  const { properties, required } = schema;
  const entries = Object.entries(isJsonObject(properties) ? properties : {});
  const shown = entries.filter(([name, property]) => !isHidden(property) && name !== "__proto__");
  const names = (Array.isArray(required) ? required : []).filter(
    (name) => typeof name === "string" && !unneeded.has(name),
  );
  return {
    ...(shown.length > 0 && { properties: Object.fromEntries(shown.map(([name, one]) => [name, convert(one)])) }),
    ...(names.length > 0 && { required: [...new Set(names)] }),
  };
}
