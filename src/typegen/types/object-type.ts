/** Objects: properties with comments, index signatures, and bounds on both. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { hasMarks } from "./definitions.ts";
import { quote, toKey } from "../escape-text.ts";
import { toPropertyComment } from "./property-comment.ts";
import { resolveRef } from "./resolve-ref.ts";
import { enter, spend } from "./scope.ts";
import type { TypeScope } from "./scope.ts";
import { open, single, unite } from "./type-text.ts";
import type { TypeText } from "./type-text.ts";

/** A property with a longer name is only reachable through the index signature. */
const MAX_KEY_LENGTH = 200;
/** Names in `propertyNames`; with more, any name is allowed. */
const MAX_LISTED_NAMES = 50;

/** Every object has these properties, so optional ones of another type would refuse an empty object. */
const INHERITED: ReadonlySet<string> = new Set(
  "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf".split(" "),
);

/** Closed unless `additionalProperties` says otherwise: an unknown name is nearly always a mistake. */
export function toObjectType(schema: JsonObject, scope: TypeScope): TypeText {
  const properties = toProperties(schema);
  if (properties.size === 0) return toRecord(schema, scope);
  const inside = { ...enter(scope), options: { ...scope.options, indent: scope.options.indent + 1 } };
  const lines: string[] = [];
  for (const [name, property] of properties) {
    const line = toLine(name, property, inside);
    if (line !== undefined) lines.push(line);
  }
  const isOpen = lines.length < properties.size || hasFurther(schema);
  const pad = "  ".repeat(inside.options.indent);
  if (isOpen) lines.push(`${pad}[key: string]: ${scope.options.open};`);
  return single(`{\n${lines.join("\n")}\n${"  ".repeat(scope.options.indent)}}`);
}

interface Property {
  readonly schema: Json;
  readonly isRequired: boolean;
  /** Names that are required together with this one. */
  readonly needs: readonly string[];
}

/** A required name without a schema is a property too. */
function toProperties(schema: JsonObject): ReadonlyMap<string, Property> {
  const listed = Array.isArray(schema["required"]) ? schema["required"] : [];
  const required = new Set(listed.filter((name) => typeof name === "string"));
  const described = isJsonObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const needs = isJsonObject(schema["dependentRequired"]) ? schema["dependentRequired"] : schema["dependencies"];
  return new Map([
    ...described.map(
      ([name, own]) => [name, { schema: own, isRequired: required.has(name), needs: namesOf(needs, name) }] as const,
    ),
    ...[...required].filter((name) => !isDescribed(schema, name)).map((name) => [name, REQUIRED_ONLY] as const),
  ]);
}

/** In draft-07 this is `dependencies`, which may also contain schemas. */
function namesOf(needs: Json | undefined, name: string): readonly string[] {
  const own = isJsonObject(needs) && Object.hasOwn(needs, name) ? needs[name] : undefined;
  return Array.isArray(own) ? own.filter((other) => typeof other === "string").slice(0, MAX_NEEDS) : [];
}

const MAX_NEEDS = 10;
const REQUIRED_ONLY: Property = { schema: true, isRequired: true, needs: [] };

function isDescribed(schema: JsonObject, name: string): boolean {
  return isJsonObject(schema["properties"]) && Object.hasOwn(schema["properties"], name);
}

/** Returns `undefined` if the property does not fit. */
function toLine(name: string, { schema, isRequired, needs }: Property, scope: TypeScope): string | undefined {
  if (name.length > MAX_KEY_LENGTH || scope.budget.nodes < 1) return undefined;
  const pad = "  ".repeat(scope.options.indent);
  const comment = toPropertyComment(schema, scope, needs);
  const start = `${comment === "" ? "" : `${pad}/** ${comment} */\n`}${pad}${toKey(name)}${isRequired ? "" : "?"}: `;
  if (!spend(scope, start.length)) return undefined;
  const isShadowed = !isRequired && INHERITED.has(name);
  return `${start}${isShadowed ? scope.options.open : scope.toType(schema, scope).text};`;
}

/** TypeScript cannot express patterns, so `patternProperties` count as additional properties. */
function hasFurther(schema: JsonObject): boolean {
  const { additionalProperties, patternProperties } = schema;
  const isAllowed = additionalProperties !== undefined && additionalProperties !== false;
  return isAllowed || (isJsonObject(patternProperties) && Object.keys(patternProperties).length > 0);
}

function toRecord(schema: JsonObject, outside: TypeScope): TypeText {
  const scope = enter(outside);
  const { additionalProperties, patternProperties } = schema;
  const patterns = isJsonObject(patternProperties) ? Object.values(patternProperties) : [];
  const further = additionalProperties === undefined && patterns.length > 0 ? [] : [additionalProperties ?? true];
  const types = [...patterns, ...further].map((part) => scope.toType(part, scope));
  const { text } = unite(types, open(scope.options.open));
  const names = toListedNames(schema["propertyNames"], scope);
  if (names.length > 0) return single(`{ [key in ${names.join(" | ")}]?: ${text} }`);
  // `Record` is resolved eagerly, so it cannot contain a recursive type.
  return single(hasMarks(text) ? `{ [key: string]: ${text} }` : `Record<string, ${text}>`);
}

/** Returns the literals that `propertyNames` allows, if it lists them. */
function toListedNames(schema: Json | undefined, scope: TypeScope): readonly string[] {
  const ref = isJsonObject(schema) ? schema["$ref"] : undefined;
  const target = typeof ref === "string" ? resolveRef(scope.root, ref) : schema;
  const listed = isJsonObject(target) ? target["enum"] : undefined;
  if (!Array.isArray(listed) || listed.length > MAX_LISTED_NAMES) return [];
  const names = listed.filter((name) => typeof name === "string" && name.length <= MAX_KEY_LENGTH);
  const texts = names.length === listed.length ? names.map((name) => quote(name)) : [];
  return spend(scope, texts.join().length) ? texts : [];
}
