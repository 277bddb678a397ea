/** Comments for facts about a property that a type cannot express: description, format, ranges, default. */

import { depthOf, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { toCommentText } from "../escape-text.ts";
import { refOf, resolveRef } from "./resolve-ref.ts";
import type { TypeScope } from "./scope.ts";

const MAX_VALUE_LENGTH = 80;
const MAX_VALUE_DEPTH = 4;
const MAX_PATTERN_LENGTH = 60;
const MAX_EXAMPLES = 3;

/** Returns one line for a comment, or "" without facts. */
export function toPropertyComment(schema: Json, scope: TypeScope, needs: readonly string[] = []): string {
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

function toWords(schema: JsonObject, { root, options }: TypeScope): string {
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
    toBound(schema["minimum"], schema["exclusiveMinimum"], [">", "≥"]),
    toBound(schema["maximum"], schema["exclusiveMaximum"], ["<", "≤"]),
    typeof multipleOf === "number" ? `multiple of ${multipleOf}` : "",
    toRange("length", schema["minLength"], schema["maxLength"]),
    toRange("items", schema["minItems"], schema["maxItems"]),
    toRange("properties", schema["minProperties"], schema["maxProperties"]),
    schema["uniqueItems"] === true ? "unique items" : "",
    typeof pattern === "string" ? `matches ${toCommentText(pattern, MAX_PATTERN_LENGTH)}` : "",
  ].filter((fact) => fact !== "");
}

/** In draft-04 an exclusive bound is `true` next to the bound. */
function toBound(at: Json | undefined, exclusive: Json | undefined, signs: readonly [string, string]): string {
  if (typeof exclusive === "number") return `${signs[0]} ${exclusive}`;
  // Schema generators write the bounds of safe integers, which are not useful to a reader.
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
