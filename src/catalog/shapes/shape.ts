/** The shape of results in a subset of JSON Schema, never values. Pure and bounded: servers choose the results. */

import { canonicalJson, defined, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

const KINDS = ["array", "boolean", "null", "number", "object", "string"] as const;
type Kind = (typeof KINDS)[number];

/** Without `type` nothing is known. An object has `properties`; a map has `additionalProperties`. */
export interface Shape {
  readonly type?: readonly Kind[];
  readonly items?: Shape;
  readonly properties?: { readonly [name: string]: Shape };
  readonly required?: readonly string[];
  readonly additionalProperties?: Shape;
}

/** Nothing is known, or nothing can be: it stays so. */
export const UNKNOWN: Shape = {};
/** Values that are looked at, and keys that are listed in vain. */
const MAX_NODES = 3000;
const MAX_ITEMS = 50;
const MAX_DEPTH = 8;
/** An object with more fields is a map. */
const MAX_FIELDS = 64;
/** This many fields of the same shape are entries of a map, unless every result has them all. */
const MAP_FIELDS = 8;
export const MAX_SHAPE_CHARACTERS = 8192;

/** Returns the shape of a value. Of a large value only a part is used; fields beyond it are optional. */
export function shapeOf(value: Json): Shape {
  return shrink(look(value, 0, { nodes: MAX_NODES }));
}

/** Merges two shapes: a field that one lacks is optional, and types are united. */
export function mergeShapes(one: Shape, other: Shape): Shape {
  return shrink(merge(one, other));
}

/**
 * Whether results of different arguments have so little in common that one type for both says nothing: another kind of
 * value, or objects that share at most half of the fields of the smaller one.
 */
export function isOtherShape(one: Shape, other: Shape): boolean {
  const [kinds, others] = [kindsOf(one), kindsOf(other)];
  if (kinds.length > 0 && others.length > 0 && !kinds.some((kind) => others.includes(kind))) return true;
  if (one.items && other.items && isOtherShape(one.items, other.items)) return true;
  if (one.additionalProperties || other.additionalProperties) return false;
  const [names, otherNames] = [Object.keys(one.properties ?? {}), Object.keys(other.properties ?? {})];
  const shared = names.filter((name) => ownField(other, name));
  const least = Math.min(names.length, otherNames.length);
  if (least > 0 && 2 * shared.length <= least) return true;
  return shared.some((name) => isOtherStructure(ownField(one, name) ?? UNKNOWN, ownField(other, name) ?? UNKNOWN));
}

/** A field may be a string here and a number there: only the structure of objects in it counts. */
function isOtherStructure(one: Shape, other: Shape): boolean {
  const areObjects = [one, other].every(({ type }) => type?.includes("object") || type?.includes("array"));
  return areObjects && isOtherShape(one, other);
}

/** Anything may be null. */
function kindsOf({ type = [] }: Shape): readonly Kind[] {
  return type.filter((kind) => kind !== "null");
}

export function isSameShape(one: Shape, other: Shape): boolean {
  return toText(one) === toText(other);
}

/** Returns a stored shape, or `undefined` if it is invalid. */
export function parseShape(raw: unknown): Shape | undefined {
  try {
    return parseAt(raw, 0);
  } catch {
    return undefined;
  }
}

function parseAt(raw: unknown, depth: number): Shape {
  if (!isJsonObject(raw) || depth > MAX_DEPTH + 1) throw new TypeError("Not a shape");
  const { type, items, properties, required, additionalProperties } = raw;
  if (type !== undefined && !Array.isArray(type)) throw new TypeError("The type of a shape is not an array");
  if (properties !== undefined && !isJsonObject(properties)) throw new TypeError("Properties are not an object");
  const parsePart = (part: Json): Shape => parseAt(part, depth + 1);
  return defined({
    type: type && KINDS.filter((kind) => type.includes(kind)),
    items: items === undefined ? undefined : parsePart(items),
    additionalProperties: additionalProperties === undefined ? undefined : parsePart(additionalProperties),
    properties: properties && mapFields(properties, parsePart),
    required: Array.isArray(required) ? required.filter((name) => typeof name === "string") : undefined,
  });
}

function mapFields<From, To>(
  fields: Readonly<Record<string, From>>,
  change: (field: From) => To,
): Readonly<Record<string, To>> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field)]));
}

interface NodeBudget {
  nodes: number;
}

function look(value: Json, depth: number, budget: NodeBudget): Shape {
  budget.nodes -= 1;
  if (typeof value !== "object" || value === null) return { type: [kindOf(value)] };
  if (depth >= MAX_DEPTH) return UNKNOWN;
  return isJsonObject(value) ? lookAtFields(value, depth, budget) : lookAtItems(value, depth, budget);
}

function kindOf(value: Json): Kind {
  if (typeof value === "string") return "string";
  if (typeof value === "number") return "number";
  return typeof value === "boolean" ? "boolean" : "null";
}

function lookAtItems(items: readonly Json[], depth: number, budget: NodeBudget): Shape {
  let item: Shape | undefined;
  for (const value of items.slice(0, MAX_ITEMS)) {
    if (budget.nodes < 1) break;
    const seen = look(value, depth + 1, budget);
    item = item ? merge(item, seen) : seen;
  }
  return { type: ["array"], ...defined({ items: item }) };
}

function lookAtFields(value: JsonObject, depth: number, budget: NodeBudget): Shape {
  const keys = Object.keys(value);
  budget.nodes -= Math.max(0, keys.length - MAX_FIELDS);
  const fields: [string, Shape][] = [];
  for (const key of keys.slice(0, MAX_FIELDS)) {
    if (budget.nodes < 1) break;
    fields.push([key, look(value[key] ?? null, depth + 1, budget)]);
  }
  const names = fields.map(([name]) => name);
  const shape: Shape = { type: ["object"], properties: Object.fromEntries(fields), required: names.toSorted() };
  const isMap = keys.length > MAX_FIELDS || keys.some(looksLikeData) || isMapOfObjects(fields);
  return isMap ? toMap(shape) : shape;
}

