/**
 * Makes a value that fits a schema, for calls that a dry run skips. A server wrote the schema, so the work is bounded,
 * and the value is checked against the schema before a program sees it. Patterns are not followed: results are not
 * checked by them either.
 */

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../domain/index.ts";
import { FORMATS } from "../text/index.ts";
import { runAtOnce } from "../timing/index.ts";
import { refOf, resolveRef } from "../typegen/index.ts";

import { checkSchema } from "./check-schema.ts";
import { modernize } from "./validate-schema.ts";

/**
 * Optional properties and items are filled in down to `richDepth`; a plain attempt ignores defaults and examples and takes
 * other words, because the usual ones did not fit.
 */
const ATTEMPTS = [
  { richDepth: 3, isPlain: false },
  { richDepth: 0, isPlain: false },
  { richDepth: 0, isPlain: true },
] as const;
type Attempt = (typeof ATTEMPTS)[number];
/** Of one attempt. */
const MOST_STEPS = 2_000;
const MOST_DEPTH = 32;
const MOST_CHARS = 10_000;
const MOST_ITEMS = 1_000;
const MOST_OPTIONAL = 100;

/** Where a value is made; `salt` numbers items of one array, which may have to differ. */
interface SamplePlace {
  readonly depth: number;
  readonly salt: number;
}

/** Makes a value that fits all of the schemas. */
type PickValue = (schemas: readonly Json[], place: SamplePlace) => Json | undefined;

/** Returns the same value for the same schema; `undefined` when none was found. */
export function createSample(schema: JsonSchema): Json | undefined {
  for (const attempt of ATTEMPTS) {
    const value = trySample(schema, attempt);
    if (value !== undefined && runAtOnce(checkSchema(schema, value, "result")).length === 0) return value;
  }
  return undefined;
}

function trySample(root: JsonSchema, attempt: Attempt): Json | undefined {
  let left = MOST_STEPS;
  const pick: PickValue = (schemas, place) => {
    const merged = place.depth > MOST_DEPTH || left < 0 ? undefined : merge(schemas, root);
    if (!merged) return undefined;
    left -= merged.steps;
    const [branches, ...others] = merged.forks;
    if (!branches) return valueOf(merged.plain, { ...attempt, ...place, pick });
    const rest = others.map((anyOf) => ({ anyOf }));
    for (const branch of inOrder(branches, place.depth < attempt.richDepth)) {
      const value = pick([merged.plain, branch, ...rest], place);
      if (value !== undefined) return value;
    }
    return undefined;
  };
  return pick([root], { depth: 0, salt: 0 });
}

/** `null` comes last where the value should be rich: a program that uses it should find something. */
function inOrder(branches: readonly Json[], isRich: boolean): readonly Json[] {
  const isNull = (branch: Json): boolean => isJsonObject(branch) && branch["type"] === "null";
  return branches.toSorted((a, b) => (isRich ? 1 : -1) * (Number(isNull(a)) - Number(isNull(b))));
}

interface Merged {
  readonly plain: JsonObject;
  /** Of each, one branch must hold. */
  readonly forks: readonly (readonly Json[])[];
  readonly steps: number;
}

/** Joins schemas that must all hold, following references; `undefined` when no value can fit. */
function merge(schemas: readonly Json[], root: JsonSchema): Merged | undefined {
  const queue = [...schemas];
  const forks: (readonly Json[])[] = [];
  let plain: JsonObject = {};
  for (const part of queue) {
    if (part === false || queue.length > MOST_STEPS) return undefined;
    if (!isJsonObject(part)) continue;
    const { allOf, anyOf, oneOf, if: condition, then = true, else: otherwise = true, not: _, ...own } = modernize(part);
    const ref = refOf(own);
    if (ref !== undefined) queue.push(resolveRef(root, ref) ?? true);
    queue.push(...listOf(allOf));
    forks.push(...[listOf(anyOf), listOf(oneOf)].filter(({ length }) => length > 0));
    if (condition !== undefined) forks.push([{ allOf: [condition, then] }, otherwise]);
    plain = join(plain, own);
  }
  return { plain, forks, steps: queue.length };
}

/** What cannot be joined stays as the first schema has it: the check of the whole value decides. */
function join(one: JsonObject, { const: only, ...other }: JsonObject): JsonObject {
  const joined: Record<string, Json> = { ...one };
  for (const [name, value] of Object.entries(only === undefined ? other : { ...other, enum: [only] })) {
    joined[name] = joined[name] === undefined ? value : joinKeyword(name, joined[name], value);
  }
  return joined;
}

function joinKeyword(name: string, one: Json, other: Json): Json {
  if (typeof one === "number" && typeof other === "number") {
    return /^(?:exclusiveM|m)in/.test(name) ? Math.max(one, other) : Math.min(one, other);
  }
  if (name === "required") return [one, other].flat();
  if (name === "type") return [one].flat().filter((type) => [other].flat().includes(type));
  if (name === "properties" && isJsonObject(one) && isJsonObject(other)) {
    const names = Object.keys({ ...one, ...other });
    return Object.fromEntries(names.map((key) => [key, { allOf: [ownOf(one, key), ownOf(other, key)] }]));
  }
  return ["items", "additionalProperties", "contains"].includes(name) ? { allOf: [one, other] } : one;
}

type ValueOptions = Attempt & SamplePlace & { readonly pick: PickValue };

