/**
 * Makes a value that fits a schema, for calls that a dry run skips. A server wrote the schema, so the work is bounded,
 * and the value is checked against the schema before a program sees it. Patterns are not followed: the bridge does not
 * check them either.
 */

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../domain/index.ts";
import { refOf, resolveRef } from "../typegen/index.ts";

import { checkSchema, modernize } from "./check-schema.ts";

/**
 * One try. Optional properties and items are filled in down to `richDepth`; a plain try ignores defaults and examples
 * and takes other words, because the usual ones did not fit.
 */
interface Attempt {
  readonly richDepth: number;
  readonly isPlain?: boolean;
}
const ATTEMPTS: readonly Attempt[] = [
  { richDepth: 3 },
  { richDepth: 1 },
  { richDepth: 0 },
  { richDepth: 0, isPlain: true },
];
/** Of one attempt. */
const MOST_STEPS = 2_000;
const MOST_DEPTH = 32;
const MOST_CHARS = 10_000;
const MOST_ITEMS = 1_000;
const MOST_OPTIONAL = 100;
const MOST_MULTIPLES = 100;

/** Where a value is made; `salt` numbers items of one array, which may have to differ. */
interface SamplePlace {
  readonly depth: number;
  readonly salt: number;
}

type PickValue = (parts: readonly Json[], place: SamplePlace) => Json | undefined;

/** A program may repeat a call; tools live as long as their snapshot, and so do their samples. */
const samples = new WeakMap<JsonSchema, { readonly value: Json | undefined }>();

/** Returns the same value for the same schema; `undefined` when none was found. */
export function createSample(schema: JsonSchema): Json | undefined {
  const known = samples.get(schema) ?? { value: findSample(schema) };
  samples.set(schema, known);
  return known.value;
}

function findSample(schema: JsonSchema): Json | undefined {
  for (const attempt of ATTEMPTS) {
    const value = trySample(schema, attempt);
    if (value !== undefined && checkSchema(schema, value).length === 0) return value;
  }
  return undefined;
}

class TooManySteps extends Error {}

function trySample(root: JsonSchema, attempt: Attempt): Json | undefined {
  let left = MOST_STEPS;
  const step = (): void => {
    left -= 1;
    if (left < 0) throw new TooManySteps();
  };
  const pick: PickValue = (parts, place) => {
    const merged = place.depth > MOST_DEPTH ? undefined : merge(parts, root, step);
    if (!merged) return undefined;
    const { plain, forks } = merged;
    const [branches, ...others] = forks;
    if (!branches) return valueOf(plain, { ...attempt, ...place, pick });
    const rest = others.map((anyOf) => ({ anyOf }));
    for (const branch of inOrder(branches, place.depth >= attempt.richDepth)) {
      const value = pick([plain, branch, ...rest], place);
      if (value !== undefined) return value;
    }
    return undefined;
  };
  try {
    return pick([root], { depth: 0, salt: 0 });
  } catch (thrown) {
    if (thrown instanceof TooManySteps) return undefined;
    throw thrown;
  }
}

const REFERENCE = /"\$(?:dynamic|recursive)?[Rr]ef":/;

/** Where the value should stay small, branches without a reference come first; elsewhere `null` comes last. */
function inOrder(branches: readonly Json[], isLean: boolean): readonly Json[] {
  const isLast = (branch: Json): boolean =>
    isLean ? REFERENCE.test(JSON.stringify(branch)) : isJsonObject(branch) && branch["type"] === "null";
  return branches.toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)));
}

interface Merged {
  readonly plain: JsonObject;
  /** Of each, one branch must hold. */
  readonly forks: readonly (readonly Json[])[];
}

/** Joins schemas that must all hold, following references; `undefined` when no value can fit. */
function merge(parts: readonly Json[], root: JsonSchema, step: () => void): Merged | undefined {
  const queue = [...parts];
  const forks: (readonly Json[])[] = [];
  let plain: JsonObject | undefined = {};
  for (const part of queue) {
    step();
    if (part === false) return undefined;
    if (!isJsonObject(part)) continue;
    const { allOf, anyOf, oneOf, if: condition, then = true, else: otherwise = true, not: _, ...own } = modernize(part);
    const ref = refOf(own);
    if (ref !== undefined) queue.push(resolveRef(root, ref) ?? true);
    queue.push(...listOf(allOf));
    for (const branches of [listOf(anyOf), listOf(oneOf)]) if (branches.length > 0) forks.push(branches);
    if (condition !== undefined) forks.push([{ allOf: [condition, then] }, otherwise]);
    plain = join(plain, own);
    if (!plain) return undefined;
  }
  return { plain, forks };
}

