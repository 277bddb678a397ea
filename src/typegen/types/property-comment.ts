/** What a schema says about a property that its type cannot: the server's words, formats, ranges, defaults. */

import { depthOf, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { toCommentText } from "../escape-text.ts";
import { refOf, resolveRef } from "./resolve-ref.ts";
import type { Scope } from "./scope.ts";

const MAX_VALUE_LENGTH = 80;
const MAX_VALUE_DEPTH = 4;
const MAX_PATTERN_LENGTH = 60;
const MAX_EXAMPLES = 3;

/** One line for the inside of a comment; empty when there is nothing to say. */
export function toPropertyComment(schema: Json, scope: Scope, needs: readonly string[] = []): string {
  if (!isJsonObject(schema) || scope.options.commentLength === 0) return "";
  const facts = toCommentText(
    [...toFacts(schema), ...(needs.length === 0 ? [] : [`needs ${needs.join(", ")}`])].join(", "),
    scope.options.commentLength,
  );
  const words = toWords(schema, scope);
  return [
    words,
    words === "" || facts === "" ? facts : `(${facts})`,
    schema["deprecated"] === true ? "@deprecated" : "",
    toValue("@default", schema["default"]),
    ...(scope.options.examples ? toExamples(schema) : []),
  ]
    .filter((part) => part !== "")
    .join(" ");
}

/** The property's own words, or those of what it refers to. */
function toWords(schema: JsonObject, { root, options }: Scope): string {
  const ref = refOf(schema);
  const target = ref === undefined ? undefined : resolveRef(root, ref);
  const candidates = [schema["description"], isJsonObject(target) ? target["description"] : undefined, schema["title"]];
  const text = candidates.find((candidate) => typeof candidate === "string" && candidate.trim() !== "");
  return typeof text === "string" ? toCommentText(text, options.commentLength) : "";
}

function toFacts(schema: JsonObject): readonly string[] {
  const { format, pattern, multipleOf } = schema;
  return [
    typeof format === "string" ? `format ${toCommentText(format, MAX_PATTERN_LENGTH)}` : "",
    ...toBounds(schema),
    typeof multipleOf === "number" ? `multiple of ${multipleOf}` : "",
    toRange("length", schema["minLength"], schema["maxLength"]),
    toRange("items", schema["minItems"], schema["maxItems"]),
    toRange("properties", schema["minProperties"], schema["maxProperties"]),
    schema["uniqueItems"] === true ? "unique items" : "",
    typeof pattern === "string" ? `matches ${toCommentText(pattern, MAX_PATTERN_LENGTH)}` : "",
  ].filter((fact) => fact !== "");
}

/** Draft-04 writes an exclusive bound as `true` beside the bound. */
function toBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonObject): readonly string[] {
  const lower = toBound({ at: minimum, exclusive: exclusiveMinimum, signs: [">", "≥"] });
  const upper = toBound({ at: maximum, exclusive: exclusiveMaximum, signs: ["<", "≤"] });
  return [lower, upper];
}

function toBound(bound: {
  readonly at: Json | undefined;
  readonly exclusive: Json | undefined;
  readonly signs: readonly [string, string];
}): string {
  const { at, exclusive, signs } = bound;
  if (typeof exclusive === "number") return `${signs[0]} ${exclusive}`;
  // What every integer of JavaScript keeps is written by generators of schemas, and tells a reader nothing.
  if (typeof at !== "number" || Math.abs(at) >= Number.MAX_SAFE_INTEGER) return "";
  return `${exclusive === true ? signs[0] : signs[1]} ${at}`;
}

function toRange(what: string, min: Json | undefined, max: Json | undefined): string {
  const hasMin = typeof min === "number" && min > 0;
  const hasMax = typeof max === "number";
  if (hasMin && hasMax) return min === max ? `${what} ${min}` : `${what} ${min} to ${max}`;
  if (hasMin) return `${what} ≥ ${min}`;
  return hasMax ? `${what} ≤ ${max}` : "";
}

function toExamples(schema: JsonObject): readonly string[] {
  const { examples, example } = schema;
  const values: readonly Json[] = Array.isArray(examples) ? examples : example === undefined ? [] : [example];
  return values.slice(0, MAX_EXAMPLES).map((value) => toValue("@example", value));
}

function toValue(tag: string, value: Json | undefined): string {
  if (value === undefined || depthOf(value, MAX_VALUE_DEPTH) > MAX_VALUE_DEPTH) return "";
  return `${tag} ${toCommentText(JSON.stringify(value), MAX_VALUE_LENGTH)}`;
}