function valueOf(plain: JsonObject, options: ValueOptions): Json | undefined {
  const { salt, isPlain } = options;
  const { enum: listed, type = [...MAKERS.keys()], default: usual, examples } = plain;
  if (Array.isArray(listed)) return listed[(salt + Number(isPlain)) % listed.length];
  const types = [type].flat().toSorted((a, b) => Number(a === "null") - Number(b === "null"));
  const known = [usual, ...listOf(examples)].find((value) => types.some((one) => isOfType(value, one)));
  if (known !== undefined && salt === 0 && !isPlain) return known;
  for (const one of types) {
    const value = MAKERS.get(one)?.(plain, options);
    if (value !== undefined) return value;
  }
  return undefined;
}

function isOfType(value: Json | undefined, type: Json): boolean {
  if (value === null || Array.isArray(value)) return type === (value === null ? "null" : "array");
  return typeof value === type || (type === "integer" && Number.isInteger(value));
}

/** In the order in which a schema without a type tries them. */
const MAKERS: ReadonlyMap<Json, (plain: JsonObject, options: ValueOptions) => Json | undefined> = new Map([
  ["object", objectOf],
  ["string", stringOf],
  ["array", arrayOf],
  ["number", numberOf],
  ["integer", numberOf],
  ["boolean", (_: JsonObject, { salt }: ValueOptions) => salt % 2 === 0],
  ["null", () => null],
]);

/** With everything it declares down to the rich depth, else with what it requires. */
function objectOf(plain: JsonObject, { depth, salt, richDepth, pick }: ValueOptions): Json | undefined {
  const { properties = {}, additionalProperties = true, dependentRequired = {} } = plain;
  const required = new Set(namesOf(plain["required"]));
  const most = depth < richDepth ? limitOf(plain, "maxProperties", MOST_OPTIONAL) : 0;
  const least = limitOf(plain, "minProperties", 0);
  const declared = isJsonObject(properties) ? Object.keys(properties) : [];
  const free = Array.from({ length: Math.min(least, MOST_ITEMS) }, (_, index) => `key${index + 1}`);
  const names = new Set([...required, ...declared, ...free]);
  const fields = new Map<string, Json>();
  for (const name of names) {
    const isWanted = required.has(name) || fields.size < (declared.includes(name) ? Math.max(most, least) : least);
    if (!isWanted || fields.has(name)) continue;
    const value = pick([ownOf(properties, name, additionalProperties)], { depth: depth + 1, salt });
    if (value === undefined && required.has(name)) return undefined;
    if (value === undefined) continue;
    fields.set(name, value);
    for (const dependent of namesOf(ownOf(dependentRequired, name))) {
      required.add(dependent);
      names.delete(dependent);
      names.add(dependent); // at the end, so that it is visited
    }
  }
  return fields.size < least ? undefined : Object.fromEntries(fields);
}

/** With an item down to the rich depth, else as short as it may be. */
function arrayOf(plain: JsonObject, { depth, salt, richDepth, pick }: ValueOptions): Json | undefined {
  const { items = true, contains } = plain;
  const prefix = Array.isArray(items) ? items : listOf(plain["prefixItems"]);
  const rest = Array.isArray(items) ? true : items;
  const least = Math.max(limitOf(plain, "minItems", 0), contains === undefined ? 0 : 1);
  const count = depth < richDepth ? Math.max(least, prefix.length, 1) : least;
  const values: Json[] = [];
  for (let index = 0; index < Math.min(count, MOST_ITEMS, limitOf(plain, "maxItems", Infinity)); index += 1) {
    const schemas = [prefix[index] ?? rest, (index === 0 ? contains : undefined) ?? true];
    const value = pick(schemas, { depth: depth + 1, salt: salt + index });
    if (value === undefined) break;
    values.push(value);
  }
  return values.length < least ? undefined : values;
}

function stringOf(plain: JsonObject, { salt, isPlain }: ValueOptions): string | undefined {
  const [least, most] = [limitOf(plain, "minLength", 0), limitOf(plain, "maxLength", MOST_CHARS)];
  if (least > most || least > MOST_CHARS) return undefined;
  const formatted = FORMATS.get(plain["format"])?.example;
  if (formatted !== undefined && formatted.length >= least && formatted.length <= most) return formatted;
  const word = isPlain ? `other${salt}` : salt === 0 ? "text" : `text${salt}`;
  return word.padEnd(least, "x").slice(0, most);
}

const MOST_MULTIPLES = 100;

/** Whole numbers before others, small ones before those at the bounds. */
function numberOf(plain: JsonObject, { salt }: ValueOptions): number | undefined {
  const { exclusiveMinimum, exclusiveMaximum } = plain;
  const low = Math.max(limitOf(plain, "minimum", -Infinity), limitOf(plain, "exclusiveMinimum", -Infinity));
  const high = Math.min(limitOf(plain, "maximum", Infinity), limitOf(plain, "exclusiveMaximum", Infinity));
  const step = limitOf(plain, "multipleOf", 0);
  const unit = step > 0 ? step : 1;
  const starts = [1, Math.ceil(low / unit), Math.floor(high / unit) - MOST_MULTIPLES].filter(Number.isFinite);
  const multiples = starts.flatMap((first) =>
    Array.from({ length: MOST_MULTIPLES + 1 }, (_, at) => (first + at) * unit),
  );
  const fitting = [...multiples, ...(step > 0 ? [] : [(low + high) / 2])].filter(
    (value) => value >= low && value <= high && value !== exclusiveMinimum && value !== exclusiveMaximum,
  );
  const whole = fitting.filter(Number.isInteger);
  const found = whole.length > 0 ? whole[salt % whole.length] : fitting[salt % fitting.length];
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

/** By default `true`, which every value fits. */
function ownOf(value: Json, key: string, otherwise: Json = true): Json {
  return isJsonObject(value) && Object.hasOwn(value, key) ? (value[key] ?? true) : otherwise;
}