/** What cannot be joined stays as the first schema has it: the check of the whole value decides. */
function join(one: JsonObject, other: JsonObject): JsonObject | undefined {
  const joined: Record<string, Json> = { ...one };
  for (const [keyword, value] of Object.entries(other)) {
    const name = keyword === "const" ? "enum" : keyword;
    const added = keyword === "const" ? [value] : value;
    const known = joined[name];
    const both = known === undefined ? added : joinKeyword(name, known, added);
    if (both === undefined) return undefined;
    joined[name] = both;
  }
  return joined;
}

function joinKeyword(name: string, one: Json, other: Json): Json | undefined {
  if (typeof one === "number" && typeof other === "number") {
    return /^(?:exclusiveM|m)in/.test(name) ? Math.max(one, other) : Math.min(one, other);
  }
  if (name === "required") return [...listOf(one), ...listOf(other)];
  if (name === "type") {
    const shared = [one].flat().filter((type) => [other].flat().includes(type));
    return shared.length === 0 ? undefined : shared;
  }
  if (name === "properties" && isJsonObject(one) && isJsonObject(other)) {
    const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    return Object.fromEntries(names.map((key) => [key, { allOf: [ownOf(one, key), ownOf(other, key)] }]));
  }
  return ["items", "additionalProperties", "contains"].includes(name) ? { allOf: [one, other] } : one;
}

interface ValueOptions extends Attempt, SamplePlace {
  readonly pick: PickValue;
}

function valueOf(plain: JsonObject, options: ValueOptions): Json | undefined {
  const { salt, isPlain = false } = options;
  const listed = plain["enum"];
  if (Array.isArray(listed)) return listed[(salt + Number(isPlain)) % listed.length];
  const types = typesOf(plain);
  const known = [plain["default"], ...listOf(plain["examples"])].find(
    (value) => value !== undefined && types.some((type) => isOfType(value, type)),
  );
  if (known !== undefined && salt === 0 && !isPlain) return known;
  for (const type of types) {
    const value = ofType(type, plain, options);
    if (value !== undefined) return value;
  }
  return undefined;
}

function ofType(type: Json, plain: JsonObject, options: ValueOptions): Json | undefined {
  if (type === "object") return objectOf(plain, options);
  if (type === "array") return arrayOf(plain, options);
  if (type === "string") return stringOf(plain, options);
  if (type === "boolean") return options.salt % 2 === 0;
  if (type === "null") return null;
  return type === "integer" || type === "number" ? numberOf(plain, type === "integer", options.salt) : undefined;
}

const ALL_TYPES = ["object", "string", "array", "number", "boolean", "null"];
/** A schema without a type usually means the one that its keywords are about. */
const TYPE_HINTS: Readonly<Record<string, RegExp>> = {
  object: /ropert|^required$|^dependent/,
  array: /tems$|^contains$/,
  string: /Length$|^pattern$|^format$/,
  number: /imum$|^multipleOf$/i,
};

/** `null` last: a program that uses the value should find something. */
function typesOf(plain: JsonObject): readonly Json[] {
  const { type } = plain;
  if (type !== undefined) return [type].flat().toSorted((a, b) => Number(a === "null") - Number(b === "null"));
  const hinted = ALL_TYPES.filter((name) => Object.keys(plain).some((key) => TYPE_HINTS[name]?.test(key)));
  return [...hinted, ...ALL_TYPES];
}

function isOfType(value: Json, type: Json): boolean {
  if (value === null) return type === "null";
  if (Array.isArray(value)) return type === "array";
  return typeof value === type || (type === "integer" && Number.isInteger(value));
}

/** With everything it declares down to the rich depth, else with what it requires. */
function objectOf(plain: JsonObject, { depth, salt, richDepth, pick }: ValueOptions): Json | undefined {
  const { properties = {}, patternProperties = {}, additionalProperties = true, dependentRequired = {} } = plain;
  const others = isJsonObject(patternProperties) ? Object.values(patternProperties)[0] : undefined;
  const required = new Set(namesOf(plain["required"]));
  const most = limitOf(plain, "maxProperties", Infinity);
  const least = limitOf(plain, "minProperties", 0);
  const declared = isJsonObject(properties) ? Object.keys(properties) : [];
  const free = Array.from({ length: Math.min(least, MOST_ITEMS) }, (_, index) => `key${index + 1}`);
  const rich = depth < richDepth ? declared.slice(0, MOST_OPTIONAL) : [];
  const fields = new Map<string, Json>();
  for (const name of new Set([...required, ...rich, ...declared, ...free])) {
    const isWanted = required.has(name) || (rich.includes(name) && fields.size < most) || fields.size < least;
    if (!isWanted) continue;
    const schema = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    const value = pick([schema ?? others ?? additionalProperties], { depth: depth + 1, salt });
    if (value === undefined && required.has(name)) return undefined;
    if (value === undefined) continue;
    fields.set(name, value);
    for (const dependent of namesOf(ownOf(dependentRequired, name))) {
      if (!fields.has(dependent))
        fields.set(dependent, pick([ownOf(properties, dependent)], { depth: depth + 1, salt }) ?? null);
    }
  }
  return fields.size < least ? undefined : Object.fromEntries(fields);
}

