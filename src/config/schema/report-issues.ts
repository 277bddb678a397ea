/** Turns schema issues into messages: what was expected, what was found, which key was probably meant. */

import type { z } from "zod";

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { countEdits } from "../../text/index.ts";
import { describeFound, quote } from "../problems.ts";
import type { KeyPath, Problems } from "../problems.ts";
import { createConfigSchema } from "./schema.ts";

/** Reports every issue at its key. `written` is the configuration before expansion; only its values are shown. */
export function reportIssues(
  issues: readonly z.core.$ZodIssue[],
  written: Json,
  problems: Problems,
  schema: JsonObject = createConfigSchema(),
): void {
  for (const issue of issues.flatMap((one) => toPlainIssues(one, written))) {
    const path = issue.path.map(toSegment);
    const node = schemaAt(schema, path);
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) problems.refuseKey([...path, key], describeUnknownKey(key, node));
      continue;
    }
    const found = isGrant(path) ? "something else" : describeFound(written, path);
    // Messages that start with "expected " come from our refinements; those of zod never do.
    const expected = issue.message.startsWith("expected ") ? issue.message : `expected ${describeExpected(node)}`;
    problems.refuse(path, `${expected}; found ${found}`);
  }
}

/** The value of a grant is not shown, because it may be the secret itself by mistake. */
function isGrant(path: KeyPath): boolean {
  return path.length === 3 && path[0] === "sandbox" && path[1] === "secrets";
}

/** For a value that can be a string or an object, returns the issues of the form that was used. */
function toPlainIssues(issue: z.core.$ZodIssue, written: Json): readonly z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union" || issue.message.startsWith("expected ")) return [issue];
  const [asText = [], asObject = []] = issue.errors;
  const isObject = describeFound(written, issue.path.map(toSegment)) === "an object";
  return (isObject ? asObject : asText).map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

function toSegment(segment: PropertyKey): string | number {
  return typeof segment === "number" ? segment : String(segment);
}

function describeUnknownKey(key: string, node: JsonObject): string {
  const known = Object.keys(toObject(toObjectForm(node)["properties"]));
  const nearest = findNearest(key, known);
  const remedy = nearest === undefined ? `known keys here: ${known.join(", ")}` : `did you mean ${quote(nearest)}?`;
  return `unknown key; ${remedy}`;
}

/** Returns the part of a JSON Schema for `path`, or an empty schema. */
function schemaAt(schema: JsonObject, path: KeyPath): JsonObject {
  return path.reduce<JsonObject>((node, segment) => {
    if (typeof segment === "number") return toObject(node["items"]);
    const { properties, additionalProperties } = toObjectForm(node);
    const known = toObject(properties);
    return toObject(Object.hasOwn(known, segment) ? known[segment] : additionalProperties);
  }, schema);
}

function toObjectForm(node: JsonObject): JsonObject {
  const { anyOf } = node;
  return Array.isArray(anyOf) ? toObject(anyOf.find((form) => toObject(form)["properties"] !== undefined)) : node;
}

function describeExpected(node: JsonObject): string {
  if (Array.isArray(node["anyOf"])) return node["anyOf"].map((form) => describeExpected(toObject(form))).join(" or ");
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems } = node;
  const range = `from ${JSON.stringify(minimum)} to ${JSON.stringify(maximum)}`;
  if (Array.isArray(node["enum"])) return `one of ${node["enum"].map((value) => JSON.stringify(value)).join(", ")}`;
  if (node["const"] !== undefined) return JSON.stringify(node["const"]);
  if (type === "integer") return `an integer ${range}`;
  if (type === "number") return minimum === undefined || maximum === undefined ? "a number" : `a number ${range}`;
  if (type === "boolean") return "true or false";
  if (type === "string") return `a string${describeRange(minLength, maxLength, " characters")}`;
  if (type === "array") return `an array${describeRange(minItems, maxItems, " entries")}`;
  return "an object";
}

/** Returns for example " of 1 to 64 characters". */
function describeRange(least: Json | undefined, most: Json | undefined, unit: string): string {
  if (least !== undefined && most !== undefined)
    return ` of ${JSON.stringify(least)} to ${JSON.stringify(most)}${unit}`;
  if (least !== undefined) return ` of ${JSON.stringify(least)} or more${unit}`;
  return most === undefined ? "" : ` of ${JSON.stringify(most)} or fewer${unit}`;
}

/** The object itself; an empty one for anything else. */
export function toObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the known word with the fewest edits, ignoring case; `undefined` if more than half of it differs. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  const longest = Math.max(0, ...known.map((candidate) => candidate.length));
  // Bounds the cost: a word of twice the length is not a typing error.
  if (word.length > 2 * longest) return undefined;
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: countEdits(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.max(word.length, candidate.length) / 2)
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.candidate;
}
