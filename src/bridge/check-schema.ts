/** Checks a value against a schema that an upstream wrote. The schema is not trusted either. */

import { Validator } from "@cfworker/json-schema";
import type { Schema } from "@cfworker/json-schema";

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonSchema } from "../domain/index.ts";

/**
 * Keywords whose check may take far longer than the value is long, in the gateway's own thread: a server writes the
 * expression of `pattern`, some expressions of `format` backtrack, `uniqueItems` compares every pair. The server that
 * wants them checks them itself.
 */
const COSTLY_KEYWORDS = new Set(["pattern", "format", "uniqueItems"]);
/** Say something about the properties that `patternProperties` would have matched, and cannot without it. */
const NEED_PATTERNS = new Set(["patternProperties", "additionalProperties", "unevaluatedProperties"]);
/** Keywords that hold names with a schema each; a property may be called "pattern". */
const MAP_KEYWORDS = new Set(["properties", "$defs", "definitions", "dependentSchemas", "dependencies"]);
/** Keywords that hold values, in which nothing is a keyword. */
const VALUE_KEYWORDS = new Set(["const", "enum", "default", "examples"]);
/** Under a second of work; a value that needs more than so many steps is not checked further. */
const MOST_STEPS = 1_000_000;
const MESSAGE_CHARS = 300;
const DEEPEST_SCHEMA = 64;

/** Tools are immutable and live as long as their snapshot, and so do their validators. */
const validators = new WeakMap<JsonSchema, Validator | null>();

/** What is wrong with the value, in one sentence; `undefined` when it fits, or when the schema cannot be used. */
export function checkSchema(schema: JsonSchema, value: Json): string | undefined {
  const validator = findValidator(schema);
  if (!validator) return undefined;
  steps = 0;
  try {
    const { valid, errors } = validator.validate(value);
    return valid ? undefined : describe(errors);
  } catch {
    return undefined; // an unresolvable $ref, or too many steps: nothing is known about the value
  }
}

function findValidator(schema: JsonSchema): Validator | null {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const made = createValidator(schema);
  validators.set(schema, made);
  return made;
}

function createValidator(schema: JsonSchema): Validator | null {
  const { $schema } = schema;
  const draft = typeof $schema === "string" && $schema.includes("draft-07") ? "7" : "2020-12";
  try {
    return new Validator(withoutCostly(schema, 0) as Schema, draft, true);
  } catch {
    return null;
  }
}

/** A copy that is cheap to check, and that counts the steps of its checks. */
function withoutCostly(schema: Json, depth: number): Json {
  if (depth > DEEPEST_SCHEMA) return true;
  if (Array.isArray(schema)) return schema.map((item: Json) => withoutCostly(item, depth + 1));
  if (!isJsonObject(schema)) return schema;
  const hasPatterns = Object.hasOwn(schema, "patternProperties");
  const kept = Object.entries(schema)
    .filter(([key]) => !COSTLY_KEYWORDS.has(key) && !(hasPatterns && NEED_PATTERNS.has(key)))
    .map(([key, value]) => [key, copyKeyword(key, value, depth + 1)]);
  return Object.defineProperty(Object.fromEntries(kept), STEP_KEYWORD, { get: countStep });
}

function copyKeyword(key: string, value: Json, depth: number): Json {
  if (VALUE_KEYWORDS.has(key)) return value;
  if (!MAP_KEYWORDS.has(key) || !isJsonObject(value)) return withoutCostly(value, depth);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, withoutCostly(schema, depth + 1)]));
}

/** The validator reads this keyword, which our drafts do not have, once for every schema that it applies. */
const STEP_KEYWORD = "$recursiveAnchor";
let steps = 0;

/** `$ref`s can multiply: thirty short definitions that each name the next one twice make a billion checks. */
function countStep(): undefined {
  steps += 1;
  if (steps > MOST_STEPS) throw new RangeError("The schema takes too many steps");
}

/** The innermost error says what to change; the outer ones only say that something inside is wrong. */
function describe(errors: readonly { readonly instanceLocation: string; readonly error: string }[]): string {
  const last = errors.at(-1);
  if (!last) return "the value does not fit the schema";
  const where = last.instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".");
  const text = where === "" ? last.error : `${where}: ${last.error}`;
  return text.slice(0, MESSAGE_CHARS);
}