/** With an item down to the rich depth, else as short as it may be. */
function arrayOf(plain: JsonObject, { depth, salt, richDepth, pick }: ValueOptions): Json | undefined {
  const { items = true, additionalItems = true, contains } = plain;
  const prefix = Array.isArray(items) ? items : listOf(plain["prefixItems"]);
  const rest = Array.isArray(items) ? additionalItems : items;
  const contained = contains === undefined ? 0 : limitOf(plain, "minContains", 1);
  const least = Math.max(limitOf(plain, "minItems", 0), contained);
  const count = depth < richDepth ? Math.max(least, prefix.length, 1) : least;
  const values: Json[] = [];
  for (let index = 0; index < Math.min(count, MOST_ITEMS, limitOf(plain, "maxItems", Infinity)); index += 1) {
    const parts = [prefix[index] ?? rest, index < contained ? (contains ?? true) : true];
    const value = pick(parts, { depth: depth + 1, salt: salt + index });
    if (value === undefined) break;
    values.push(value);
  }
  return values.length < least ? undefined : values;
}

/** From the ranges that are reserved for examples (RFC 2606, RFC 5737, RFC 3849). */
const FORMATS: ReadonlyMap<Json | undefined, string> = new Map([
  ["date-time", "2000-01-01T00:00:00Z"],
  ["date", "2000-01-01"],
  ["time", "00:00:00Z"],
  ["duration", "P1D"],
  ["email", "someone@example.com"],
  ["hostname", "example.com"],
  ["ipv4", "192.0.2.1"],
  ["ipv6", "2001:db8::1"],
  ["uri", "https://example.com/"],
  ["url", "https://example.com/"],
  ["uuid", "00000000-0000-4000-8000-000000000000"],
]);

function stringOf(plain: JsonObject, { salt, isPlain = false }: ValueOptions): string | undefined {
  const [least, most] = [limitOf(plain, "minLength", 0), limitOf(plain, "maxLength", MOST_CHARS)];
  if (least > most || least > MOST_CHARS) return undefined;
  const formatted = FORMATS.get(plain["format"]);
  if (formatted !== undefined && formatted.length >= least && formatted.length <= most) return formatted;
  const word = isPlain ? `other${salt}` : salt === 0 ? "text" : `text${salt}`;
  return word.padEnd(least, "x").slice(0, most);
}

/** The first number that fits: small ones, then those near the bounds, then multiples. */
function numberOf(plain: JsonObject, isInteger: boolean, salt: number): number | undefined {
  const low = Math.max(limitOf(plain, "minimum", -Infinity), limitOf(plain, "exclusiveMinimum", -Infinity));
  const high = Math.min(limitOf(plain, "maximum", Infinity), limitOf(plain, "exclusiveMaximum", Infinity));
  const step = limitOf(plain, "multipleOf", 0);
  const near = [1 + salt, 0, low + salt, low + 1 + salt, high - salt, high - 1 - salt, (low + high) / 2];
  const from = Number.isFinite(low) ? Math.ceil(low / step) : Math.floor(high / step) - MOST_MULTIPLES;
  const first = Number.isFinite(from) ? from : 0;
  const multiples = step > 0 ? Array.from({ length: MOST_MULTIPLES + 1 }, (_, at) => (first + salt + at) * step) : [];
  const whole = isInteger ? near.flatMap((value) => [Math.ceil(value), Math.floor(value)]) : near;
  const found = [...whole, ...multiples].find(
    (value) =>
      Number.isFinite(value) &&
      (!isInteger || Number.isInteger(value)) &&
      value >= low &&
      value <= high &&
      value !== plain["exclusiveMinimum"] &&
      value !== plain["exclusiveMaximum"] &&
      (step <= 0 || Number.isInteger(value / step)),
  );
  return found === undefined ? undefined : found + 0; // no negative zero
}

function limitOf(schema: JsonObject, keyword: string, otherwise: number): number {
  const value = schema[keyword];
  return typeof value === "number" ? value : otherwise;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function namesOf(value: Json | undefined): readonly string[] {
  return listOf(value).filter((name) => typeof name === "string");
}

/** `true`, which every value fits, where the schema has no such field. */
function ownOf(value: Json, key: string): Json {
  return isJsonObject(value) && Object.hasOwn(value, key) ? (value[key] ?? true) : true;
}
