/** Values that a schema allows, one candidate after the other, the most telling first. */

import type { Json, JsonObject } from "../../domain/index.ts";

import { expandSchema } from "./expand-schema.ts";
import type { Expansion } from "./expand-schema.ts";
import { listOf } from "./read-schema.ts";
import { sampleLists } from "./sample-list.ts";
import { sampleNumbers } from "./sample-number.ts";
import { sampleObjects } from "./sample-object.ts";
import { sampleTexts } from "./sample-text.ts";

/** Where in the whole value something is made. */
export interface Place {
  readonly depth: number;
  /** Which of several like it; they may have to differ. */
  readonly salt: number;
}

/** What the making of one sample shares. */
export interface Maker extends Omit<Expansion, "isLean"> {
  /** Down to which depth optional properties are filled in and lists have an item. */
  readonly richDepth: number;
  /** A check for what is made of these parts. It says yes where it cannot tell. */
  checkFor(parts: readonly Json[]): (value: Json) => boolean;
  /** The first value that fits all of the parts; `undefined` when there is none. */
  pick(parts: readonly Json[], place: Place): Json | undefined;
}

/** Deeper than this nothing is made: a schema may ask for itself without end. */
const MOST_DEPTH = 32;
/** Of one schema; whatever needs more is not found. */
const MOST_CANDIDATES = 50;
const MOST_EXAMPLES = 3;

export function pickValue(maker: Maker, parts: readonly Json[], place: Place): Json | undefined {
  if (place.depth > MOST_DEPTH) return undefined;
  const isFitting = maker.checkFor(parts);
  let left = MOST_CANDIDATES;
  for (const value of candidatesOf(maker, parts, place)) {
    if (isFitting(value)) return value;
    left -= 1;
    if (left === 0) return undefined;
  }
  return undefined;
}

function* candidatesOf(maker: Maker, parts: readonly Json[], place: Place): Iterable<Json> {
  const isLean = place.depth >= maker.richDepth;
  for (const plain of expandSchema(parts, { ...maker, isLean })) yield* valuesOf(maker, plain, place);
}

function* valuesOf(maker: Maker, plain: JsonObject, place: Place): Iterable<Json> {
  const { default: usual } = plain;
  const types = typesOf(plain);
  if (Array.isArray(plain["enum"])) {
    const listed = listOf(plain, "enum").filter((value) => types.some((type) => isOfType(value, type)));
    yield* rotate(listed, place.salt);
    return;
  }
  if (usual !== undefined && place.salt === 0) yield usual;
  if (place.salt === 0) yield* listOf(plain, "examples").slice(0, MOST_EXAMPLES);
  for (const type of types) yield* ofType(maker, { plain, type }, place);
}

function isOfType(value: Json, type: Json): boolean {
  if (value === null) return type === "null";
  if (Array.isArray(value)) return type === "array";
  return typeof value === type || (type === "integer" && Number.isInteger(value));
}

function rotate(values: readonly Json[], by: number): readonly Json[] {
  const start = values.length === 0 ? 0 : by % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
}

function ofType(
  maker: Maker,
  { plain, type }: { readonly plain: JsonObject; readonly type: Json },
  place: Place,
): Iterable<Json> {
  switch (type) {
    case "object":
      return sampleObjects(maker, plain, place);
    case "array":
      return sampleLists(maker, plain, place);
    case "string":
      return sampleTexts(plain, place.salt);
    case "integer":
    case "number":
      return sampleNumbers(plain, type === "integer", place.salt);
    case "boolean":
      return rotate([true, false], place.salt);
    case "null":
      return [null];
    default:
      return [];
  }
}

/** A schema without a type is usually meant for the one that its keywords speak of. */
const HINTS: readonly (readonly [string, RegExp])[] = [
  ["object", /^(?:properties|required|additionalProperties|patternProperties|minProperties|maxProperties)$/],
  ["array", /^(?:items|prefixItems|minItems|maxItems|contains|uniqueItems)$/],
  ["string", /^(?:minLength|maxLength|pattern|format)$/],
  ["number", /^(?:minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)$/],
];
const ALL = ["object", "string", "array", "number", "boolean", "null"];

/** `null` last: a program that uses the value should find something. */
function typesOf(plain: JsonObject): readonly Json[] {
  const { type } = plain;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.toSorted((a: Json, b: Json) => Number(a === "null") - Number(b === "null"));
  const hinted = HINTS.filter(([, keywords]) => Object.keys(plain).some((key) => keywords.test(key)));
  return [...new Set([...hinted.map(([name]) => name), ...ALL])];
}
