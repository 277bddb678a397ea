/** Finds the patterns and formats of an input schema that arguments are not checked by. The work is bounded. */

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../domain/index.ts";
import { FORMATS, translatePattern } from "../text/index.ts";

/** What is left for all schemas of a listing, in characters of patterns. */
export interface PatternBudget {
  left: number;
}

/** Per server: about a tenth of a second. Real servers have some thousands. */
export const MAX_PATTERN_CHARS = 200_000;
/** Parts of one schema that are looked at. */
const MAX_PARTS = 5_000;
const MAX_FOUND = 3;

/** Keywords that map names to schemas; a property may be named "pattern". */
const MAP_KEYWORDS = new Set("properties patternProperties $defs definitions dependentSchemas dependencies".split(" "));
/** Keywords that hold plain values, not schemas. */
const VALUE_KEYWORDS = new Set(["const", "enum", "default", "examples", "example"]);
/** Formats of OpenAPI that describe an encoding or a width, not a rule that a string could break. */
const PLAIN_FORMATS = new Set("int32 int64 uint32 uint64 float double decimal byte binary password".split(" "));

/** Returns at most three, as `pattern of sku: a lookahead`, and then how many others there are. */
export function findUnchecked(
  input: JsonSchema,
  showName: (name: string) => string,
  budget: PatternBudget,
): readonly string[] {
  const found = new Set<string>();
  const open: (readonly [name: string, schema: Json])[] = [["", input]];
  for (let left = MAX_PARTS, next = open.pop(); next !== undefined && left > 0; left -= 1, next = open.pop()) {
    const [name, schema] = next;
    const of = name === "" ? "" : ` of ${showName(name)}`;
    if (Array.isArray(schema)) for (const item of schema) open.push([name, item]);
    if (!isJsonObject(schema)) continue;
    for (const text of listUnchecked(schema, of, budget)) found.add(text);
    for (const part of listParts(schema, name)) open.push(part);
  }
  const shown = [...found].slice(0, MAX_FOUND);
  return found.size > MAX_FOUND ? [...shown, `${found.size - MAX_FOUND} more`] : shown;
}

function listUnchecked(schema: JsonObject, of: string, budget: PatternBudget): readonly string[] {
  const { pattern, patternProperties, format, type } = schema;
  const patterns = [
    ...(typeof pattern === "string" ? [pattern] : []),
    ...(isJsonObject(patternProperties) ? Object.keys(patternProperties) : []),
  ];
  const mayBeString = type === undefined || [type].flat().includes("string");
  // Generators write the rule of their own formats as a pattern.
  const isKnown =
    typeof format !== "string" || typeof pattern === "string" || FORMATS.has(format) || PLAIN_FORMATS.has(format);
  return [
    ...patterns.flatMap((source) => {
      const why = toReason(source, budget);
      return why === undefined ? [] : [`pattern${of}: ${why}`];
    }),
    ...(mayBeString && !isKnown ? [`format${of}: not known`] : []),
  ];
}

function toReason(pattern: string, budget: PatternBudget): string | undefined {
  if (budget.left < pattern.length) return "not examined";
  budget.left -= pattern.length;
  const translated = translatePattern(pattern);
  return translated.kind === "unsupported" ? translated.why : undefined;
}

/** The schemas directly inside, each with the name of the property or definition that it is about. */
function listParts(schema: JsonObject, name: string): readonly (readonly [string, Json])[] {
  return Object.entries(schema).flatMap(([keyword, setting]) => {
    if (VALUE_KEYWORDS.has(keyword)) return [];
    return MAP_KEYWORDS.has(keyword) && isJsonObject(setting) ? Object.entries(setting) : [[name, setting] as const];
  });
}