/** True for many entries of the same structure, such as people by name. */
function isMapOfObjects(fields: readonly (readonly [string, Shape])[]): boolean {
  if (fields.length < MAP_FIELDS) return false;
  const isStructured = fields.every(([, { type }]) => type?.includes("object") === true);
  return isStructured && new Set(fields.map(([, shape]) => toText(shape))).size === 1;
}

function merge(one: Shape, other: Shape): Shape {
  if (!one.type || !other.type) return UNKNOWN;
  const kinds = [...one.type, ...other.type];
  const items = one.items && other.items ? merge(one.items, other.items) : (one.items ?? other.items);
  return { type: KINDS.filter((kind) => kinds.includes(kind)), ...defined({ items }), ...mergeFields(one, other) };
}

function mergeFields(one: Shape, other: Shape): Pick<Shape, "properties" | "required" | "additionalProperties"> {
  const isObject = [one, other].map(({ type }) => type?.includes("object") === true);
  if (!isObject[0] || !isObject[1]) return pickFields(isObject[0] ? one : other);
  if (one.additionalProperties || other.additionalProperties) return pickFields(joinMaps(one, other));
  const names = new Set([...Object.keys(one.properties ?? {}), ...Object.keys(other.properties ?? {})]);
  const properties = Object.fromEntries([...names].map((name) => [name, joinField(name, one, other)]));
  const required = (one.required ?? []).filter((name) => other.required?.includes(name) === true);
  const merged: Shape = { type: ["object"], properties, required };
  const isMap = names.size > MAX_FIELDS || (required.length === 0 && isUniform(properties));
  return pickFields(isMap ? toMap(merged) : merged);
}

/** True if all fields have one type. If results share no field either, the names are data. */
function isUniform(properties: Readonly<Record<string, Shape>>): boolean {
  const shapes = Object.values(properties);
  return shapes.length >= MAP_FIELDS && new Set(shapes.map(toText)).size === 1;
}

function joinField(name: string, one: Shape, other: Shape): Shape {
  const first = ownField(one, name);
  const second = ownField(other, name);
  return first && second ? merge(first, second) : (first ?? second ?? UNKNOWN);
}

function ownField({ properties }: Shape, name: string): Shape | undefined {
  return properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function joinMaps(one: Shape, other: Shape): Shape {
  const values = [toMap(one), toMap(other)].flatMap(({ additionalProperties }) => additionalProperties ?? []);
  return { type: ["object"], additionalProperties: values.length === 0 ? UNKNOWN : values.reduce(merge) };
}

/** Turns an object into a map without any of its names. */
function toMap(shape: Shape): Shape {
  if (shape.additionalProperties) return shape;
  const values = Object.values(shape.properties ?? {});
  const additionalProperties = values.length > 0 ? values.reduce(merge) : undefined;
  return { type: ["object"], ...defined({ additionalProperties }) };
}

function pickFields({ properties, required, additionalProperties }: Shape) {
  return defined({ properties, required, additionalProperties });
}

function shrink(shape: Shape): Shape {
  let kept = shape;
  for (let depth = MAX_DEPTH; toText(kept).length > MAX_SHAPE_CHARACTERS && depth >= 0; depth -= 1) {
    kept = cut(shape, depth);
  }
  return kept;
}

function cut(shape: Shape, depth: number): Shape {
  const { items, properties, additionalProperties } = shape;
  if (!items && !properties && !additionalProperties) return shape;
  if (depth < 1) return UNKNOWN;
  const cutPart = (part: Shape): Shape => cut(part, depth - 1);
  return defined({
    ...shape,
    items: items && cutPart(items),
    properties: properties && mapFields(properties, cutPart),
    additionalProperties: additionalProperties && cutPart(additionalProperties),
  });
}

function toText(shape: Shape): string {
  return canonicalJson(toSchema(shape));
}

export function toSchema({ type, items, properties, required, additionalProperties }: Shape): JsonObject {
  return defined({
    type,
    items: items && toSchema(items),
    properties: properties && mapFields(properties, toSchema),
    required: required?.toSorted(),
    additionalProperties: additionalProperties && toSchema(additionalProperties),
  });
}

const MAX_FIELD_NAME = 40;
const MAX_WORD = 24;
const FIELD_NAME = /^[@$_]{0,2}[\p{L}][\p{L}\p{N}]*([_\-.$ ]{1,2}[\p{L}][\p{L}\p{N}]*){0,6}[_]{0,2}$/u;
/** Letters followed by at most two digits, as in `line1`. */
const WORD = /^\p{L}+\d{0,2}$/u;
/** Capitals and digits without a separator, as in access keys. */
const CODE = /^(?=.*\d)[A-Z\d]{10,}$/;
/** Names of standards, whose digits are part of the name. */
const STANDARD = /^(sha|md|utf|iso|rfc|crc|int|uint|float|base|ipv|x|h|ed|rsa|aes)\d{1,5}$/i;

/** True unless the key looks like a field name: a shape is shown and kept without labels, so no key may be data. */
export function looksLikeData(key: string): boolean {
  if (key.length > MAX_FIELD_NAME || !FIELD_NAME.test(key) || CODE.test(key)) return true;
  const words = key.replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2").split(/[^\p{L}\p{N}]+/u);
  return words.some((word) => word !== "" && !STANDARD.test(word) && (word.length > MAX_WORD || !WORD.test(word)));
}
