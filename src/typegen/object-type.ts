/** Objects: properties with their comments, index signatures, and what to do when there are too many of them. */

import { depthOf, isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";
import { toCommentText, toKey } from "./escape-text.ts";
import { spend } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { open, single, unite } from "./type-text.ts";
import type { TypeText } from "./type-text.ts";

/** No program writes a longer name. Such a property is reachable through the index signature. */
const MAX_KEY_LENGTH = 200;
const MAX_DEFAULT_LENGTH = 80;
const MAX_DEFAULT_DEPTH = 4;

/** Every object has these already, so as optional properties of any other type they would refuse an empty one. */
const INHERITED: ReadonlySet<string> = new Set(
  "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf".split(" "),
);

/**
 * Without `additionalProperties` the type is closed although the schema is open: an unknown name is nearly always a
 * mistake of the program, and the checker should say so.
 */
export function toObjectType(schema: JsonObject, scope: Scope): TypeText {
  const properties = toProperties(schema);
  if (properties.size === 0) return toRecord(schema, scope);
  const inside = { ...scope, options: { ...scope.options, indent: scope.options.indent + 1 } };
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
}

/** A required name without a schema of its own is a property too. */
function toProperties(schema: JsonObject): ReadonlyMap<string, Property> {
  const listed = Array.isArray(schema["required"]) ? schema["required"] : [];
  const required = new Set(listed.filter((name) => typeof name === "string"));
  const described = isJsonObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  return new Map([
    ...described.map(([name, own]) => [name, { schema: own, isRequired: required.has(name) }] as const),
    ...[...required].filter((name) => !isDescribed(schema, name)).map((name) => [name, REQUIRED_ONLY] as const),
  ]);
}

const REQUIRED_ONLY: Property = { schema: true, isRequired: true };

function isDescribed(schema: JsonObject, name: string): boolean {
  return isJsonObject(schema["properties"]) && Object.hasOwn(schema["properties"], name);
}

/** `undefined` when the property does not fit. */
function toLine(name: string, { schema, isRequired }: Property, scope: Scope): string | undefined {
  if (name.length > MAX_KEY_LENGTH || scope.budget.nodes < 1) return undefined;
  const pad = "  ".repeat(scope.options.indent);
  const comment = toComment(schema, scope);
  const start = `${comment === "" ? "" : `${pad}/** ${comment} */\n`}${pad}${toKey(name)}${isRequired ? "" : "?"}: `;
  if (!spend(scope, start.length)) return undefined;
  const isShadowed = !isRequired && INHERITED.has(name);
  return `${start}${isShadowed ? scope.options.open : scope.toType(schema, scope).text};`;
}

function toComment(schema: Json, { options }: Scope): string {
  if (!isJsonObject(schema) || options.commentLength === 0) return "";
  const { description, title, deprecated } = schema;
  const text = typeof description === "string" ? description : title;
  return [
    typeof text === "string" ? toCommentText(text, options.commentLength) : "",
    deprecated === true ? "@deprecated" : "",
    toDefault(schema),
  ]
    .filter((part) => part !== "")
    .join(" ");
}

function toDefault(schema: JsonObject): string {
  const value = schema["default"];
  if (value === undefined || depthOf(value, MAX_DEFAULT_DEPTH) > MAX_DEFAULT_DEPTH) return "";
  return `@default ${toCommentText(JSON.stringify(value), MAX_DEFAULT_LENGTH)}`;
}

/** A pattern cannot be said in TypeScript, so patterned properties count as further ones. */
function hasFurther(schema: JsonObject): boolean {
  const { additionalProperties, patternProperties } = schema;
  const isAllowed = additionalProperties !== undefined && additionalProperties !== false;
  return isAllowed || (isJsonObject(patternProperties) && Object.keys(patternProperties).length > 0);
}

function toRecord(schema: JsonObject, scope: Scope): TypeText {
  const { additionalProperties, patternProperties } = schema;
  const patterns = isJsonObject(patternProperties) ? Object.values(patternProperties) : [];
  const further = additionalProperties === undefined && patterns.length > 0 ? [] : [additionalProperties ?? true];
  const types = [...patterns, ...further].map((part) => scope.toType(part, scope));
  return single(`Record<string, ${unite(types, open(scope.options.open)).text}>`);
}
